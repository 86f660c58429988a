"""What a row shows when one points at it: a picture, the start of a text, values."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from kfriendly.report.packing import cost, excerpt, pack

Kind = Literal["table", "text", "images", "array"]

_LONGEST_TEXT = 240
_SHORTEST_TEXT = 24
_LONGEST_CELL = 40
_MOST_COLUMNS = 12
_MOST_CODES = 2_000


def kind_of(content: Any) -> Kind:
    """Tell what raw rows are."""
    if isinstance(content, list):
        return "text"
    if hasattr(content, "column_names"):
        return "table"
    return "images" if getattr(content, "ndim", 0) >= 3 else "array"


def pack_texts(documents: list[str], budget: int) -> list[str]:
    """Cut documents to one length, so that all take about `budget` bytes together."""
    length = _LONGEST_TEXT
    while True:
        texts = [excerpt(document, length) for document in documents]
        taken = cost(texts)
        if length <= _SHORTEST_TEXT or taken <= budget:
            return texts
        length = max(_SHORTEST_TEXT, int(0.95 * length * budget / taken))


def pack_columns(
    content: Any, names: list[str], order: list[int], budget: int
) -> list[dict[str, Any]]:
    """Pack the values of columns, the most telling first, while they fit.

    Parameters
    ----------
    content : pyarrow.Table, ndarray or csr_array
        The rows that are shown.
    names : list of str
        Names of the columns the model saw, for content that has none.
    order : list of int
        Those columns, the most telling first.
    budget : int
        Bytes in the page.
    """
    packed: list[dict[str, Any]] = []
    for name, values in _columns(content, names, order):
        column = {"name": excerpt(name, _LONGEST_CELL), **pack_column(values)}
        budget -= cost([str(v) for v in column.values()])
        if budget < 0 or len(packed) == _MOST_COLUMNS:
            break
        packed.append(column)
    return packed


def pack_column(values: np.ndarray) -> dict[str, Any]:
    """Pack one column: numbers, or texts as codes of the distinct ones."""
    if values.dtype.kind in "iub" and np.abs(values).max(initial=0) < 2**31:
        return {"kind": "i4", "data": pack(values, "i4")}
    if values.dtype.kind == "f":
        return {"kind": "f4", "data": pack(values, "f4")}
    texts = [excerpt("" if v is None else v, _LONGEST_CELL) for v in values.tolist()]
    distinct = sorted(set(texts))
    if len(distinct) > min(_MOST_CODES, max(2, len(texts) // 2)):
        return {"kind": "text", "data": texts}
    place = {text: i for i, text in enumerate(distinct)}
    codes = np.array([place[text] for text in texts])
    return {"kind": "coded", "data": pack(codes, "u2"), "values": distinct}


def values_of_row(content: Any, names: list[str], order: list[int], row: int) -> str:
    """Write the first telling values of one row as one line."""
    one = content.slice(row, 1) if hasattr(content, "slice") else content[row : row + 1]
    parts = []
    for name, values in _columns(one, names, order[:6]):
        parts.append(f"{excerpt(name, 24)} {_in_words(values.tolist()[0])}")
        if len(parts) == 4:
            break
    return ", ".join(parts)


def _in_words(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else excerpt(value, 24)


def _columns(
    content: Any, names: list[str], order: list[int]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and values, the most telling first."""
    if hasattr(content, "column_names"):
        for i in _raw_order(content.column_names, names, order):
            yield content.column_names[i], _as_array(content.column(i))
        return
    for j in order:
        column = content[:, [j]].toarray() if sp.issparse(content) else content[:, j]
        yield names[j], np.ravel(column)


def _raw_order(raw: list[str], names: list[str], order: list[int]) -> list[int]:
    """Order raw columns by the features made of them, with some unused ones."""
    first: dict[int, int] = {}
    for rank, j in enumerate(order):
        for i, column in enumerate(raw):
            made_of = names[j] == column or names[j].startswith(f"{column}=")
            if made_of and i not in first:
                first[i] = rank
    used = sorted(first, key=lambda i: first[i])
    unused = [i for i in range(len(raw)) if i not in first]
    # Columns set aside, such as names, are how people know a row: some of them stay.
    n_used = max(_MOST_COLUMNS - 3, _MOST_COLUMNS - len(unused))
    return [*used[:n_used], *unused[:3], *used[n_used:], *unused[3:]]


def _as_array(column: Any) -> np.ndarray:
    """Bring a pyarrow column to numbers, or to objects for everything else."""
    import pyarrow as pa  # only tables need it

    if pa.types.is_boolean(column.type):
        return np.array([None if v is None else str(v) for v in column.to_pylist()])
    if pa.types.is_integer(column.type) and not column.null_count:
        return np.asarray(column.to_numpy())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        values = column.to_pylist()
        return np.array([np.nan if v is None else float(v) for v in values])
    texts = [None if v is None else str(v) for v in column.to_pylist()]
    return (
        _numbers(texts)
        if (pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
        else np.array(texts, object)
    )


def _numbers(texts: list[str | None]) -> np.ndarray:
    """Read texts as numbers if all are: a CSV file's columns come as text."""
    try:
        values = np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, object)
    whole = np.isfinite(values).all() and np.all(values == np.round(values))
    return values.astype(np.int64) if whole and np.abs(values).max() < 2**53 else values
