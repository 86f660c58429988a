"""20Newsgroups: tf-idf of the most frequent words, from the raw text."""

import tarfile
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from kfriendly.arguments import require
from kfriendly.datasets.base import Dataset, Entry, most_frequent
from kfriendly.datasets.files import DataFile, obtain

Weighting = Literal["tfidf", "ncw"]
TextSource = Literal["raw", "counts"]

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
_COUNTS = DataFile(
    "newsgroups20/20Newsgroups.mat",
    3_715_065,
    ("dc1418f7291a4c09a4ab3b6a7d31c129d6edad7643ac5ec6bdaf67180a000ae8",),
    ("http://www.cad.zju.edu.cn/home/dengcai/Data/20Newsgroups/20Newsgroups.mat",),
)
_GROUPS = [
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
]


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


def _load(
    n_words: int = 2_000, weighting: Weighting = "tfidf", source: TextSource = "raw"
) -> Dataset:
    """Weigh the `n_words` most frequent words by tf-idf, rows of unit length."""
    require(weighting in ("tfidf", "ncw"), "weighting", weighting, "'tfidf' or 'ncw'")
    require(source in ("raw", "counts"), "source", source, "'raw' or 'counts'")
    data = _from_text(n_words) if source == "raw" else _from_counts(n_words)
    if weighting == "ncw":
        data = data._replace(X=normalised_cut_weights(data.X))
    return data


def _from_text(n_words: int) -> Dataset:
    """Split the raw text, headers and all; English stop words are left out."""
    texts, y, groups = read_newsgroups()
    vectorizer = TfidfVectorizer(
        max_features=n_words, stop_words="english", dtype=np.float32
    )
    X = sp.csr_array(vectorizer.fit_transform(texts))
    words = vectorizer.get_feature_names_out().tolist()
    return Dataset("20newsgroups", X, y, len(groups), words, groups)


def _from_counts(n_words: int) -> Dataset:
    """Take the counts of D. Cai's page, whose words have no names.

    The literature on document clustering before the paper used these, and K-means
    scores on them nearly as the paper says; on the raw text it scores less.
    """
    stored = loadmat(obtain(_COUNTS))
    counts = sp.csr_array(stored["fea"]).astype(np.float32)
    frequent = counts[:, most_frequent(counts, n_words)]
    X = sp.csr_array(TfidfTransformer().fit_transform(frequent))
    y = stored["gnd"].ravel().astype(np.int64) - 1
    return Dataset("20newsgroups", X, y, 20, class_names=_GROUPS)


def normalised_cut_weights(X: sp.csr_array) -> sp.csr_array:
    """Divide each row by the root of its similarity to all rows, its sum in X X'.

    With these weights the plain inner products of rows are those of a normalised cut.
    Rows without any similarity stay as they are.
    """
    totals = X @ np.asarray(X.sum(axis=0)).ravel()  # X X' 1, without X X'
    roots = np.sqrt(np.where(totals > 0, totals, 1.0))
    return sp.csr_array(sp.diags_array(1.0 / roots).astype(X.dtype) @ X)


NEWSGROUPS = Entry(
    "18,846 x 2,000",
    "tf-idf of Usenet posts of 20 groups",
    _load,
    'n_words=2000, weighting="tfidf" or "ncw", source="raw" or "counts"',
    (_FILE, _COUNTS),
    "free for research, collected by K. Lang",
)
