"""20Newsgroups: tf-idf of the most frequent words, from the raw text."""

import tarfile
from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from kfriendly.arguments import require
from kfriendly.datasets.base import Dataset, Entry
from kfriendly.datasets.files import DataFile, obtain

Weighting = Literal["tfidf", "ncw"]

_FILE = DataFile(
    "newsgroups20/20news-bydate.tar.gz",
    14_464_277,
    (
        # The archive scikit-learn fetches, and one with the same documents.
        "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        "7eedc0c84795bf3195ea58baa57a2b36009e9a627d30227c2f8685f6ad537e95",
    ),
    ("https://ndownloader.figshare.com/files/5975967",),
)


def read_newsgroups() -> tuple[list[str], np.ndarray, list[str]]:
    """Read the raw text of all 18,846 documents, their groups and the groups' names.

    Training documents come first; within a part they are ordered by group and number.
    """
    with tarfile.open(obtain(_FILE)) as archive:  # read in place, never unpacked
        found = []
        for member in archive:
            if member.isfile():
                part, group, number = member.name.split("/")
                stream = archive.extractfile(member)
                content = stream.read() if stream else b""
                key = (part.endswith("test"), group, int(number))
                found.append((key, content.decode("latin-1")))
    found.sort(key=lambda item: item[0])
    names, y = np.unique([group for (_, group, _), _ in found], return_inverse=True)
    return [text for _, text in found], y.astype(np.int64), names.tolist()


def _load(n_words: int = 2_000, weighting: Weighting = "tfidf") -> Dataset:
    """Weigh the `n_words` most frequent words; English stop words are left out."""
    require(weighting in ("tfidf", "ncw"), "weighting", weighting, "'tfidf' or 'ncw'")
    texts, y, groups = read_newsgroups()
    vectorizer = TfidfVectorizer(
        max_features=n_words, stop_words="english", dtype=np.float32
    )
    X = sp.csr_array(vectorizer.fit_transform(texts))
    if weighting == "ncw":
        X = normalised_cut_weights(X)
    words = vectorizer.get_feature_names_out().tolist()
    return Dataset("20newsgroups", X, y, len(groups), words, groups)


def normalised_cut_weights(X: sp.csr_array) -> sp.csr_array:
    """Divide each row by the root of its similarity to all rows, its sum in X X'.

    With these weights the plain inner products of rows are those of a normalised cut.
    Rows without any similarity stay as they are.
    """
    totals = X @ np.asarray(X.sum(axis=0)).ravel()  # X X' 1, without X X'
    roots = np.sqrt(np.where(totals > 0, totals, 1.0))
    return sp.csr_array(sp.diags_array(1.0 / roots).astype(X.dtype) @ X)


NEWSGROUPS = Entry(
    "18,846 x 2,000 tf-idf (n_words, weighting='ncw'), Usenet posts of 20 groups",
    _load,
    (_FILE,),
    "free for research, collected by K. Lang",
)
