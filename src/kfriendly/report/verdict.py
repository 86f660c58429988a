"""Whether to believe the clusters, and whether DCN was needed, in words."""

from typing import Any, Literal, NamedTuple

from kfriendly.report.measures import Evidence, Scores
from kfriendly.report.packing import number
from kfriendly.report.rules import RULES, Grade, Rule

Level = Literal["trust", "care", "distrust"]

# Measures closer than this are equal.
MARGIN = 0.02
_ONE = "There is only one cluster: nothing is told apart."
# Partitions with an adjusted Rand index above this are the same for most purposes.
SAME = 0.9


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
        "reasons": _reasons(answers, level) if evidence.n_clusters > 1 else [_ONE],
        "comparisons": [
            compare(evidence.scores[0], other) for other in evidence.scores[1:]
        ],
        "rules": answers,
        "scores": [_jsonable(scores) for scores in evidence.scores],
        "n_measured": evidence.n_measured,
        "n_starts": evidence.n_starts,
    }


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
    wins: list[Lead] = []
    losses: list[Lead] = []
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
            f"(agreement {other.agreement:.2f} of 1): {_MOOT[other.method]}."
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
    "SAE+KM": "K-means after pre-training alone (SAE+KM)",
}
_MOOT = {
    "K-means": "it would have done",
    "SAE+KM": "joint training changed little",
}


def _answer(rule: Rule, evidence: Evidence) -> dict[str, Any]:
    value = number(rule.value(evidence))
    grade = rule.grade(value)
    shown = value or 0.0
    return {
        "question": rule.question,
        "measure": rule.measure,
        "value": value,
        "grade": grade,
        "rule": rule.in_words(),
        "sentence": rule.said.get(grade, "").format(shown),
    }


def _level(grades: list[Grade]) -> Level:
    """Combine grades: one poor one decides; unknown stability is no reason to trust."""
    if "poor" in grades:
        return "distrust"
    return "care" if "fair" in grades or grades[0] == "unknown" else "trust"


def _reasons(answers: list[dict[str, Any]], level: Level) -> list[str]:
    """Name what decided the level first; what speaks for the clusters stands last."""
    grades = ("poor", "fair", "unknown") if level != "trust" else ("good",)
    said = [a["sentence"] for grade in grades for a in answers if a["grade"] == grade]
    stable = answers[0]
    if level != "trust" and stable["grade"] == "good":
        said.append(
            f"At least: {stable['sentence'][0].lower()}{stable['sentence'][1:]}"
        )
    return [sentence for sentence in said if sentence]


def _and(leads: list[Lead]) -> str:
    return " and ".join(lead.said for lead in leads)


def _but(words: str, leads: list[Lead]) -> str:
    return f"{words} {_and(leads)}" if leads else ""


def _jsonable(scores: Scores) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) else number(value)
        for name, value in scores._asdict().items()
    }
