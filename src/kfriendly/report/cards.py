"""Clusters as cards: size, what sets each apart, examples, cohesion."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import silhouette_samples

from kfriendly.report.contents import Kind, kind_of, values_of_row
from kfriendly.report.measures import measured_rows
from kfriendly.report.packing import excerpt, number

_EXAMPLES = 6
_TERMS = 8
_TELLING = 0.3  # standard deviations


class Clustered(NamedTuple):
    """Rows with what the model says of each."""

    X: Any  # ndarray or csr_array
    content: Any
    ids: list[str]
    names: list[str]
    H: np.ndarray
    labels: np.ndarray
    distances: np.ndarray  # (n, K)
    confidence: np.ndarray


class Differences(NamedTuple):
    """How each cluster's mean differs from that of all rows, column by column."""

    means: np.ndarray  # (K, D)
    all_means: np.ndarray  # (D,)
    standardised: np.ndarray  # (K, D)


def make_cards(rows: Clustered, K: int) -> list[dict[str, Any]]:
    """Describe every cluster, the largest first."""
    kind = kind_of(rows.content)
    differences = find_differences(rows.X, rows.labels, K)
    cohesion = _cohesion(rows.H, rows.labels, K)
    order = telling_columns(differences)
    sizes = np.bincount(rows.labels, minlength=K)
    cards = []
    for k in np.argsort(-sizes, kind="stable"):
        features = _features(differences, rows.names, int(k), kind)
        cards.append(
            {
                "cluster": int(k),
                "size": int(sizes[k]),
                "share": float(sizes[k] / max(1, len(rows.labels))),
                "features": features,
                "cohesion": cohesion[k],
                "confidence": _mean(rows.confidence[rows.labels == k]),
                "neighbour": _neighbour(rows, int(k)),
                **_examples(rows, int(k), order),
            }
        )
    _name_cards(cards, kind)
    return cards


def find_differences(X: Any, labels: np.ndarray, K: int) -> Differences:
    """Compute the means of all columns in each cluster, in one pass for sparse too."""
    n, D = X.shape
    given = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(K, n))
    sums = given @ X
    sums = sums.toarray() if sp.issparse(sums) else np.asarray(sums)
    counts = np.bincount(labels, minlength=K)
    means = sums / np.maximum(counts, 1)[:, None]
    squares = X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)
    all_means = sums.sum(axis=0) / max(1, n)
    spread = np.ravel(squares.sum(axis=0)) / max(1, n) - all_means**2
    deviation = np.sqrt(np.maximum(spread, 0.0))
    varies = deviation > 1e-6 * (1e-12 + np.abs(all_means))
    standardised = (means - all_means) / np.where(varies, deviation, 1.0)
    standardised[:, ~varies] = 0.0
    standardised[counts == 0] = 0.0
    return Differences(means, all_means, standardised)


def telling_columns(differences: Differences) -> list[int]:
    """Order columns by their largest difference in any cluster."""
    strength = np.abs(differences.standardised).max(axis=0, initial=0.0)
    return [int(j) for j in np.argsort(-strength, kind="stable")]


def _features(
    differences: Differences, names: list[str], k: int, kind: Kind
) -> list[dict[str, Any]]:
    """List what sets a cluster apart; of words those it has more of only."""
    z = differences.standardised[k]
    if kind == "images":
        return []
    if kind == "text":
        # Words of a common size: the gain in weight, not its rarity, makes a topic.
        gain = differences.means[k] - differences.all_means
        chosen = [j for j in np.argsort(-gain, kind="stable")[:_TERMS] if gain[j] > 0]
    else:
        strongest = np.argsort(-np.abs(z), kind="stable")[:_TERMS]
        chosen = [j for j in strongest if abs(z[j]) > _TELLING]
    return [
        {
            "name": excerpt(names[j], 60),
            "z": float(z[j]),
            "mean": float(differences.means[k, j]),
            "all": float(differences.all_means[j]),
        }
        for j in chosen
    ]


def _name_cards(cards: list[dict[str, Any]], kind: Kind) -> None:
    """Name clusters by what sets them apart; two never share a name."""
    taken: set[str] = set()
    for card in cards:
        words = [_phrase(feature, kind) for feature in card["features"]]
        words.sort(key=lambda word: word.startswith("not "))  # what it is comes first
        name = ""
        for n_words in range(min(3, len(words)), len(words) + 1):
            name = ", ".join(words[:n_words])
            if name not in taken:
                break
        if not name or name in taken:
            name = f"{name} ({card['cluster']})" if name else ""
        taken.add(name)
        card["name"] = name or ("no rows" if not card["size"] else "")


def _phrase(feature: dict[str, Any], kind: Kind) -> str:
    if kind == "text":
        return str(feature["name"])
    if "=" in feature["name"] and 0 <= feature["mean"] <= 1:  # one value of a column
        return f"{'' if feature['z'] > 0 else 'not '}{feature['name']}"
    return f"{'high' if feature['z'] > 0 else 'low'} {feature['name']}"


def _cohesion(H: np.ndarray, labels: np.ndarray, K: int) -> list[float | None]:
    """Compute the mean silhouette of each cluster's rows in the learned space."""
    some = measured_rows(H.shape)
    given = labels[some]
    if not 1 < len(np.unique(given)) < len(given):
        return [None] * K
    values = silhouette_samples(H[some], given)
    return [_mean(values[given == k]) for k in range(K)]


def _neighbour(rows: Clustered, k: int) -> int | None:
    """Find the cluster that its rows are nearest to besides their own."""
    mine = rows.distances[rows.labels == k]
    if not len(mine) or rows.distances.shape[1] < 2:
        return None
    means = mine.mean(axis=0)
    means[k] = np.inf
    return int(np.argmin(means))


def _examples(rows: Clustered, k: int, order: list[int]) -> dict[str, Any]:
    """Choose the rows nearest the centre, and those nearly in another cluster."""
    mine = np.flatnonzero(rows.labels == k)
    near = mine[np.argsort(rows.distances[mine, k], kind="stable")[:_EXAMPLES]]
    unsure = mine[np.argsort(rows.confidence[mine], kind="stable")]
    edge = [i for i in unsure if i not in set(near.tolist())][:_EXAMPLES]
    return {
        "nearest": [_example(rows, int(i), order) for i in near],
        "borderline": [_example(rows, int(i), order) for i in edge],
    }


def _example(rows: Clustered, i: int, order: list[int]) -> dict[str, Any]:
    kind = kind_of(rows.content)
    text = ""
    if kind == "text":
        text = excerpt(rows.content[i], 140)
    elif kind != "images":
        text = values_of_row(rows.content, rows.names, order, i)
    other = np.argsort(rows.distances[i], kind="stable")
    second = int(other[other != rows.labels[i]][0]) if len(other) > 1 else None
    return {
        "row": i,
        "id": excerpt(rows.ids[i], 80),
        "text": text,
        "confidence": float(rows.confidence[i]),
        "second": second,
    }


def _mean(values: np.ndarray) -> float | None:
    return number(values.mean()) if len(values) else None
