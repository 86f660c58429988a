"""Scaling of features."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from kfriendly.errors import DataScaleWarning
from kfriendly.training.scaling import ScaleRule, Scaling, _describe, find_scaling

RULES: list[ScaleRule] = ["auto", "standard", "common", "nonnegative", "none"]


def example(seed: int = 0) -> np.ndarray:
    """Draw non-negative columns of moderately different size, half of them zeros."""
    rng = np.random.RandomState(seed)
    X = rng.exponential(size=(50, 4)) * [1.0, 2.0, 3.0, 5.0]
    return np.where(rng.random_sample(X.shape) < 0.5, 0.0, X)


def apply(scaling: Scaling, X: np.ndarray) -> np.ndarray:
    return np.asarray((X - scaling.mean) / scaling.size)


def of_widths(*widths: float) -> np.ndarray:
    """Make columns of two values, 0 and the width."""
    return np.array([np.zeros(len(widths)), widths])


def test_standard_by_hand() -> None:
    X = np.array([[0.0, 10.0], [4.0, 30.0]])
    scaling = find_scaling(X, "standard")
    assert scaling.rule == "standard"
    assert scaling.mean.tolist() == [2.0, 20.0]
    assert scaling.size.tolist() == [2.0, 10.0]


def test_common_by_hand() -> None:
    X = np.array([[0.0, 10.0], [2.0, 24.0]])  # deviations 1 and 7: mean square 25
    scaling = find_scaling(X, "common")
    assert scaling.mean.tolist() == [1.0, 17.0]
    assert scaling.size.tolist() == [5.0, 5.0]


def test_nonnegative_by_hand() -> None:
    X = np.array([[0.0, 10.0], [2.0, 24.0]])
    scaling = find_scaling(X, "nonnegative")
    assert scaling.mean.tolist() == [0.0, 0.0]
    assert scaling.size.tolist() == [5.0, 5.0]


def test_none_by_hand() -> None:
    scaling = find_scaling(np.array([[0.0, 10.0], [2.0, 24.0]]), "none")
    assert scaling.mean.tolist() == [0.0, 0.0]
    assert scaling.size.tolist() == [1.0, 1.0]


def test_standard_equals_scikit_learn() -> None:
    X = example()
    found = apply(find_scaling(X, "standard"), X)
    assert found == pytest.approx(StandardScaler().fit_transform(X))


@pytest.mark.parametrize("rule", ["common", "nonnegative"])
def test_mean_variance_is_one(rule: ScaleRule) -> None:
    X = example()
    assert apply(find_scaling(X, rule), X).var(0).mean() == pytest.approx(1.0)


def test_common_keeps_proportions() -> None:
    X = example()
    found = apply(find_scaling(X, "common"), X).std(0)
    assert found / found[0] == pytest.approx(X.std(0) / X.std(0)[0])


@pytest.mark.parametrize(
    ("widths", "rule"),
    [
        ((1, 1, 1, 1), "common"),
        ((1, 1, 10), "common"),  # ten times the median, and no more
        ((1, 1, 10.1), "standard"),
        ((1, 2, 3, 40), "standard"),
    ],
)
def test_auto_goes_by_the_widest_column(widths: tuple[float, ...], rule: str) -> None:
    X = of_widths(*widths)
    scaling = find_scaling(X, "auto")
    assert scaling.rule == rule
    assert scaling.size == pytest.approx(find_scaling(X, scaling.rule).size)  # type: ignore[arg-type]


@pytest.mark.parametrize("widths", [(1.0, 1e6), (1e-6, 1.0, 1.0)], ids=str)
def test_auto_lets_no_varying_column_vanish(widths: tuple[float, ...]) -> None:
    X = of_widths(*widths)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = apply(find_scaling(X, "auto"), X)
    # Either all columns matter, or the user is told that some do not.
    assert found.std(0).min() > 1e-3 or caught


def test_auto_ignores_constant_columns() -> None:
    with pytest.warns(DataScaleWarning):
        scaling = find_scaling(of_widths(0, 0, 0, 1, 2), "auto")
    assert scaling.rule == "common"


@pytest.mark.parametrize("rule", RULES)
def test_undo_inverts(rule: ScaleRule) -> None:
    X = example()
    scaling = find_scaling(X, rule)
    assert scaling.undo(apply(scaling, X)) == pytest.approx(X)


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2),
    st.sampled_from(RULES),
)
@settings(deadline=None, derandomize=True, max_examples=50)
def test_scaled_data_is_finite_and_undone(
    rows: list[tuple[float, float]], rule: ScaleRule
) -> None:
    X = np.array(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataScaleWarning)
        scaling = find_scaling(X, rule)
    scaled = apply(scaling, X)
    assert np.isfinite(scaled).all()
    assert scaling.undo(scaled) == pytest.approx(X, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_sparse_equals_dense(rule: ScaleRule, dtype: str) -> None:
    X = (10 * example()).astype(dtype)
    dense, sparse = find_scaling(X, rule), find_scaling(sp.csr_array(X), rule)
    assert sparse.rule == dense.rule
    assert sparse.mean == pytest.approx(dense.mean)
    assert sparse.size == pytest.approx(dense.size)


@pytest.mark.parametrize("rule", RULES)
def test_variance_is_that_of_the_scaled_columns(rule: ScaleRule) -> None:
    X = example()
    scaling = find_scaling(X, rule)
    assert scaling.variance == pytest.approx(apply(scaling, X).var(axis=0).sum())


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_equal_one_pass(sparse: bool) -> None:
    rows = example().cumsum(0)  # no block is like another
    X = sp.csr_array(rows) if sparse else rows
    for found, whole in zip(_describe(X, "none", 7), _describe(X, "none"), strict=True):
        assert found == pytest.approx(whole)


def test_width_counts_the_zeros_of_sparse_data() -> None:
    X = sp.csr_array(np.array([[3.0, 0.0], [5.0, -2.0]]))
    assert _describe(X, "none").width.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("rule", RULES)
def test_constant_columns_warn_once(rule: ScaleRule) -> None:
    X = np.column_stack([example(), np.full(50, 7.0), np.zeros(50)])
    with pytest.warns(DataScaleWarning) as caught:
        find_scaling(X, rule)
    assert len(caught) == 1
    assert "2 of 6 columns are constant (first: column 4)" in str(caught[0].message)


@pytest.mark.parametrize("value", [7.0, 0.1, 1e9 + 0.1, -1e-9])
def test_constant_column_stays_finite(value: float) -> None:
    X = np.column_stack([example(), np.full(50, value)])
    with pytest.warns(DataScaleWarning, match="1 of 5 columns are constant"):
        scaling = find_scaling(X, "standard")
    assert scaling.size[-1] == 1.0
    assert apply(scaling, X)[:, -1] == pytest.approx(np.zeros(50), abs=1e-6)


@pytest.mark.parametrize(("n", "block"), [(50, 7), (100_000, 65_536)])
def test_constant_column_is_constant_over_blocks(n: int, block: int) -> None:
    X = np.column_stack([np.arange(n), np.full(n, 0.1)])
    assert _describe(X, "none", block).deviation[1] == 0.0


@pytest.mark.parametrize("rule", RULES)
def test_data_of_one_point_stays_finite(rule: ScaleRule) -> None:
    X = np.full((5, 2), 3.0)
    assert np.isfinite(apply(find_scaling(X, rule), X)).all()


@pytest.mark.parametrize("rule", ["none", "common", "nonnegative"])
def test_hopeless_ratio_warns_and_names_the_way_out(rule: ScaleRule) -> None:
    X = example() * [1e-4, 1.0, 1.0, 1.0]
    with pytest.warns(DataScaleWarning, match="Use scale='standard'") as caught:
        find_scaling(X, rule)
    assert len(caught) == 1
    assert f"scale={rule!r}" in str(caught[0].message)


def test_ratio_up_to_a_thousand_does_not_warn() -> None:
    find_scaling(of_widths(1.0, 999.0), "none")  # warnings are errors here


def test_standard_does_not_warn_of_ratios() -> None:
    find_scaling(of_widths(1.0, 1e9), "standard")


def test_large_mean_keeps_its_digits() -> None:
    scaling = find_scaling(1e9 + np.array([[0.25], [0.75]]), "standard")
    assert scaling.mean.tolist() == [1e9 + 0.5]
    assert scaling.size.tolist() == [0.25]


def test_find_scaling_does_not_change_the_data() -> None:
    X = example()
    find_scaling(X, "standard")
    assert np.array_equal(X, example())
