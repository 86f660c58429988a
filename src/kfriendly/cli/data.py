"""`kfriendly data`: which data sets there are, fetching and checking them."""

import sys

from rich.console import Console
from rich.table import Table

from kfriendly.datasets.base import Entry
from kfriendly.datasets.catalogue import DATASETS, find
from kfriendly.datasets.derived import condition_of
from kfriendly.datasets.files import condition, data_folder, fetch, in_words
from kfriendly.errors import DataCorrupt, DataNotFound


def list_datasets() -> None:
    """Print the catalogue, and which files are in the data folder."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "rows x columns", "what", "files"):
        table.add_column(heading, overflow="fold")
    for name, entry in DATASETS.items():
        table.add_row(name, entry.shape, entry.summary, _where(entry))
    console = _console()
    console.print(table)
    print(f"\nData folder: {data_folder()}; set KFRIENDLY_DATA for another.")
    print('In Python: from kfriendly.datasets import load; load("digits")')


def fetch_datasets(names: list[str]) -> bool:
    """Fetch what is absent or corrupt; tell whether all is here now."""
    all_here = True
    for name in names:
        if find(name).terms:
            print(f"{name}: {find(name).terms}")
        for file in find(name).files:
            if condition(file) != "good":
                try:
                    fetch(file)
                except DataNotFound as error:
                    print(error, file=sys.stderr)
                    all_here = False
                    continue
            print(f"{name}: {file.path} is here and whole")
        if find(name).made:
            all_here &= _make(name)
    return all_here


def check_datasets(names: list[str]) -> bool:
    """Verify the files that are here; tell whether none is corrupt."""
    entries = [find(name) for name in names]
    files = {file.path: condition(file) for entry in entries for file in entry.files}
    made = {
        entry.made: condition_of(data_folder() / entry.made)
        for entry in entries
        if entry.made
    }
    for path, found in (files | made).items():
        print(f"{found:8} {path}")
    sound = "corrupt" not in (files | made).values()
    if not sound:
        print(
            "Corrupt files are never used; `kfriendly data fetch NAME` replaces them.",
            file=sys.stderr,
        )
    return sound


def _make(name: str) -> bool:
    """Let the loader fetch by itself what is not here."""
    try:
        find(name).load()
    except (DataNotFound, DataCorrupt) as error:
        print(error, file=sys.stderr)
        return False
    print(f"{name}: {find(name).made} is here and whole")
    return True


def _where(entry: Entry) -> str:
    """Say in a word or two whether a data set's files are here; sizes, no checksums."""
    paths = [file.path for file in entry.files] + [entry.made] * bool(entry.made)
    if not paths:
        return "none needed"
    here = [(data_folder() / path).is_file() for path in paths]
    if all(here):
        return "here"
    size = sum(file.size for file in entry.files)
    found = "partly here" if any(here) else "not here"
    return f"{found}, {in_words(size)}" if size else found


def _console() -> Console:
    """Lines as wide as the terminal, or wide enough for a file."""
    return Console() if sys.stdout.isatty() else Console(width=140)
