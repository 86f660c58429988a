"""All baselines: scikit-learn's rules, blobs, names."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfriendly import DCN
from kfriendly.baselines import (
    BASELINES,
    DEC,
    EMBEDDINGS,
    JNKM,
    SC,
    SSCOMP,
    XRAY,
    NMFKMeans,
    make_baseline,
    make_embedding,
)
from kfriendly.errors import DataScaleWarning, UnknownName
from kfriendly.metrics import ari

# scikit-learn's checks feed odd data on purpose.
pytestmark = pytest.mark.filterwarnings("ignore")

QUICK: dict[str, dict[str, Any]] = {
    "SAE+KM": {"pretrain_epochs": 20},
    "DEC": {"pretrain_epochs": 20},
    "DCN w/o reconstruction": {"pretrain_epochs": 20, "max_epochs": 5},
    "SSC-OMP": {"n_nonzero": 3},
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        SC(),
        SC(affinity="neighbors"),
        SSCOMP(),
        NMFKMeans(),
        DEC(hidden=(8,), pretrain_epochs=2, max_epochs=2),
        DCN(hidden=(8,), pretrain_epochs=2, max_epochs=0, n_init=2),
        DCN(hidden=(8,), pretrain_epochs=2, max_epochs=2, n_init=2, loss="none"),
    ]
)
def test_baseline_passes_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def _blobs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw three round clusters that lie in three directions, all positive."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(3), 60)
    n_columns = 100 if name == "SSC-OMP" else 6  # rows must not span all of the space
    return 10.0 * np.eye(n_columns)[y] + rng.rand(180, n_columns), y


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_finds_blobs(name: str) -> None:
    X, y = _blobs(name)
    model = make_baseline(name, 3, random_state=0, **QUICK.get(name, {}))
    assert ari(y, model.fit_predict(X)) == 1.0
    assert model.labels_.shape == (180,)


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_takes_sparse_rows(name: str) -> None:
    X, y = _blobs(name)
    model = make_baseline(name, 3, random_state=0, **QUICK.get(name, {}))
    assert ari(y, model.fit_predict(sp.csr_matrix(X))) == 1.0


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_needs_as_many_rows_as_clusters(name: str) -> None:
    with pytest.raises(ValueError, match="5") as caught:
        make_baseline(name, 5, random_state=0).fit(np.ones((3, 2)))
    assert "3" in str(caught.value)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embedding_gives_two_columns(name: str) -> None:
    X, _ = _blobs(name)
    assert make_embedding(name).fit_transform(X).shape == (180, 2)


def test_sae_km_has_the_weights_of_dcn() -> None:
    X, _ = make_blobs(200, centers=4, n_features=5, cluster_std=3.0, random_state=1)
    shared: dict[str, Any] = {"hidden": (16,), "pretrain_epochs": 5, "n_init": 1}
    sae_km = make_baseline("SAE+KM", 4, random_state=0, **shared).fit(X)
    dcn = DCN(4, max_epochs=2, views=None, random_state=0, **shared).fit(X)
    assert np.array_equal(sae_km.labels_, dcn.sae_km_labels_)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", [NMFKMeans, XRAY, JNKM])
def test_negative_columns_are_shifted_with_a_warning(method: Any) -> None:
    X, y = _blobs("NMF+KM")
    moved = X.copy()
    moved[:, 2] -= 3.0
    with pytest.warns(DataScaleWarning, match="1 of 6 columns.*shifted"):
        labels = method(3, random_state=0).fit_predict(moved)
    assert ari(y, labels) == 1.0


@pytest.mark.parametrize("method", [NMFKMeans, XRAY, JNKM])
def test_negative_values_of_a_sparse_matrix_are_refused(method: Any) -> None:
    with pytest.raises(ValueError, match=f"{method.__name__} needs values >= 0.*-2"):
        method(2).fit(sp.csr_array(np.array([[1.0, 0.0], [-2.0, 1.0], [0.0, 1.0]])))


@pytest.mark.parametrize("make", [make_baseline, make_embedding])
def test_unknown_names_are_refused_with_all_known_ones(
    make: Callable[[str, int], Any],
) -> None:
    with pytest.raises(UnknownName, match="'KMM'; there are"):
        make("KMM", 3)
