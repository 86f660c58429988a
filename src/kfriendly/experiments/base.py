"""What an experiment of the paper is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kfriendly.datasets import Dataset
from kfriendly.experiments.settings import PAPERS, SettingName


class Scores(NamedTuple):
    """NMI, ARI and ACC as printed."""

    nmi: float
    ari: float
    acc: float


@dataclass(frozen=True)
class Case:
    """A data set of a table.

    Parameters
    ----------
    name : str
        As in the table; "" if it has one data set only.
    load : callable
        Returns the `Dataset`.
    settings : str
        Whose settings apply: a key of `settings.PRINTED`; "" if none are printed.
    unit : float
        Factor of the data under the settings "paper" and "authors", which have learning
        rates for data of this size.
    drawn : bool
        Whether each seed is another draw: `load` then takes a `random_state`.
    """

    name: str
    load: Callable[..., Dataset]
    settings: str = ""
    unit: float = 1.0
    drawn: bool = False

    def load_for(self, seed: int) -> Dataset:
        """Load the data of a seed, which is the same for all unless drawn."""
        return self.load(random_state=seed) if self.drawn else self.load()


@dataclass(frozen=True)
class Table:
    """A table of scores.

    Parameters
    ----------
    key : str
        Name on the command line.
    title : str
    cases : tuple of Case
    methods : tuple of str
        As in the paper, in its order; "DCN" and "SAE+KM" come from one fit.
    printed : dict
        The paper's figures, by case and method.
    seeds : int
        How many, unless told.
    note : str
        What a reader must know of ours.
    folds : int
        Parts of a cross-validation; zero is none.
    settings : tuple of str
        Settings of DCN that are run unless told.
    apart : bool
        Whether each fit has a process of its own, so that its memory can be told.
    """

    key: str
    title: str
    cases: tuple[Case, ...]
    methods: tuple[str, ...]
    printed: dict[tuple[str, str], Scores]
    seeds: int = 10
    note: str = ""
    folds: int = 0
    settings: tuple[SettingName, ...] = PAPERS
    apart: bool = False


def some_rows(data: Dataset, n_rows: int | None, seed: int = 0) -> Dataset:
    """Take a random part of the rows, for a quick look."""
    if n_rows is None or n_rows >= data.X.shape[0]:
        return data
    chosen = np.random.RandomState(seed).permutation(data.X.shape[0])[:n_rows]
    return data._replace(X=data.X[chosen], y=data.y[chosen])
