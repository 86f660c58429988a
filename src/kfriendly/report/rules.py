"""The questions that clusters have to answer well before they are believed.

No rule looks at known classes. Each has two thresholds: on the good side of the first
all is well, beyond the second the clusters are not to be trusted, and between them
they are to be used with care. How they were set: docs/verdict.md.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from kfriendly.report.measures import BORDERLINE, Evidence
from kfriendly.report.packing import number

Grade = Literal["good", "fair", "poor", "unknown"]


class Rule(NamedTuple):
    """A question, its measure, two thresholds and what is said of each answer."""

    question: str
    measure: str
    value: Callable[[Evidence], float | None]
    good: float
    poor: float
    said: dict[Grade, str]

    def grade(self, value: float | None) -> Grade:
        """Grade a value; which side is good follows from the two thresholds."""
        if number(value) is None or value is None:
            return "unknown"
        sign = 1.0 if self.good > self.poor else -1.0
        if sign * value >= sign * self.good:
            return "good"
        return "poor" if sign * value < sign * self.poor else "fair"

    def in_words(self) -> str:
        """Write both thresholds."""
        sides = ("at least", "below") if self.good > self.poor else ("at most", "above")
        return f"yes: {sides[0]} {self.good:g}; no: {sides[1]} {self.poor:g}"


STABILITY = Rule(
    "Does another start find the same clusters?",
    "stability: mean adjusted Rand index between starts",
    lambda e: e.scores[0].stability if e.n_clusters > 1 else None,
    good=0.8,
    poor=0.5,
    said={
        "good": "Independent starts find the same clusters (stability {0:.2f} of 1).",
        "fair": "Another start finds partly other clusters (stability {0:.2f} of 1).",
        "poor": "Another start finds other clusters (stability {0:.2f} of 1): these "
        "are an accident. Try another number of clusters, or train longer.",
        "unknown": "How stable they are is not known, as there was only one start. "
        "Fit again with --n-init 4 to find out.",
    },
)

RULES = (
    STABILITY,
    Rule(
        "Do the clusters lie apart in the learned space?",
        "mean silhouette in the learned space",
        lambda e: e.scores[0].silhouette_learned,
        good=0.25,
        poor=0.1,
        said={
            "good": "They lie apart in the learned space (silhouette {0:.2f} of 1).",
            "fair": "They are close to each other in the learned space (silhouette "
            "{0:.2f} of 1). Fewer clusters may be clearer.",
            "poor": "They overlap even in the space learned to part them (silhouette "
            "{0:.2f} of 1). Try fewer clusters.",
        },
    ),
    Rule(
        "Is there more structure than in shuffled columns?",
        "neighbours in different clusters, over those that K-means parts in the same "
        "columns shuffled",
        lambda e: e.parted,
        good=0.5,
        poor=1.5,
        said={
            "fair": "They part {0:.2f} times as many neighbours as K-means does in "
            "shuffled columns: single columns may tell as much, or there may be no "
            "clusters at all.",
            "poor": "They part {0:.2f} times as many neighbours as K-means does in "
            "shuffled columns: they cut through the data. Try fewer clusters.",
        },
    ),
    Rule(
        "Is no cluster nearly everything?",
        "share of rows in the largest cluster",
        lambda e: e.largest_share if e.n_clusters > 1 else None,
        good=0.7,
        poor=0.95,
        said={
            "fair": "One cluster holds {0:.0%} of the rows. Look for outliers.",
            "poor": "One cluster holds {0:.0%} of the rows: nothing is told apart. "
            "Look for outliers, or lower the weight lam.",
        },
    ),
    Rule(
        "Are all clusters used?",
        "share of clusters without a row",
        lambda e: e.n_empty / e.n_clusters,
        good=0.0,
        poor=0.5,
        said={
            "fair": "{0:.0%} of the clusters have no row. Ask for fewer.",
            "poor": "{0:.0%} of the clusters have no row. Ask for far fewer.",
        },
    ),
    Rule(
        "Does the learned space keep what the data says?",
        "share of the data's variance that can be had back from the learned space",
        lambda e: e.kept,
        good=0.2,
        poor=0.0,
        said={
            "fair": "The learned space keeps only {0:.0%} of the data's variance. "
            "Train longer, or allow more components.",
            "poor": "The learned space has lost the data: a mean would do as well. "
            "Train longer, or lower the weight lam.",
        },
    ),
    Rule(
        "Do neighbours share a cluster?",
        "share of each row's nearest neighbours in its cluster, mean over clusters",
        lambda e: e.together if e.n_clusters > 1 else None,
        good=0.75,
        poor=0.4,
        said={
            "fair": "Only {0:.0%} of the rows next to a row are in its cluster.",
            "poor": "Only {0:.0%} of the rows next to a row are in its cluster: the "
            "clusters cut through the data. Try fewer clusters.",
        },
    ),
    Rule(
        "Do most rows clearly belong to one cluster?",
        f"share of rows with a confidence below {BORDERLINE:g}",
        lambda e: e.borderline if e.n_clusters > 1 else None,
        good=0.2,
        poor=0.5,
        said={
            "fair": "{0:.0%} of the rows lie between clusters; their confidence tells "
            "which.",
            "poor": "{0:.0%} of the rows lie between clusters: where one ends and the "
            "next begins is arbitrary.",
        },
    ),
)
