"""Data sets of the catalogue: `data:mnist`, `data:mnist,part=test`."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from kfriendly.datasets import Dataset, load
from kfriendly.datasets.catalogue import find
from kfriendly.datasets.newsgroups import read_newsgroups
from kfriendly.errors import KfriendlyError
from kfriendly.inputs.complaints import complain
from kfriendly.inputs.hashing import hash_values
from kfriendly.inputs.loaded import LoadedInput

# Height and width of data sets that are images, and the value of white.
_IMAGES = {
    "mnist": (28, 28, 255),
    "fashion-mnist": (28, 28, 255),
    "digits": (8, 8, 16),
}


def open_dataset(spec: str) -> LoadedInput:
    """Load a data set by its name and options, with commas between."""
    name, *choices = spec.split(",")
    if name == "20newsgroups" and not choices:
        texts, y, groups = read_newsgroups()
        labels = np.array(groups)[y]
        return LoadedInput(
            "text",
            f"data:{name}",
            texts,
            fingerprint=partial(hash_values, texts, y),
            labels=labels,
        )
    options = _options(spec, choices)
    try:
        data = load(name, **options)
    except (TypeError, ValueError) as error:
        if not choices or isinstance(error, KfriendlyError):
            raise
        raise complain(
            f"data:{spec} cannot be loaded.",
            str(error).splitlines()[0],
            f"Its options are {find(name).options or 'none'}.",
        ) from error
    return _from_dataset(data, f"data:{spec}", _IMAGES.get(name))


def _from_dataset(
    data: Dataset, name: str, shape: tuple[int, int, int] | None
) -> LoadedInput:
    labels = data.y
    if data.class_names is not None and labels.min() >= 0:
        labels = np.array(data.class_names)[labels]
    X, names = data.X, data.feature_names
    if shape is not None:
        height, width, white = shape
        X = np.rint(X.reshape(-1, height, width) * (255 / white)).astype(np.uint8)
        names = []
    elif sp.issparse(X):
        X = sp.csr_array(X)
    return LoadedInput(
        "array" if shape is None else "images",
        name,
        X,
        fingerprint=partial(hash_values, data.X, data.y),
        labels=labels,
        column_names=[f"x{i}" for i in range(X.shape[1])] if names is None else names,
    )


def _options(spec: str, choices: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for choice in choices:
        key, equals, value = choice.partition("=")
        if not equals:
            raise complain(
                f"data:{spec} cannot be read.",
                f"{choice!r} is no option.",
                "Write it as in data:mnist,part=test; see `kfriendly data list`.",
            )
        options[key] = int(value) if value.lstrip("-").isdecimal() else value
    return options
