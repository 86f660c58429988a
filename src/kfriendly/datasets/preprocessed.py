"""Pre-processed MNIST: scattering features, then SSC-OMP's spectral embedding.

The paper's Table 4 clusters ten columns made so; its authors released no script.
"""

import numpy as np

from kfriendly.datasets.base import Dataset, Entry
from kfriendly.datasets.derived import Arrays, keep_arrays
from kfriendly.datasets.files import cache_folder
from kfriendly.datasets.images import MNIST, Part, load_mnist

_N_PRINCIPAL = 500  # as in SSC-OMP's own experiments
# Components of less than this share of the first one's deviation are of rounding only.
_ROUNDING = 1e-4


def load_scattered_mnist(part: Part = "all", J: int = 3, L: int = 8) -> Dataset:
    """Return the first 500 principal components of MNIST's scattering features."""
    digits = load_mnist(part)
    path = cache_folder() / f"mnist-{part}-scattering-J{J}-L{L}.npz"
    arrays = keep_arrays(path, lambda: _scatter(digits.X, J, L))
    return digits._replace(name="mnist-scattering", X=arrays["X"])


def _scatter(X: np.ndarray, J: int, L: int) -> Arrays:
    from sklearn.decomposition import PCA  # torch and this are slow to import

    from kfriendly.datasets.scattering import scatter

    features = scatter(X.reshape(-1, 28, 28) / np.float32(255.0), J=J, L=L)
    n_components = min(_N_PRINCIPAL, *features.shape)
    pca = PCA(n_components, svd_solver="covariance_eigh")
    return {"X": pca.fit_transform(features)}


def load_preprocessed_mnist(
    part: Part = "all", J: int = 3, L: int = 8, *, whiten: bool = True
) -> Dataset:
    """Return ten spectral coordinates of the scattering features' SSC-OMP graph.

    With `whiten` the principal components have one variance. Without, the first few
    decide which images express each other, and the graph falls into small pieces.
    """
    digits = load_scattered_mnist(part, J, L)
    kind = "white" if whiten else "plain"
    path = cache_folder() / f"mnist-{part}-preprocessed-{kind}-J{J}-L{L}.npz"
    arrays = keep_arrays(path, lambda: _embed(digits.X, digits.n_clusters, whiten))
    return digits._replace(name="mnist-preprocessed", X=arrays["X"])


def _embed(X: np.ndarray, n_clusters: int, whiten: bool) -> Arrays:
    from kfriendly.baselines.ssc_omp import SSCOMP

    if whiten:
        deviation = X.std(axis=0)
        X = X / np.maximum(deviation, _ROUNDING * deviation.max())
    return {"X": SSCOMP(n_clusters, random_state=0).fit(X).embedding_}


MNIST_SCATTERING = Entry(
    "70,000 x 500",
    "principal components of scattering features",
    load_scattered_mnist,
    "part, J=3, L=8",
    MNIST.files,
    MNIST.terms,
)
MNIST_PREPROCESSED = Entry(
    "70,000 x 10",
    "SSC-OMP embedding of scattering features",
    load_preprocessed_mnist,
    "part, J=3, L=8, whiten=True",
    MNIST.files,
    MNIST.terms,
)
