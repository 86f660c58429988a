"""Tables of numbers and categories: every column of the file weighs alike."""

import numpy as np
import pytest
from learned import Csv, Learn


def test_numbers_and_categories_weigh_alike(csv: Csv, learn: Learn) -> None:
    rng = np.random.RandomState(0)
    lines = ["income,country"]
    for i in range(200):
        country = "rare" if i < 2 else rng.choice(["de", "fr", "us"])
        lines.append(f"{1e4 * rng.rand():.2f},{country}")
    learned = learn(csv("\n".join(lines)))
    X = learned.features.transform(learned.batch)
    variances = X.var(axis=0)
    assert variances[0] == pytest.approx(1.0, abs=1e-3)
    assert variances[1:].sum() == pytest.approx(1.0, abs=1e-3)
    assert np.abs(X[:, 1:]).max() < 2.0  # a rare value is no giant
    assert any("weigh alike" in note for note in learned.features.notes)


def test_numbers_alone_are_left_as_they_are(csv: Csv, learn: Learn) -> None:
    learned = learn(csv("a,b\n1,1000\n2,3000\n4,2000\n"))
    X = learned.features.transform(learned.batch)
    assert X.tolist() == [[1, 1000], [2, 3000], [4, 2000]]
