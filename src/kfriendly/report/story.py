"""All that the report shows of a fit, as JSON: computed once, drawn by `page`."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import kfriendly
from kfriendly.estimator import DCN
from kfriendly.inputs import Batch, Features
from kfriendly.inputs.array_features import ArrayFeatures
from kfriendly.metrics import margin_confidence
from kfriendly.report.cards import (
    Clustered,
    find_differences,
    make_cards,
    telling_columns,
)
from kfriendly.report.contents import kind_of, pack_columns, pack_texts
from kfriendly.report.curves import make_curves
from kfriendly.report.measures import Rows, gather
from kfriendly.report.packing import cost, excerpt, number, pack, plain
from kfriendly.report.plane import (
    MOST_POINTS,
    Plane,
    choose_rows,
    give_slots,
    make_plane,
)
from kfriendly.report.thumbnails import make_sheet
from kfriendly.report.verdict import judge

# Bytes of the parts that grow with the number of points; all of it stays below 3 MB.
_IDS, _CONTENT, _GALLERY = 700_000, 1_450_000, 350_000
_MOST_CLASSES = 30
_NOUNS = {"table": "rows", "text": "texts", "images": "images", "array": "rows"}


def tell_story(  # noqa: PLR0913 - all that a report says of a fit
    model: DCN,
    X: Any,
    batch: Batch,
    features: Features,
    *,
    command: str,
    fingerprint: str,
    seconds: float,
    seed: int | None,
    name: str = "",
    map_seconds: float = 180.0,
) -> dict[str, Any]:
    """Compute everything that the report shows.

    Parameters
    ----------
    model : DCN
        Fitted to `X`.
    X : ndarray or csr_array
        The features of the rows.
    batch : Batch
        The same rows as they came, with ids and, for scores only, labels.
    features : Features
        How the one was made from the other.
    command : str
        The command that repeats the fit.
    fingerprint : str
        SHA-256 of the input.
    seconds : float
        How long the fit took.
    seed : int or None
        Of the fit.
    name : str
        Of the data; the title of the page.
    map_seconds : float
        The map is drawn by t-SNE if that takes no longer than about this, else by PCA.

    Returns
    -------
    story : dict
        Only what JSON can hold.
    """
    rows = _clustered(model, X, batch, features)
    shown = choose_rows(len(rows.labels), _most_points(rows.ids))
    classes, class_names = _classes(batch.labels)
    evidence = gather(
        model,
        Rows(
            X[shown],
            rows.H[shown],
            rows.labels[shown],
            None if classes is None else classes[shown],
        ),
        shown,
        rows.confidence,
    )
    kind = kind_of(batch.content)
    cards = make_cards(rows, model.n_clusters)
    gallery = _hang_gallery(cards, rows) if kind == "images" else None
    plane = make_plane(rows.H[shown], map_seconds)
    return {
        "format": 1,
        "name": plain(name),
        "kind": kind,
        "noun": _NOUNS[kind],
        "n_rows": len(rows.labels),
        "n_features": int(X.shape[1]),
        "n_clusters": model.n_clusters,
        "verdict": judge(evidence),
        "map": _map(plane, rows, shown, classes),
        "slots": give_slots(plane.points, rows.labels[shown], model.n_clusters),
        "class_names": class_names,
        "gallery": gallery,
        "cards": cards,
        "curves": make_curves(getattr(model, "history_", None) or []),
        "confusion": _confusion(rows.labels, classes, class_names, model.n_clusters),
        "notes": [plain(note) for note in features.notes],
        "parameters": _parameters(model),
        "outcome": _outcome(model),
        "versions": _versions(),
        "command": plain(command),
        "fingerprint": fingerprint,
        "seconds": float(seconds),
        "seed": seed,
    }


def _clustered(model: DCN, X: Any, batch: Batch, features: Features) -> Clustered:
    H = np.asarray(model.transform(X))
    content = batch.content
    if isinstance(features, ArrayFeatures):  # only the columns that have names
        content = content[:, list(features.kept)]
    distances = cdist(H, model.cluster_centers_)
    return Clustered(
        X,
        content,
        [plain(i) for i in batch.ids],
        [plain(name) for name in features.names],
        H,
        np.asarray(model.predict(X)),
        distances,
        margin_confidence(distances),
    )


def _most_points(ids: list[str]) -> int:
    """Show fewer points if their ids, which must be whole, would fill the page."""
    if ids == [str(i) for i in range(len(ids))]:
        return MOST_POINTS
    taken = cost(ids[:MOST_POINTS])
    most = min(MOST_POINTS, len(ids))
    return most if taken <= _IDS else max(1, int(most * _IDS / taken))


def _classes(labels: np.ndarray | None) -> tuple[np.ndarray | None, list[str]]:
    if labels is None:
        return None, []
    names, codes = np.unique([plain(v) for v in labels], return_inverse=True)
    if all(name.lstrip("-").isdigit() for name in names):  # 2 stands before 10
        order = np.argsort([int(name) for name in names], kind="stable")
        names, codes = names[order], np.argsort(order)[codes]
    return codes, [excerpt(name, 40) for name in names]


def _map(
    plane: Plane, rows: Clustered, shown: np.ndarray, classes: np.ndarray | None
) -> dict[str, Any]:
    """Lay out the shown rows with all that hovering, searching and saving need."""
    spread = plane.points - plane.points.min(axis=0, initial=np.inf)
    # One scale for both directions: distances on the map keep their proportions.
    span = float(spread.max(initial=0.0)) or 1.0
    ids = [rows.ids[i] for i in shown]
    numbered = ids == [str(i) for i in shown]
    return {
        "method": plane.method,
        "sentence": plane.sentence,
        "n": len(shown),
        "width": float(spread[:, 0].max(initial=0.0)) / span,
        "height": float(spread[:, 1].max(initial=0.0)) / span,
        "x": pack(np.round(spread[:, 0] / span * 65_535), "u2"),
        "y": pack(np.round(spread[:, 1] / span * 65_535), "u2"),
        "cluster": pack(rows.labels[shown], "u2"),
        "confidence": pack(np.round(rows.confidence[shown] * 255), "u1"),
        "class": None if classes is None else pack(classes[shown], "u2"),
        "rows": pack(shown, "u4"),
        "ids": None if numbered else ids,
        **_hover(rows, shown),
    }


def _hover(rows: Clustered, shown: np.ndarray) -> dict[str, Any]:
    kind = kind_of(rows.content)
    found: dict[str, Any] = {"texts": None, "columns": [], "sheet": None}
    if kind == "text":
        found["texts"] = pack_texts([rows.content[i] for i in shown], _CONTENT)
    elif kind == "images":
        found["sheet"] = make_sheet(rows.content[shown], _CONTENT)
    else:
        K = rows.distances.shape[1]
        order = telling_columns(find_differences(rows.X, rows.labels, K))
        content = rows.content
        some = content.take(shown) if kind == "table" else content[shown]
        found["columns"] = pack_columns(some, rows.names, order, _CONTENT)
    return found


def _hang_gallery(
    cards: list[dict[str, Any]], rows: Clustered
) -> dict[str, Any] | None:
    """Put the cards' pictures on one sheet and tell each where its picture is."""
    pictures: list[np.ndarray] = []
    for card in cards:
        mine = rows.content[rows.labels == card["cluster"]]
        card["picture"] = None
        if len(mine):
            card["picture"] = len(pictures)
            pictures.append(np.round(mine.mean(axis=0)).astype(np.uint8))
        for example in (*card["nearest"], *card["borderline"]):
            example["picture"] = len(pictures)
            pictures.append(rows.content[example["row"]])
    return make_sheet(np.array(pictures), _GALLERY)


def _confusion(
    labels: np.ndarray, classes: np.ndarray | None, names: list[str], K: int
) -> dict[str, Any] | None:
    """Count rows of each class in each cluster, clusters in the best order."""
    if classes is None:
        return None
    counts = np.zeros((len(names), K), dtype=np.int64)
    np.add.at(counts, (classes, labels), 1)
    frequent = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:_MOST_CLASSES])
    left_out = len(names) - len(frequent)
    counts = counts[frequent]
    found, matched = linear_sum_assignment(-counts)
    rest = [k for k in range(K) if k not in set(matched.tolist())]
    order = [int(k) for _, k in sorted(zip(found, matched, strict=True))] + rest
    return {
        "classes": [names[i] for i in frequent],
        "clusters": order,
        "counts": counts[:, order].tolist(),
        "left_out": left_out,
    }


def _parameters(model: DCN) -> dict[str, str]:
    return {name: str(v) for name, v in model.get_params(deep=False).items()}


def _outcome(model: DCN) -> dict[str, float | None]:
    """Collect what training ended with."""
    return {
        "epochs of joint training": number(model.n_iter_),
        "weight lam": number(model.lam_),
        "mean reconstruction loss": number(model.reconstruction_error_),
        "sum of clustering costs": number(model.inertia_),
        "size of the learned space": number(model.cluster_centers_.shape[1]),
    }


def _versions() -> dict[str, str]:
    found = {"kfriendly": kfriendly.__version__, "Python": platform.python_version()}
    for package in ("torch", "scikit-learn", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a build without metadata
            found[package] = "unknown"
    return found
