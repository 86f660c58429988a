"""`kfriendly data`: which data sets there are, fetching and checking them."""

import sys

from rich.console import Console
from rich.table import Table

from kfriendly.datasets.base import Entry
from kfriendly.datasets.catalogue import DATASETS, find
from kfriendly.datasets.files import condition, data_folder, fetch, in_words
from kfriendly.errors import DataNotFound


def list_datasets() -> None:
    """Print the catalogue, and which files are in the data folder."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "rows x columns, and what can be chosen", "files", "terms"):
        table.add_column(heading, overflow="fold")
    for name, entry in DATASETS.items():
        table.add_row(name, entry.summary, _where(entry), entry.terms)
    console = _console()
    console.print(table)
    console.print(f"\nData folder: {data_folder()} (set KFRIENDLY_DATA for another)")


def fetch_datasets(names: list[str]) -> bool:
    """Fetch what is absent or corrupt; tell whether all is here now."""
    all_here = True
    for name in names:
        for file in find(name).files:
            if condition(file) != "good":
                try:
                    fetch(file)
                except DataNotFound as error:
                    print(error, file=sys.stderr)
                    all_here = False
                    continue
            print(f"{name}: {file.path} is here and whole")
        if name == "rcv1":
            all_here &= _fetch_rcv1()
    return all_here


def check_datasets(names: list[str]) -> bool:
    """Verify the files that are here; tell whether none is corrupt."""
    sound = True
    for name in names:
        for file in find(name).files:
            found = condition(file)
            sound &= found != "corrupt"
            print(f"{found:8} {name}: {file.path} ({in_words(file.size)})")
    if not sound:
        print(
            "Corrupt files are never used; `kfriendly data fetch NAME` replaces them.",
            file=sys.stderr,
        )
    return sound


def _fetch_rcv1() -> bool:
    """Let scikit-learn fetch RCV1's words, if they are not here."""
    try:
        DATASETS["rcv1"].load()
    except DataNotFound as error:
        print(error, file=sys.stderr)
        return False
    print("rcv1: the words are here")
    return True


def _where(entry: Entry) -> str:
    """Say in a word or two whether a data set's files are here; sizes, no checksums."""
    if not entry.files:
        return "none needed"
    here = [(data_folder() / file.path).is_file() for file in entry.files]
    if all(here):
        return "here"
    size = in_words(sum(file.size for file in entry.files))
    return f"{'partly here' if any(here) else 'not here'}, {size}"


def _console() -> Console:
    """Lines as wide as the terminal, or wide enough for a file."""
    return Console() if sys.stdout.isatty() else Console(width=140)
