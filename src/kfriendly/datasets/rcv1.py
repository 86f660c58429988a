"""RCV1-v2 (Reuters): the paper's subset, small real samples, and look-alikes.

The rule that gives the paper's 365,968 documents: of the 55 topics on the second level,
take documents that have exactly one; order the classes by size; drop the largest, C15;
keep the next K.
"""

import gzip
import tempfile
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import fetch_rcv1
from sklearn.feature_extraction.text import TfidfTransformer

from kfriendly.arguments import require
from kfriendly.datasets.base import Dataset, Entry, first_classes, most_frequent
from kfriendly.datasets.derived import keep_arrays
from kfriendly.datasets.files import DataFile, data_folder, obtain
from kfriendly.errors import DataNotFound

SECOND_LEVEL = tuple(
    (
        "C11 C12 C13 C14 C15 C16 C17 C18 C21 C22 C23 C24 C31 C32 C33 C34 C41 C42 "
        "E11 E12 E13 E14 E21 E31 E41 E51 E61 E71 "
        "G15 GCRIM GDEF GDIP GDIS GENT GENV GFAS GHEA GJOB GMIL GOBIT GODD GPOL GPRO "
        "GREL GSCI GSPO GTOUR GVIO GVOTE GWEA GWELF "
        "M11 M12 M13 M14"
    ).split()
)
_WORDS = "rcv1/rcv1-words.npz"
N_CLASSES = 20  # the paper's largest problem; others take the first 4, 8, 12 or 16

TOPICS_FILE = DataFile(
    "rcv1/rcv1-v2.topics.qrels.gz",
    7_282_024,
    (
        # The file scikit-learn fetches, and one with the same lines.
        "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
        "2b7e1bfd700bd69642e3d64422fb77a72ddb035deb8623a68ad2a81cc096a405",
    ),
    ("https://ndownloader.figshare.com/files/5976048",),
)


class Topics(NamedTuple):
    """Which documents have which topics."""

    documents: np.ndarray  # (n,) numbers of the documents, ascending
    topics: np.ndarray  # (t,) names, in alphabetical order
    Y: sp.csr_array  # (n, t) ones


def read_topics() -> Topics:
    """Read the topics of all 804,414 documents."""
    with gzip.open(obtain(TOPICS_FILE), "rt") as lines:
        table = np.loadtxt(
            lines, dtype=[("t", "U5"), ("d", np.int32), ("one", np.int8)]
        )
    documents, rows = np.unique(table["d"], return_inverse=True)
    topics, columns = np.unique(table["t"], return_inverse=True)
    Y = sp.csr_array((np.ones(len(table), np.int8), (rows, columns)))
    return Topics(documents, topics, Y)


def paper_classes(
    Y: sp.csr_array, topics: np.ndarray, n_classes: int = N_CLASSES
) -> tuple[np.ndarray, list[str]]:
    """Give each document its class by the paper's rule, or -1, and name the classes.

    Parameters
    ----------
    Y : csr_array of shape (n_documents, n_topics)
    topics : ndarray of shape (n_topics,)
        Names.
    n_classes : int
        1 to 54; the paper has 4, 8, 12, 16 and 20.
    """
    most = len(SECOND_LEVEL) - 1
    require(0 < n_classes <= most, "n_clusters", n_classes, f"from 1 to {most}")
    second = sp.csr_array(Y)[:, np.flatnonzero(np.isin(topics, SECOND_LEVEL))]
    names = topics[np.isin(topics, SECOND_LEVEL)]
    single = np.flatnonzero(second.sum(axis=1) == 1)
    topic = second[single].indices  # one a row
    order = np.argsort(-np.bincount(topic, minlength=len(names)), kind="stable")
    kept = order[1 : n_classes + 1]  # without the largest
    rank = np.full(len(names), -1)
    rank[kept] = np.arange(len(kept))
    y = np.full(Y.shape[0], -1)
    y[single] = rank[topic]
    return y, names[kept].tolist()


def _load(n_clusters: int = N_CLASSES, n_words: int = 2_000) -> Dataset:
    """Build the paper's subset from the complete collection.

    Of the 47,236 words the `n_words` with the largest sums of tf-idf are kept, as in
    the authors' script.
    """
    parts = keep_arrays(data_folder() / _WORDS, _fetch_words)
    X = sp.csr_array(
        (parts["values"], parts["columns"], parts["starts"]), tuple(parts["shape"])
    )
    Y = sp.csr_array(
        (
            np.ones(len(parts["topic_columns"]), np.int8),
            parts["topic_columns"],
            parts["topic_starts"],
        ),
        (X.shape[0], len(parts["topics"])),
    )
    y, names = paper_classes(Y, parts["topics"], n_clusters)
    subset = first_classes("rcv1", X, y, names)
    return subset._replace(X=subset.X[:, most_frequent(subset.X, n_words)])


def _fetch_words() -> dict[str, np.ndarray]:
    """Fetch all documents by scikit-learn.

    Its cache is a pickle: it goes to a folder that is removed at once, so that none is
    ever read.
    """
    path = data_folder() / _WORDS
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            bunch = fetch_rcv1(data_home=folder)
    except OSError as error:
        raise DataNotFound(
            f"{path} is not here, and the words of "
            f"RCV1-v2 cannot be fetched ({error}). Run `kfriendly data fetch rcv1` "
            "once with a network (656 MB, sklearn.datasets.fetch_rcv1) and copy the "
            "file it makes, or use the small samples 'rcv1-sample', 'rcv1-subset1'."
        ) from error
    X, Y = sp.csr_array(bunch.data), sp.csr_array(bunch.target)
    return {
        "values": X.data.astype(np.float32),
        "columns": X.indices.astype(np.int32),
        "starts": X.indptr.astype(np.int64),
        "shape": np.array(X.shape),
        "topics": np.asarray(bunch.target_names, dtype=str),
        "topic_columns": Y.indices.astype(np.int16),
        "topic_starts": Y.indptr.astype(np.int64),
    }


def _load_sample(
    file: DataFile, n_clusters: int = N_CLASSES, n_words: int = 2_000
) -> Dataset:
    """Read the sample with real word counts; tf-idf of the most frequent words."""
    with np.load(obtain(file), allow_pickle=False) as parts:
        counts = sp.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), tuple(parts["shape"])
        )
        y, names, words = parts["y20"], parts["y20_names"].tolist(), parts["vocab"]
    sample = first_classes("rcv1-sample", counts, y, _first(names, n_clusters))
    frequent = most_frequent(sample.X, n_words)
    X = TfidfTransformer().fit_transform(sample.X[:, frequent].astype(np.float32))
    return sample._replace(X=sp.csr_array(X), feature_names=words[frequent].tolist())


def _load_subset(file: DataFile, name: str, n_clusters: int = N_CLASSES) -> Dataset:
    """Read a subset of binary words: 1 where a document has the word."""
    with np.load(obtain(file), allow_pickle=False) as parts:
        X, y, names = parts["X"], parts["y20"], parts["y20_names"].tolist()
    return first_classes(name, X, y, _first(names, n_clusters))


def _first(names: list[str], n_clusters: int) -> list[str]:
    """Take the first classes, the largest of RCV1-v2."""
    allowed = 0 < n_clusters <= len(names)
    require(allowed, "n_clusters", n_clusters, f"from 1 to {len(names)}")
    return names[:n_clusters]


_SAMPLE_FILE = DataFile(
    "rcv1/rcv1_sample2316_counts.npz",
    491_673,
    ("d7935d1a6c7fcaa8c4a98dcb4eca9bd2ebc60063a05dbee69a93862c64ee45b5",),
)
_SUBSET_FILES = (
    DataFile(
        "rcv1/rcv1subset1_top944.npz",
        359_398,
        ("029ea5328f211999fefa4e321ccb78caa25b26009a350237404bdfc2af9aae2d",),
    ),
    DataFile(
        "rcv1/rcv1subset2_top944.npz",
        180_298,
        ("32a5b6d8bf6442c509d112819f33c43e4434d484dbd4d32de786edf3ba070e97",),
    ),
    DataFile(
        "rcv1/rcv1subset3_top944.npz",
        181_699,
        ("4d29054d18faa250e2aab063b8ca762511afe36b7bddda901aa8f8bc23fe30f2",),
    ),
)
_TERMS = "free for research, cite Lewis et al., JMLR 5, 2004"

RCV1 = Entry(
    "365,968 x 2,000",
    "tf-idf of Reuters news, the paper's subset",
    _load,
    "n_clusters=20 (the paper: 4, 8, 12, 16, 20), n_words=2000",
    terms=_TERMS,
    made=_WORDS,
)
RCV1_SAMPLE = Entry(
    "1,054 x 2,000",
    "tf-idf of a small sample of RCV1-v2",
    partial(_load_sample, _SAMPLE_FILE),
    "n_clusters=20, n_words=2000",
    (_SAMPLE_FILE,),
    _TERMS,
)
RCV1_SUBSETS = {
    f"rcv1-subset{number}": Entry(
        f"{n_rows} x 944",
        "binary words of a subset of RCV1-v2",
        partial(_load_subset, file, f"rcv1-subset{number}"),
        "n_clusters=20",
        (file,),
        _TERMS,
    )
    for number, n_rows, file in zip(
        (1, 2, 3), ("2,961", "1,439", "1,436"), _SUBSET_FILES, strict=True
    )
}
