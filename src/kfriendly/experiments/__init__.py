"""The paper's experiments, by one command each."""

from kfriendly.experiments.figures import FIGURES
from kfriendly.experiments.tables import TABLES

__all__ = ["FIGURES", "TABLES"]
