"""Which code made a result, as fields of a line."""

from pathlib import Path

from kfriendly.experiments.provenance import commit, versions

ROOT = Path(__file__).parent.parent


def provenance() -> dict[str, str]:
    """Return the commit, marked if the package differs from it, and the versions."""
    return {"commit": commit(), **versions()}
