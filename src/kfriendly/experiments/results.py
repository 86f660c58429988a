"""Results of experiments: a line of JSON each, appended as they come."""

import json
import warnings
from pathlib import Path
from typing import NamedTuple, Self

from kfriendly.errors import ResultsWarning


class Row(NamedTuple):
    """One method, fitted once."""

    experiment: str
    case: str
    method: str
    setting: str
    seed: int
    rows: int | None  # of a quick look; None is all
    nmi: float
    ari: float
    acc: float
    seconds: float
    commit: str
    versions: dict[str, str]
    megabytes: int | None = None  # at most, of a process of its own

    @property
    def identity(self) -> tuple[str, str, str, int, int | None]:
        """What must not be run twice."""
        return self.case, self.method, self.setting, self.seed, self.rows

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read a line; ValueError if it is not a whole row."""
        fields = json.loads(line)
        needed = set(cls._fields) - set(cls._field_defaults)
        if not isinstance(fields, dict) or not needed <= set(fields) <= set(
            cls._fields
        ):
            raise ValueError("not a row of results")
        return cls(**fields)


class Results:
    """The rows of one experiment in `folder`/KEY.jsonl.

    Parameters
    ----------
    folder : Path
    key : str
        The experiment.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / f"{key}.jsonl"

    def read(self) -> list[Row]:
        """Return all whole rows; warn of lines that are none, and leave them be."""
        if not self.path.exists():
            return []
        rows, broken = [], []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(Row.parse(line))
            except ValueError:
                broken.append(number)
        if broken:
            warnings.warn(
                f"{self.path}: line {', '.join(map(str, broken))} is not a whole "
                "result (was a run stopped while writing?). It is left as it is, and "
                "run again.",
                ResultsWarning,
                stacklevel=2,
            )
        return rows

    def append(self, row: Row) -> None:
        """Write a row on a line of its own, also after a line that was cut."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(row._asdict()).encode() + b"\n")
