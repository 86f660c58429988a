"""`kfriendly paper`: the paper's tables, run and reported."""

import sys
import time
from pathlib import Path
from typing import cast, get_args

from kfriendly.errors import UnknownName
from kfriendly.experiments import TABLES
from kfriendly.experiments.base import Table
from kfriendly.experiments.results import Results
from kfriendly.experiments.runner import Choice, Fit, missing_fits, run_table
from kfriendly.experiments.settings import SettingName
from kfriendly.report.tables import table_page


def list_tables(folder: Path) -> None:
    """Print every key, and how many results there are."""
    width = max(map(len, TABLES))
    for key, table in TABLES.items():
        n_rows = len(Results(folder, key).read())
        found = f"{n_rows} results" if n_rows else "not run"
        print(f"{key:{width}}  {table.title}; {found}")


def run_table_aloud(table: Table, choice: Choice, folder: Path) -> bool:
    """Run what is missing of a table, with a line a fit and the time left."""
    results = Results(folder, table.key)
    missing = missing_fits(table, choice, results)
    print(f"{table.title}: {len(missing)} fits to run; results in {results.path}")
    began = time.monotonic()
    for number, fit in enumerate(run_table(table, choice, results), start=1):
        spent = time.monotonic() - began
        left = spent / number * (len(missing) - number) / 60
        print(f"{number}/{len(missing)} {_name(fit)}; {left:.0f} min left", flush=True)
    return True


def chosen(
    table: Table,
    methods: str | None,
    settings: str,
    seeds: int | None,
    rows: int | None,
) -> Choice:
    """Read lists with commas; refuse names that the table does not have."""
    wanted = tuple(methods.split(",")) if methods else table.methods
    kinds = tuple(settings.split(","))
    for kind, names, known in (
        ("method", wanted, table.methods),
        ("setting", kinds, get_args(SettingName)),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UnknownName(
                f"{table.key} has no {kind} {unknown[0]!r}; it has {', '.join(known)}."
            )
    return Choice(
        wanted, cast(tuple[SettingName, ...], kinds), seeds or table.seeds, rows
    )


def write_report(folder: Path, out: Path) -> bool:
    """Write all tables that have results to one page; tell whether there are any."""
    pages = []
    for key, table in TABLES.items():
        rows = Results(folder, key).read()
        if rows:
            pages.append(table_page(table, rows))
    if not pages:
        print(
            f"There are no results in {folder}; run `kfriendly paper run KEY` first.",
            file=sys.stderr,
        )
        return False
    head = (
        "# The paper's tables, and ours\n\n"
        "NMI, ARI and ACC: mean and deviation over seeds.\n"
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join([head, *pages]), encoding="utf-8")
    print(f"See {out}")
    return True


def find_table(key: str) -> Table:
    """Return a table by its key."""
    if key not in TABLES:
        raise UnknownName(
            f"There is no experiment {key!r}; there are {', '.join(TABLES)}."
        )
    return TABLES[key]


def _name(fit: Fit) -> str:
    method = "DCN" if len(fit.methods) > 1 else fit.methods[0]
    words = [fit.case.name, method, fit.setting, f"seed {fit.seed}"]
    return ", ".join(word for word in words if word)
