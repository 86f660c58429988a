"""The paper's experiments, by one command each."""

from kfriendly.experiments.tables import TABLES

__all__ = ["TABLES"]
