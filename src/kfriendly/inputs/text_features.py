"""Documents to numbers: tf-idf of frequent words, rows of unit length."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from kfriendly.inputs.base import Batch, InputOptions
from kfriendly.inputs.complaints import complain, counted

MOST_WORDS = 2_000


@dataclass(frozen=True)
class TextFeatures:
    """Words and their weights.

    Parameters
    ----------
    words : list of str
        In their order in a row.
    weights : list of float
        Inverse document frequency of each.
    notes : list of str
    """

    words: list[str]
    weights: list[float]
    notes: list[str]

    input_shape = None

    @property
    def names(self) -> list[str]:
        """The words."""
        return self.words

    def drop_incomplete(self, batch: Batch) -> Batch:
        """Return the batch: an empty document is a row of zeros."""
        return batch

    def transform(self, batch: Batch) -> sp.csr_array:
        """Turn documents into rows of float32 weights."""
        return sp.csr_array(self._vectorizer.transform(batch.content))

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON-able values."""
        return {"kind": "text", **asdict(self)}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "TextFeatures":
        """Make features of what `to_json` returned."""
        return TextFeatures(stored["words"], stored["weights"], stored["notes"])

    @cached_property
    def _vectorizer(self) -> TfidfVectorizer:
        vectorizer = _make_vectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.weights)
        return vectorizer


def plan_text(batch: Batch, options: InputOptions) -> TextFeatures:
    """Choose the most frequent words of the training documents, and weigh them."""
    vectorizer = _make_vectorizer(max_features=MOST_WORDS)
    try:
        rows = vectorizer.fit_transform(batch.content)
    except ValueError as error:
        raise complain(
            "There are no words to cluster by.",
            f"{batch.source} has {counted(len(batch.content), 'document')}, empty or "
            "of stop words and single letters only.",
            "Check that the right column or file is given.",
        ) from error
    words = vectorizer.get_feature_names_out().tolist()
    notes = [
        f"{counted(len(batch.content), 'document')} by the tf-idf of the "
        f"{counted(len(words), 'most frequent word')}, English stop words left out."
    ]
    empty = int((np.diff(rows.indptr) == 0).sum())
    if empty:
        notes.append(
            f"{counted(empty, 'document')} with none of these words: all zeros."
        )
    return TextFeatures(words, vectorizer.idf_.tolist(), notes)


def _make_vectorizer(**choice: Any) -> TfidfVectorizer:
    return TfidfVectorizer(
        stop_words="english", sublinear_tf=True, dtype=np.float32, **choice
    )
