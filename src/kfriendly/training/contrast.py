"""The contrast of samples and their views: what neighbours add to Eq. (4)."""

from typing import NamedTuple

import torch
from torch import Tensor


class Contrast(NamedTuple):
    """The contrast of each sample, (..., n), and the gradient of their mean."""

    values: Tensor
    G: Tensor  # (..., 2 n, R)


def contrast(H: Tensor) -> Contrast:
    """Let each sample find its own view among those of the batch, and vice versa.

    `H` (..., 2 n, R) holds samples and views. The cross-entropy of
    p_ij ~ 1 / (1 + ||h_i - v_j||^2) with the sample's own view as the answer, the mean
    of both directions; heavy tails as in t-SNE let clusters part.
    """
    h, v = H.chunk(2, dim=-2)
    n = h.shape[-2]
    near = torch.cdist(h, v).square_().add_(1.0)  # (..., n, n)
    logits = near.log().neg_()
    own = logits.diagonal(dim1=-2, dim2=-1)
    P, Q = logits.softmax(-1), logits.softmax(-2)
    values = 0.5 * (logits.logsumexp(-1) + logits.logsumexp(-2)) - own
    # By the logits: (P + Q)/2, less one on the diagonal; by distances: over -near.
    T = P.add_(Q).mul_(0.5)
    T.diagonal(dim1=-2, dim2=-1).sub_(1.0)
    T = T.div_(near).mul_(-2.0 / n)  # twice the gradient of the squared distances
    G_h = T.sum(-1, keepdim=True) * h - T @ v
    G_v = T.sum(-2).unsqueeze(-1) * v - T.mT @ h
    return Contrast(values, torch.cat([G_h, G_v], dim=-2))
