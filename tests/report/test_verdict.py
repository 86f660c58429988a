from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles
from stories import tell

from kfriendly import DCN
from kfriendly.inputs import Batch
from kfriendly.report.measures import Evidence, Scores, _kept, _parted, _together
from kfriendly.report.rules import RULES, STABILITY
from kfriendly.report.verdict import compare, judge


def scores(method: str = "DCN", **changes: Any) -> Scores:
    usual = Scores(method, 0.3, 0.5, 1.0, 0.8, 0.9, 0.5)
    return usual._replace(**changes)


def evidence(**changes: Any) -> Evidence:
    usual = Evidence([scores(), scores("K-means")], 500, 4, 0.3, 0, 5, 0.6, 0.05, 0.1)
    return usual._replace(**changes)


def test_judge_good_answers_are_believed() -> None:
    verdict = judge(evidence())
    assert verdict["headline"] == "These clusters look believable."
    assert "stability 0.90" in verdict["reasons"][0]


@pytest.mark.parametrize(
    "changes",
    [
        {"scores": [scores(stability=0.3)]},
        {"scores": [scores(silhouette_learned=0.05)]},
        {"parted": 2.0},
        {"largest_share": 0.97},
        {"n_empty": 3},
        {"kept": -0.1},
        {"borderline": 0.6},
    ],
)
def test_judge_one_poor_answer_is_enough_to_distrust(changes: dict[str, Any]) -> None:
    verdict = judge(evidence(**changes))
    assert verdict["headline"] == "Don't trust these clusters."
    assert [a["grade"] for a in verdict["rules"]].count("poor") == 1
    assert verdict["reasons"][0]


def test_judge_unknown_stability_asks_for_care_and_says_what_to_do() -> None:
    verdict = judge(evidence(scores=[scores(stability=None)]))
    assert verdict["level"] == "care"
    assert "--n-init 4" in verdict["reasons"][0]


def test_judge_unknown_share_kept_is_no_reason_for_care() -> None:
    assert judge(evidence(kept=None))["level"] == "trust"


@pytest.mark.parametrize(
    ("value", "grade"),
    [(0.8, "good"), (0.79, "fair"), (0.5, "fair"), (0.49, "poor"), (None, "unknown")],
)
def test_rule_grades_at_its_thresholds(value: float | None, grade: str) -> None:
    assert STABILITY.grade(value) == grade


def test_rules_every_bad_grade_has_a_sentence() -> None:
    for rule in RULES:
        for grade in ("fair", "poor"):
            assert rule.said[grade].format(0.5)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"agreement": 0.95}, "same"),
        ({"stability": 0.6}, "better"),
        ({"stability": 0.98}, "worse"),
        ({"silhouette_learned": 0.3}, "open"),  # only in its own space
        ({"silhouette_data": 0.5}, "open"),  # K-means only in its own
        ({"silhouette_learned": 0.3, "silhouette_data": 0.2}, "better"),
        ({"silhouette_learned": 0.3, "silhouette_data": 0.5}, "open"),
        ({"stability": None, "silhouette_learned": float("nan")}, "even"),
        ({"silhouette_data": 0.31}, "even"),  # within the margin
    ],
)
def test_compare_with_k_means(changes: dict[str, Any], outcome: str) -> None:
    assert compare(scores(), scores("K-means", **changes))["outcome"] == outcome


@pytest.mark.parametrize("sparse", [False, True])
def test_clusters_part_fewer_neighbours_than_in_shuffled_columns(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    noise = rng.normal(size=(300, 6)).astype(np.float32)
    X = np.abs(noise + 8 * np.where(y[:, None] == 1, [1, 0] * 3, [0, 1] * 3))
    X[X < 2] = 0.0
    given = sp.csr_array(X) if sparse else X
    model = DCN(2, hidden=(4,), pretrain_epochs=1, max_epochs=1).fit(given)
    assert _parted(model, given, y) == 0
    mixed = _parted(model, given, rng.permutation(y))
    assert mixed is not None and mixed > 1.5


def test_clusters_of_noise_are_as_in_shuffled_columns() -> None:
    X = np.random.default_rng(0).normal(size=(600, 6)).astype(np.float32)
    model = DCN(3, hidden=(4,), pretrain_epochs=1, max_epochs=1).fit(X)
    parted = _parted(model, X, KMeans(3, random_state=1).fit_predict(X))
    assert parted is not None and 0.8 < parted < 1.25


def test_one_column_and_few_rows_have_no_shuffled_columns() -> None:
    X = np.arange(40.0, dtype=np.float32)[:, None]
    quick: dict[str, Any] = {"hidden": (4,), "pretrain_epochs": 1, "max_epochs": 1}
    one_column = DCN(2, views=None, **quick).fit(X)
    assert _parted(one_column, X, one_column.labels_) is None
    few_rows = DCN(5, views=None, **quick).fit(np.hstack([X, X])[:12])
    assert _parted(few_rows, np.hstack([X, X])[:12], few_rows.labels_) is None


def level_of(X: np.ndarray, K: int) -> str:
    batch = Batch(X, [str(i) for i in range(len(X))], None)
    fit = {"hidden": (20,), "pretrain_epochs": 15, "max_epochs": 10, "n_init": 3}
    names = [f"x{j}" for j in range(X.shape[1])]
    told = tell(X, batch, names, K, fit=fit, map_seconds=0.0)
    return str(told["verdict"]["level"])


def test_verdict_of_noise_is_distrust() -> None:
    X = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)
    assert level_of(X, 5) == "distrust"


def test_verdict_of_circles_in_each_other_is_trust() -> None:
    X, y = make_circles(600, noise=0.04, factor=0.4, random_state=0)
    batch = Batch(X, [str(i) for i in range(len(X))], y)
    own = dict.fromkeys(("hidden", "pretrain_epochs", "max_epochs"), "auto")
    told = tell(X.astype(np.float32), batch, ["a", "b"], 2, fit=own, map_seconds=0.0)
    assert told["verdict"]["level"] == "trust", told["verdict"]["reasons"]
    assert told["verdict"]["scores"][0]["ari"] > 0.9


def test_verdict_of_clear_clusters_is_trust() -> None:
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(4, 8))
    X = centres[rng.integers(4, size=300)] + rng.normal(size=(300, 8))
    assert level_of(X.astype(np.float32), 4) == "trust"


def test_neighbours_that_are_parted_are_a_reason_to_doubt() -> None:
    levels = {
        share: judge(evidence(kept=None, together=share))["level"]
        for share in (0.9, 0.6, 0.2)
    }
    assert levels == {0.9: "trust", 0.6: "care", 0.2: "distrust"}


def test_where_neighbours_took_part_the_decoder_is_not_asked() -> None:
    X = np.random.RandomState(0).randn(90, 4)
    quick: dict[str, Any] = {
        "hidden": (4,),
        "pretrain_epochs": 1,
        "max_epochs": 1,
        "n_init": 1,
    }
    near = DCN(3, random_state=0, **quick).fit(X)
    alone = DCN(3, views=None, random_state=0, **quick).fit(X)
    assert _kept(near) is None and _together(near) == 1.0 - near.start_scores_.min()
    assert _kept(alone) is not None and _together(alone) is None
