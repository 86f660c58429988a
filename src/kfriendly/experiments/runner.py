"""Running tables: what is not in the results yet, fit by fit."""

import multiprocessing
import resource
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.model_selection import KFold

from kfriendly.baselines import make_baseline
from kfriendly.datasets import Dataset
from kfriendly.errors import PeerNotFound, ResultsWarning
from kfriendly.estimator import DCN
from kfriendly.experiments.base import Case, Table, some_rows
from kfriendly.experiments.peer_worker import end_with_parent
from kfriendly.experiments.peers import PEERS, run_peer
from kfriendly.experiments.provenance import commit, versions
from kfriendly.experiments.results import Results, Row
from kfriendly.experiments.settings import SettingName, find_setting, offers
from kfriendly.metrics import acc, ari, nmi

# Several rows of a table come from one fit of DCN.
OF_DCN = ("DCN", "SAE+KM", "DCN-Training", "DCN-Testing")


class Choice(NamedTuple):
    """Which part of a table is run."""

    methods: tuple[str, ...]
    settings: tuple[SettingName, ...]
    seeds: int
    rows: int | None = None


class Fit(NamedTuple):
    """One fit, and the methods of the table it gives."""

    case: Case
    methods: tuple[str, ...]
    setting: str
    seed: int


class Part(NamedTuple):
    """What of the data a fit sees, and where it is kept until it is finished."""

    rows: int | None
    folds: int
    unfinished: Path


class Labels(NamedTuple):
    """Labels of a method, and the classes they are scored by."""

    method: str
    y: np.ndarray
    labels: np.ndarray


def fits_of(table: Table, choice: Choice) -> Iterator[Fit]:
    """List the fits of a table, seed by seed, so that all methods show early."""
    deep = tuple(m for m in choice.methods if m in OF_DCN)
    for seed in range(min(table.folds or choice.seeds, choice.seeds)):
        for case in table.cases:
            for method in choice.methods:
                if method not in deep:
                    yield Fit(case, (method,), "", seed)
            for setting in choice.settings if deep else ():
                if offers(case.settings, setting):
                    yield Fit(case, deep, setting, seed)


def missing_fits(table: Table, choice: Choice, results: Results) -> list[Fit]:
    """List the fits of which a row is not in the results."""
    done = {row.identity for row in results.read()}
    return [
        fit
        for fit in fits_of(table, choice)
        if any(
            (fit.case.name, method, fit.setting, fit.seed, choice.rows) not in done
            for method in fit.methods
        )
    ]


def run_table(table: Table, choice: Choice, results: Results) -> Iterator[Fit]:
    """Run what is missing; each fit is yielded when its rows are written."""
    for fit in missing_fits(table, choice, results):
        run = _run_apart if table.apart else run_fit
        part = Part(choice.rows, table.folds, _unfinished(results, fit, choice.rows))
        try:
            outcome = run(fit, part)
        except PeerNotFound as error:
            warnings.warn(f"Skipped: {error}", ResultsWarning, stacklevel=2)
            continue
        for method, y, labels in outcome.found:
            results.append(
                Row(
                    experiment=table.key,
                    case=fit.case.name,
                    method=method,
                    setting=fit.setting,
                    seed=fit.seed,
                    rows=choice.rows,
                    nmi=round(nmi(y, labels), 4),
                    ari=round(ari(y, labels), 4),
                    acc=round(acc(y, labels), 4),
                    seconds=outcome.seconds,
                    commit=commit(),
                    versions=versions(),
                    megabytes=outcome.megabytes,
                )
            )
        yield fit


class Outcome(NamedTuple):
    """Labels of a fit, and what it took."""

    found: list[Labels]
    seconds: float
    megabytes: int | None = None


def _unfinished(results: Results, fit: Fit, rows: int | None) -> Path:
    """Name the folder of a fit's checkpoints: no two fits, nor two codes, share one."""
    words = (fit.case.name, fit.setting, fit.seed, rows or "all", commit())
    name = "".join(c if c.isalnum() else "-" for c in "-".join(map(str, words)))
    return results.path.parent / "unfinished" / f"{results.path.stem}-{name}"


def _run_apart(fit: Fit, part: Part) -> Outcome:
    """Run a fit in a fresh process and tell the most memory it had."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, end_with_parent) as pool:
        outcome, megabytes = pool.submit(_run_and_weigh, fit, part).result()
    if outcome.megabytes is None:  # a peer has weighed itself
        outcome = outcome._replace(megabytes=megabytes)
    return outcome


def _run_and_weigh(fit: Fit, part: Part) -> tuple[Outcome, int]:
    outcome = run_fit(fit, part)
    return outcome, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_fit(fit: Fit, part: Part) -> Outcome:
    """Load the data, or a part of it, and fit."""
    data = some_rows(_load(fit.case, fit.seed if fit.case.drawn else 0), part.rows)
    if fit.methods[0] in PEERS:
        peer = run_peer(fit.methods[0], data.X, data.n_clusters, fit.seed)
        found = [Labels(fit.methods[0], data.y, peer.labels)]
        return Outcome(found, peer.seconds, peer.megabytes)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: scores tell
        found = _fit(fit, data, part)
    return Outcome(found, round(time.perf_counter() - began, 2))


@lru_cache(maxsize=1)
def _load(case: Case, seed: int) -> Dataset:
    return case.load_for(seed)


def _fit(fit: Fit, data: Dataset, part: Part) -> list[Labels]:
    """Fit on all rows, or on all but one part of a cross-validation.

    A fit that was stopped goes on; its seconds are those since.
    """
    X, y = data.X, data.y
    train = test = np.arange(len(y))
    if part.folds:
        parts = KFold(part.folds, shuffle=True, random_state=0).split(y)
        train, test = list(parts)[fit.seed]
    if not fit.setting:
        labels = _fit_shallow(fit.methods[0], data, fit.seed)
        return [Labels(fit.methods[0], y, labels)]
    name = cast(SettingName, fit.setting)  # "" is of baselines, done above
    setting = find_setting(fit.case.settings, name, len(train))
    if setting.factor is not None:
        X = _as_then(X, setting.factor * fit.case.unit)
    dcn = DCN(
        data.n_clusters,
        random_state=fit.seed,
        checkpoints=part.unfinished,
        **setting.params,
    ).fit(X[train])
    found = {
        "DCN": Labels("DCN", y[train], dcn.labels_),
        "SAE+KM": Labels("SAE+KM", y[train], dcn.sae_km_labels_),
        "DCN-Training": Labels("DCN-Training", y[train], dcn.labels_),
    }
    if "DCN-Testing" in fit.methods:
        labels = dcn.predict(X[test])
        found["DCN-Testing"] = Labels("DCN-Testing", y[test], labels)
    return [found[method] for method in fit.methods]


def _fit_shallow(method: str, data: Dataset, seed: int) -> np.ndarray:
    """Fit a baseline, or K-means after principal components."""
    X, K = data.X, data.n_clusters
    if method == "PCA+KM":
        method = "KM"
        reduce = TruncatedSVD if sp.issparse(X) else PCA
        n_components = min(50, *(n - 1 for n in X.shape))
        X = reduce(n_components, random_state=seed).fit_transform(X)
    return np.asarray(make_baseline(method, K, random_state=seed).fit_predict(X))


def _as_then(X: Any, unit: float) -> Any:
    """Put data in the units of the paper's learning rates; ReLU outputs need >= 0."""
    X = X.astype(np.float32) * np.float32(unit)
    smallest = X.min()
    return X - smallest if smallest < 0 else X
