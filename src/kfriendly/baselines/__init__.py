"""Every method that the paper compares DCN with, as scikit-learn estimators.

`BASELINES` has them under the names of the paper's tables, `EMBEDDINGS` the methods of
its figures, which reduce dimensions and find no clusters.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, PCA
from sklearn.manifold import TSNE, LocallyLinearEmbedding, SpectralEmbedding

from kfriendly.baselines.dec import DEC
from kfriendly.baselines.jnkm import JNKM
from kfriendly.baselines.jule import JULE
from kfriendly.baselines.lccf import LCCF
from kfriendly.baselines.nmf_km import NMFKMeans
from kfriendly.baselines.spectral import SC
from kfriendly.baselines.ssc_omp import SSCOMP
from kfriendly.baselines.xray import XRAY
from kfriendly.errors import UnknownName
from kfriendly.estimator import DCN

# Any: scikit-learn's estimators have no types.
Maker = Callable[..., Any]

BASELINES: dict[str, Maker] = {
    "KM": partial(KMeans, n_init=10),
    "SC": SC,
    "SC (neighbors)": partial(SC, affinity="neighbors"),
    "SSC-OMP": SSCOMP,
    "LCCF": LCCF,
    "XRAY": XRAY,
    "NMF+KM": NMFKMeans,
    "SAE+KM": partial(DCN, max_epochs=0, views=None),
    "JNKM": JNKM,
    "DEC": DEC,
    "DCN w/o reconstruction": partial(DCN, loss="none", views=None),  # Eq. (3)
    "JULE": JULE,
}

EMBEDDINGS: dict[str, Maker] = {
    "NMF": partial(NMF, init="nndsvda", max_iter=1_000),
    "LLE": partial(LocallyLinearEmbedding, n_neighbors=10),
    "LapEig": SpectralEmbedding,
    "PCA": PCA,
    "t-SNE": TSNE,
}

__all__ = [
    "BASELINES",
    "DEC",
    "EMBEDDINGS",
    "JNKM",
    "JULE",
    "LCCF",
    "SC",
    "SSCOMP",
    "XRAY",
    "NMFKMeans",
    "make_baseline",
    "make_embedding",
]


def make_baseline(name: str, n_clusters: int, **params: Any) -> Any:
    """Make a baseline by the name it has in the paper's tables.

    Parameters
    ----------
    name : str
        A key of `BASELINES`.
    n_clusters : int
    **params
        Further parameters of the estimator, such as `random_state`.

    Examples
    --------
    >>> from kfriendly.baselines import make_baseline
    >>> from sklearn.datasets import load_digits
    >>> labels = make_baseline("XRAY", 10).fit_predict(load_digits().data)
    """
    return _find(name, BASELINES, "baseline")(n_clusters=n_clusters, **params)


def make_embedding(name: str, n_components: int = 2, **params: Any) -> Any:
    """Make a method that reduces dimensions, by the name it has in the figures."""
    return _find(name, EMBEDDINGS, "embedding")(n_components=n_components, **params)


def _find(name: str, makers: dict[str, Maker], kind: str) -> Maker:
    if name not in makers:
        raise UnknownName(
            f"There is no {kind} {name!r}; there are {', '.join(makers)}."
        )
    return makers[name]
