"""The contrast of samples and views."""

import pytest
import torch
import torch.nn.functional as F

from kfriendly.training.contrast import contrast


def _by_formula(H: torch.Tensor) -> torch.Tensor:
    h, v = H.chunk(2)
    near = 1.0 + (h.unsqueeze(1) - v.unsqueeze(0)).square().sum(-1)
    own = torch.arange(len(h))
    logits = -near.log()
    there = F.cross_entropy(logits, own, reduction="none")
    back = F.cross_entropy(logits.T, own, reduction="none")
    return 0.5 * (there + back)


def test_contrast_equals_cross_entropies_and_its_gradient_autograds() -> None:
    H = torch.randn(14, 3, generator=torch.Generator().manual_seed(0)).double()
    found = contrast(H)
    by_hand = H.clone().requires_grad_()
    expected = _by_formula(by_hand)
    expected.mean().backward()  # type: ignore[no-untyped-call]
    assert by_hand.grad is not None
    torch.testing.assert_close(found.values, expected.detach())
    torch.testing.assert_close(found.G, by_hand.grad)


def test_starts_are_contrasted_apart() -> None:
    H = torch.randn(2, 10, 4, generator=torch.Generator().manual_seed(1))
    both = contrast(H)
    for start in range(2):
        alone = contrast(H[start])
        torch.testing.assert_close(both.values[start], alone.values)
        torch.testing.assert_close(both.G[start], alone.G)


def test_a_sample_on_its_view_far_from_others_has_no_contrast_left() -> None:
    h = torch.tensor([[0.0, 0.0], [1e4, 0.0], [0.0, 1e4]])
    assert contrast(torch.cat([h, h])).values.max() < 1e-6


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_contrast_is_finite_for_points_that_coincide(far: float) -> None:
    H = torch.full((8, 2), far)
    found = contrast(H)
    assert found.values.isfinite().all() and found.G.isfinite().all()
    assert found.values[0] == pytest.approx(
        torch.tensor(4.0).log()
    )  # of four, by chance
