"""The demo: two data sets, three methods, one picture."""

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from kfriendly.cli.progress import ShowProgress
from kfriendly.cli.screen import Screen
from kfriendly.datasets import make_sigmoid_sigmoid
from kfriendly.errors import DataScaleWarning
from kfriendly.estimator import DCN
from kfriendly.metrics import acc, ari, nmi
from kfriendly.report import Panel, draw_spaces
from kfriendly.training.threads import at_most_threads


class _Result(NamedTuple):
    """Labels of the three methods on one data set, and the learned space."""

    name: str
    X: np.ndarray
    y: np.ndarray
    H: np.ndarray
    labels: dict[str, np.ndarray]


def run_demo(out: Path, seed: int) -> None:
    """Cluster both data sets, print a table and write picture and report."""
    console = Console()
    began = time.perf_counter()
    with at_most_threads(1):  # more wait for each other on a machine that is not idle
        results = [_cluster(name, X, y, seed) for name, X, y in _data(seed)]
    table = _table(results)
    console.print(table)
    picture = out / "spaces.png"
    draw_spaces([(_panels(result), result.y) for result in results], picture)
    report = out / "report.md"
    report.write_text(_markdown(table, seed, picture), encoding="utf-8")
    seconds = time.perf_counter() - began
    console.print(f"{seconds:.0f} s of work. See {picture} and {report}.")


def _data(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield "synthetic, Eq. (9)", *make_sigmoid_sigmoid(random_state=seed)
    digits = load_digits()
    yield "digits", digits.data, digits.target


def _cluster(name: str, X: np.ndarray, y: np.ndarray, seed: int) -> _Result:
    K = len(np.unique(y))
    screen = Screen()
    screen.say(name)
    dcn = DCN(K, hidden=(128, 64), random_state=seed)
    with warnings.catch_warnings():  # corners of the digits are always blank
        warnings.simplefilter("ignore", DataScaleWarning)
        dcn.set_callbacks(ShowProgress(screen)).fit(X)
    screen.close()
    labels = {
        "K-means": KMeans(K, n_init=10, random_state=seed).fit_predict(X),
        "SAE+KM": dcn.sae_km_labels_,
        "DCN": dcn.labels_,
    }
    return _Result(name, X, y, dcn.transform(X), labels)


def _table(results: list[_Result]) -> Table:
    table = Table("data", "method", "NMI", "ARI", "ACC")
    for result in results:
        for method, labels in result.labels.items():
            scores = [f"{score(result.y, labels):.3f}" for score in (nmi, ari, acc)]
            table.add_row(result.name, method, *scores)
        table.add_section()
    return table


def _panels(result: _Result) -> list[Panel]:
    return [
        Panel(f"{result.name}: data, K-means", result.X, result.labels["K-means"]),
        Panel(f"{result.name}: learned space, DCN", result.H, result.labels["DCN"]),
    ]


def _markdown(table: Table, seed: int, picture: Path) -> str:
    """Write the table and the picture as a Markdown page."""
    header = [str(column.header) for column in table.columns]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    lines = [header, ["---"] * len(header), *zip(*cells, strict=True)]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return (
        "# kfriendly demo\n\n"
        f"`kfriendly demo --seed {seed}`. Scores against the known classes, which took "
        "no part in training.\n\n"
        f"{rows}\n\n![The data, and the space DCN has learned]({picture.name})\n"
    )
