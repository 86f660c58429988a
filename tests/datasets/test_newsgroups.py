"""20Newsgroups."""

import numpy as np
import pytest
import scipy.sparse as sp
from marks import needs_data
from sklearn.preprocessing import normalize

from kfriendly.datasets import load
from kfriendly.datasets.newsgroups import normalised_cut_weights, read_newsgroups

Raw = tuple[list[str], np.ndarray, list[str]]


@pytest.fixture(scope="module")
def raw() -> Raw:
    return read_newsgroups()


@needs_data
def test_texts_come_in_order_with_their_groups(raw: Raw) -> None:
    texts, y, groups = raw
    assert len(texts) == len(y) == 18_846 and len(groups) == 20
    assert np.bincount(y)[:3].tolist() == [799, 973, 985]
    assert (np.diff(y[:11_314]) >= 0).all() and y[11_314] == 0
    assert groups[0] == "alt.atheism" and "From:" in texts[0]


@needs_data
def test_counts_are_the_same_documents_in_other_words(raw: Raw) -> None:
    _, y, groups = raw
    data = load("20newsgroups", source="counts", n_words=500)
    assert data.X.shape == (18_846, 500) and data.class_names == groups
    assert np.bincount(data.y).tolist() == np.bincount(y).tolist()


@needs_data
def test_normalised_cut_weights_can_be_asked_for() -> None:
    X = load("20newsgroups", source="counts", n_words=500, weighting="ncw").X
    unit = normalize(X)
    totals = unit @ np.asarray(unit.sum(axis=0)).ravel()
    lengths = np.sqrt(X.power(2).sum(axis=1))
    assert np.allclose(lengths * np.sqrt(totals), lengths > 0, atol=1e-4)


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
