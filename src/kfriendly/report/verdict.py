"""Whether to believe the clusters: rules, and what they say in words.

No rule looks at known classes. Each has two thresholds: on the good side of the first
all is well, beyond the second the clusters are not to be trusted, and between them
they are to be used with care. They were set on data whose answer is known: see
docs/verdict.md.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from kfriendly.report.measures import BORDERLINE, Evidence, Scores
from kfriendly.report.packing import number

Grade = Literal["good", "fair", "poor", "unknown"]
Level = Literal["trust", "care", "distrust"]

# Measures closer than this are equal.
MARGIN = 0.02
# Partitions with an adjusted Rand index above this are the same for most purposes.
SAME = 0.9


class Rule(NamedTuple):
    """A question that has to be answered well."""

    question: str
    measure: str
    value: Callable[[Evidence], float | None]
    good: float
    poor: float
    advice: str


RULES = (
    Rule(
        "Does another start find the same clusters?",
        "mean adjusted Rand index between starts",
        lambda e: e.scores[0].stability,
        0.8,
        0.5,
        "Try another number of clusters, or more epochs.",
    ),
    Rule(
        "Do the clusters lie apart in the learned space?",
        "mean silhouette, learned space",
        lambda e: e.scores[0].silhouette_learned,
        0.25,
        0.1,
        "Try fewer clusters.",
    ),
    Rule(
        "Is there more structure than in shuffled columns?",
        "silhouette in the data, above that of K-means on the same columns shuffled",
        lambda e: e.scores[0].silhouette_data - e.shuffled,
        0.0,
        -0.1,
        "The data may have no clusters; look at the map.",
    ),
    Rule(
        "Does every cluster hold a fair part of the rows?",
        "share of the largest cluster",
        lambda e: e.largest_share if e.n_clusters > 1 else None,
        0.7,
        0.95,
        "Look for outliers, or lower the weight lam.",
    ),
    Rule(
        "Are all clusters used?",
        "share of clusters without a row",
        lambda e: e.n_empty / e.n_clusters,
        0.0,
        0.5,
        "Ask for fewer clusters.",
    ),
    Rule(
        "Does the learned space keep what the data says?",
        "share of the data's variance the decoder gives back",
        lambda e: e.kept,
        0.2,
        0.0,
        "Train longer, lower lam, or allow more components.",
    ),
    Rule(
        "Do most rows clearly belong to one cluster?",
        f"share of rows with confidence below {BORDERLINE:g}",
        lambda e: e.borderline,
        0.2,
        0.5,
        "Use the confidence column to leave such rows out.",
    ),
)

_HEADLINES: dict[Level, str] = {
    "trust": "These clusters look believable.",
    "care": "Use these clusters with care.",
    "distrust": "Don't trust these clusters.",
}


def judge(evidence: Evidence) -> dict[str, Any]:
    """Apply the rules and put the outcome into words, as JSON can hold it."""
    answers = [_answer(rule, evidence) for rule in RULES]
    level = _level([answer["grade"] for answer in answers])
    return {
        "level": level,
        "headline": _HEADLINES[level],
        "reasons": _reasons(answers, evidence),
        "comparisons": [
            compare(evidence.scores[0], other) for other in evidence.scores[1:]
        ],
        "rules": answers,
        "scores": [_jsonable(scores) for scores in evidence.scores],
        "n_measured": evidence.n_measured,
        "n_starts": evidence.n_starts,
    }


def grade(value: float | None, good: float, poor: float) -> Grade:
    """Grade a value; which side is good follows from the two thresholds.

    Examples
    --------
    >>> grade(0.9, good=0.8, poor=0.5), grade(0.3, good=0.2, poor=0.5)
    ('good', 'fair')
    """
    if number(value) is None or value is None:
        return "unknown"
    sign = 1.0 if good > poor else -1.0
    if sign * value >= sign * good:
        return "good"
    return "poor" if sign * value < sign * poor else "fair"


def compare(dcn: Scores, other: Scores) -> dict[str, str]:
    """Say whether DCN beats another method: the majority of three measures decides.

    A space that a method has made or works in favours it. So a lead in its own space
    alone decides nothing, for either side; stability over starts favours none.
    """
    measures = [
        ("silhouette in the learned space", "DCN", "silhouette_learned"),
        ("silhouette in the data", "K-means", "silhouette_data"),
        ("stability over starts", "", "stability"),
    ]
    wins, losses = [], []
    for said, home, field in measures:
        mine, its = number(getattr(dcn, field)), number(getattr(other, field))
        if mine is None or its is None or abs(mine - its) <= MARGIN:
            continue
        lead = Lead(f"{said} ({mine:.2f} against {its:.2f})", home)
        (wins if mine > its else losses).append(lead)
    return {"other": other.method, **_outcome(other, wins, losses)}


class Lead(NamedTuple):
    """A measure by which one method is ahead, and the method it favours."""

    said: str
    home: str


def _outcome(other: Scores, wins: list[Lead], losses: list[Lead]) -> dict[str, str]:
    name = _FULL_NAMES.get(other.method, other.method)
    if other.agreement >= SAME:
        outcome = "same"
        sentence = (
            f"{name[0].upper()}{name[1:]} finds nearly the same clusters "
            f"(agreement {other.agreement:.2f} of 1)."
        )
    elif len(wins) > len(losses) and any(lead.home != "DCN" for lead in wins):
        outcome = "better"
        sentence = f"DCN beats {name} by {_and(wins)}{_but(', though not by', losses)}."
    elif len(losses) > len(wins) and any(lead.home != other.method for lead in losses):
        outcome = "worse"
        sentence = (
            f"DCN does not beat {name}: it is behind by {_and(losses)}"
            f"{_but(', ahead by', wins)}."
        )
    elif wins or losses:
        outcome = "open"
        sentence = (
            f"Whether DCN beats {name} is open{_but('. It leads by', wins)}"
            f"{_but('. It is behind by', losses)}. A lead in a method's own space "
            "alone decides nothing."
        )
    else:
        outcome = "even"
        sentence = (
            f"No measure tells DCN and {name} apart, although their clusters differ "
            f"(agreement {other.agreement:.2f} of 1)."
        )
    return {"outcome": outcome, "sentence": sentence}


_FULL_NAMES = {
    "K-means": "plain K-means",
    "SAE+KM": "an autoencoder followed by K-means (SAE+KM)",
}


def _answer(rule: Rule, evidence: Evidence) -> dict[str, Any]:
    value = number(rule.value(evidence))
    side = "at least" if rule.good > rule.poor else "at most"
    beyond = "below" if rule.good > rule.poor else "above"
    return {
        "question": rule.question,
        "measure": rule.measure,
        "value": value,
        "grade": grade(value, rule.good, rule.poor),
        "rule": f"yes: {side} {rule.good:g}; no: {beyond} {rule.poor:g}",
        "advice": rule.advice,
    }


def _level(grades: list[Grade]) -> Level:
    """Combine grades: one poor one decides; unknown stability is no reason to trust."""
    if "poor" in grades:
        return "distrust"
    return "care" if "fair" in grades or grades[0] == "unknown" else "trust"


def _reasons(answers: list[dict[str, Any]], evidence: Evidence) -> list[str]:
    """Name what speaks against the clusters; if nothing does, what speaks for them."""
    stable = answers[0]
    reasons = [
        f"{a['question']} {'No' if a['grade'] == 'poor' else 'Not quite'}: "
        f"{a['measure']} {a['value']:.2f}. {a['advice']}"
        for a in answers
        if a["grade"] in ("poor", "fair")
    ]
    if stable["grade"] == "good":
        reasons.insert(
            0,
            f"{evidence.n_starts} independent starts agree "
            f"(stability {stable['value']:.2f} of 1).",
        )
    if stable["grade"] == "unknown":
        reasons.append(
            "How stable they are was not measured, as there was one start only. "
            "Fit with --n-init 4 to know."
        )
    return reasons


def _and(leads: list[Lead]) -> str:
    return " and ".join(lead.said for lead in leads)


def _but(words: str, leads: list[Lead]) -> str:
    return f"{words} {_and(leads)}" if leads else ""


def _jsonable(scores: Scores) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) else number(value)
        for name, value in scores._asdict().items()
    }
