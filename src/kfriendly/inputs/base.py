"""What an input is, and what is learned from one: the types all kinds share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

Kind = Literal["table", "text", "images", "array"]
Missing = Literal["error", "drop", "impute"]


@dataclass(frozen=True)
class InputOptions:
    """What the command line says of an input.

    Parameters
    ----------
    text : str or None
        Column of a table that holds documents; the rest is not clustered.
    lines : bool
        A document a line.
    id : str or None
        Column that names the rows.
    label : str or None
        Column of known classes, for scores only. "folder" for a folder of images is
        the name of the folder that each image lies in.
    columns : tuple of str
        Columns to use, whatever they look like; empty is all that can be used.
    drop : tuple of str
        Columns that are not even read.
    missing : {"error", "drop", "impute"}
        What happens to missing values: refused, their rows left out, or filled in with
        the column's median.
    image_size : (height, width) or None
        Size that images are brought to; None is their own, or a smaller one.
    """

    text: str | None = None
    lines: bool = False
    id: str | None = None
    label: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: Missing = "impute"
    image_size: tuple[int, int] | None = None


class Batch(NamedTuple):
    """Some rows as they came.

    `content` is a pyarrow.Table, a list of documents, an array or csr_array of rows, or
    uint8 images of shape (n, h, w) or (n, h, w, 3). Columns of a CSV file are text.
    `ids` are what `--id` names, file names, or numbers of rows from 0, as text.
    `labels` are known classes, for scores only. `source` says where the rows are from;
    `locate` says it of one row, by its place here, where there is more to say.
    """

    content: Any  # one of the five above; pyarrow and scipy have no types
    ids: list[str]
    labels: np.ndarray | None = None
    source: str = "the data"
    locate: Callable[[int], str] | None = None

    def place_of(self, row: int) -> str:
        """Say where a row is, for people."""
        return f"row {self.ids[row]}" + (
            f" ({self.locate(row)})" if self.locate else ""
        )

    def take(self, rows: np.ndarray) -> "Batch":
        """Return some of the rows; `rows` are their places."""
        content = self.content
        if isinstance(content, list):
            content = [content[row] for row in rows]
        else:
            # A pyarrow.Table has no indexing by rows.
            content = (
                content.take(rows) if hasattr(content, "schema") else content[rows]
            )
        labels = None if self.labels is None else self.labels[rows]
        ids = [self.ids[row] for row in rows]
        whole = self.locate
        locate = whole and (lambda row: whole(int(rows[row])))
        return Batch(content, ids, labels, self.source, locate)


class Input(Protocol):
    """Something to read rows from."""

    @property
    def kind(self) -> Kind:
        """What the rows are."""

    @property
    def name(self) -> str:
        """The file, folder or data set, for people."""

    @property
    def column_names(self) -> list[str]:
        """Names of all columns, also of those not read; empty for text and images."""

    @property
    def notes(self) -> list[str]:
        """Sentences on how it is read, where that was not plain."""

    def read(self) -> Batch:
        """Read everything."""

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Read `n_rows` rows at a time, in constant memory."""

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the content; of files, of their bytes."""


class Features(Protocol):
    """How raw rows become numbers: learned from training rows, kept as JSON."""

    @property
    def names(self) -> list[str]:
        """A name for each column of the result."""

    @property
    def input_shape(self) -> tuple[int, ...] | None:
        """Shape of the image in each row, as `DCN` takes it; None for no images."""

    @property
    def notes(self) -> list[str]:
        """Sentences on what was used, encoded, set aside, and why."""

    def drop_incomplete(self, batch: Batch) -> Batch:
        """Leave out rows with missing values, if that was asked for; else no change.

        To be called before `transform`, which never leaves a row out.
        """

    def transform(self, batch: Batch) -> np.ndarray | sp.csr_array:
        """Turn rows into float32 numbers, a row each."""

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON-able values; `features_from_json` takes it back."""
