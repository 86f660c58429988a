"""Tiny fits and their stories, shared by the tests of the page."""

from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_digits, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer

from kfriendly import DCN
from kfriendly.inputs import Batch, Features
from kfriendly.report.story import tell_story

EVIL = "</script><script>window.hacked = 1</script><img src=x onerror=hacked()>"


def some_features(names: list[str]) -> Features:
    """Make what a story needs to know of features."""
    notes = [f"A note with {EVIL}"]
    made = SimpleNamespace(names=names, notes=notes, input_shape=None)
    return cast(Features, made)  # only what the story reads


def tell(X: Any, batch: Batch, names: list[str], K: int, **options: Any) -> Any:
    """Fit in a second and tell the story."""
    settings = {"hidden": (8,), "pretrain_epochs": 2, "max_epochs": 2, "n_init": 2}
    model = DCN(K, random_state=0, **{**settings, **options.pop("fit", {})}).fit(X)
    said: dict[str, Any] = {
        "command": f"kfriendly fit '{EVIL}'",
        "fingerprint": "ab" * 32,
    }
    said |= {"seconds": 1.5, "seed": 0, "name": f"a {EVIL} name"}
    return tell_story(model, X, batch, some_features(names), **{**said, **options})


@cache
def image_story() -> Any:
    """Tell of 250 digits."""
    digits = load_digits()
    X, images = digits.data[:250], (digits.images[:250] * 15).astype(np.uint8)
    X = X[:, np.ptp(X, axis=0) > 0]
    batch = Batch(images, [f"digit {i}" for i in range(250)], digits.target[:250])
    return tell(X.astype(np.float32), batch, [f"p{i}" for i in range(X.shape[1])], 5)


@cache
def text_story() -> Any:
    """Tell of 120 short texts, one of them hostile."""
    words = ["moon orbit rocket", "goal team hockey", "bread flour oven"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 3].split(), 9)) for i in range(120)]
    texts[7] = f"{EVIL} {texts[7]}"
    learned = TfidfVectorizer()
    X = learned.fit_transform(texts).astype(np.float32)
    batch = Batch(texts, [str(i) for i in range(120)], None)
    return tell(X, batch, list(learned.get_feature_names_out()), 3)


@cache
def table_story() -> Any:
    """Tell of the wine table with an odd column more, as a CSV file gives it."""
    wine = load_wine(as_frame=True)
    table = pa.Table.from_pandas(wine.data.astype(str))
    odd = [None if i == 3 else EVIL if i % 5 == 0 else "dry" for i in range(178)]
    table = table.append_column("a <b>bold</b> name", pa.array(odd))
    ids = [f'"quoted", {i}' for i in range(178)]
    batch = Batch(table, ids, wine.target.to_numpy())
    X = wine.data.to_numpy(np.float32)
    return tell(X, batch, list(wine.data.columns), 3)
