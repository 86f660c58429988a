"""20Newsgroups."""

import numpy as np
import pytest
import scipy.sparse as sp
from marks import needs_data

from kfriendly.datasets import load
from kfriendly.datasets.newsgroups import normalised_cut_weights, read_newsgroups


@needs_data
def test_texts_come_in_order_with_their_groups() -> None:
    texts, y, groups = read_newsgroups()
    assert len(texts) == len(y) == 18_846 and len(groups) == 20
    assert np.bincount(y)[:3].tolist() == [799, 973, 985]
    assert (np.diff(y[:11_314]) >= 0).all() and y[11_314] == 0
    assert groups[0] == "alt.atheism" and "From:" in texts[0]


@needs_data
def test_normalised_cut_weights_keep_directions() -> None:
    plain, weighted = load("20newsgroups"), load("20newsgroups", weighting="ncw")
    rows = slice(0, 50)
    P, W = plain.X[rows].toarray(), weighted.X[rows].toarray()
    cosines = (P * W).sum(1) / np.linalg.norm(P, axis=1) / np.linalg.norm(W, axis=1)
    assert np.allclose(cosines, 1.0, atol=1e-5)
    assert np.linalg.norm(W, axis=1).std() > 0


def test_normalised_cut_weights_by_hand() -> None:
    X = sp.csr_array(np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 0.0]]))
    similarity = X.toarray() @ X.toarray().T
    expected = X.toarray() / np.sqrt(
        [[similarity[0].sum()], [similarity[1].sum()], [1]]
    )
    assert np.allclose(normalised_cut_weights(X).toarray(), expected)


def test_unknown_weighting_is_refused() -> None:
    with pytest.raises(ValueError, match=r"weighting='bm25'.*'ncw'"):
        load("20newsgroups", weighting="bm25")
