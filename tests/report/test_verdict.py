from typing import Any

import numpy as np
import pytest
from stories import tell

from kfriendly import DCN
from kfriendly.inputs import Batch
from kfriendly.report.measures import Evidence, Scores, _kept, _shuffled, _together
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
        {"scores": [scores(silhouette_data=-0.2)]},
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
            assert rule.said[grade].format(0.5, -0.5)


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


def test_shuffled_columns_of_clusters_are_no_clusters() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) + 8 * rng.integers(2, size=(300, 1))
    assert _shuffled(X, 2) < 0.3


def level_of(X: np.ndarray, K: int) -> str:
    batch = Batch(X, [str(i) for i in range(len(X))], None)
    fit = {"hidden": (20,), "pretrain_epochs": 15, "max_epochs": 10, "n_init": 3}
    names = [f"x{j}" for j in range(X.shape[1])]
    told = tell(X, batch, names, K, fit=fit, map_seconds=0.0)
    return str(told["verdict"]["level"])


def test_verdict_of_noise_is_distrust() -> None:
    X = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)
    assert level_of(X, 5) == "distrust"


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
