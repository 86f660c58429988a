"""Running tables: what is not in the results yet, fit by fit."""

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.model_selection import KFold

from kfriendly.baselines import make_baseline
from kfriendly.datasets import Dataset
from kfriendly.estimator import DCN
from kfriendly.experiments.base import Case, Table, some_rows
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


class Labels(NamedTuple):
    """Labels of a method, and the classes they are scored by."""

    method: str
    y: np.ndarray
    labels: np.ndarray


def fits_of(table: Table, choice: Choice) -> Iterator[Fit]:
    """List the fits of a table, seed by seed, so that all methods show early."""
    deep = tuple(m for m in choice.methods if m in OF_DCN)
    for seed in range(table.folds or choice.seeds):
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
    loaded: dict[str, Dataset] = {}
    for fit in missing_fits(table, choice, results):
        if fit.case.name not in loaded:
            loaded = {fit.case.name: some_rows(fit.case.load(), choice.rows)}
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence: scores tell
            found = _fit(fit, loaded[fit.case.name], table.folds)
        seconds = round(time.perf_counter() - began, 2)
        for method, y, labels in found:
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
                    seconds=seconds,
                    commit=commit(),
                    versions=versions(),
                )
            )
        yield fit


def _fit(fit: Fit, data: Dataset, folds: int) -> list[Labels]:
    """Fit on all rows, or on all but one part of a cross-validation."""
    X, y = data.X, data.y
    train = test = np.arange(len(y))
    if folds:
        parts = KFold(folds, shuffle=True, random_state=0).split(y)
        train, test = list(parts)[fit.seed]
    if not fit.setting:
        model = make_baseline(fit.methods[0], data.n_clusters, random_state=fit.seed)
        return [Labels(fit.methods[0], y, model.fit_predict(X))]
    name = cast(SettingName, fit.setting)  # "" is of baselines, done above
    setting = find_setting(fit.case.settings, name, len(train))
    if setting.factor is not None:
        X = _as_then(X, setting.factor * fit.case.unit)
    dcn = DCN(data.n_clusters, random_state=fit.seed, **setting.params).fit(X[train])
    found = {
        "DCN": Labels("DCN", y[train], dcn.labels_),
        "SAE+KM": Labels("SAE+KM", y[train], dcn.sae_km_labels_),
        "DCN-Training": Labels("DCN-Training", y[train], dcn.labels_),
    }
    if "DCN-Testing" in fit.methods:
        labels = dcn.predict(X[test])
        found["DCN-Testing"] = Labels("DCN-Testing", y[test], labels)
    return [found[method] for method in fit.methods]


def _as_then(X: Any, unit: float) -> Any:
    """Put data in the units of the paper's learning rates; ReLU outputs need >= 0."""
    X = X.astype(np.float32) * np.float32(unit)
    smallest = X.min()
    return X - smallest if smallest < 0 else X
