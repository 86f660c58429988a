"""The paper's experiments, by one command each."""

from kfriendly.experiments.beyond import BEYOND
from kfriendly.experiments.figures import FIGURES
from kfriendly.experiments.tables import TABLES as _PRINTED

TABLES = {**_PRINTED, **{table.key: table for table in BEYOND}}

__all__ = ["FIGURES", "TABLES"]
