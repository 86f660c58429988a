"""From what is written on the command line to an input."""

import shutil
import sys
import tempfile
from pathlib import Path
from weakref import finalize

from kfriendly.inputs.base import Input, InputOptions
from kfriendly.inputs.complaints import complain, refuse_options

_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow", ".ipc")
_CSV = (".csv", ".tsv", ".tab")
_LINES = (".txt", ".text", ".md")
# How a file begins, for standard input, which has no name.
_STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x93NUMPY": ".npy",
    b"PK": ".npz",
}
_OF_COLUMNS = ("text", "id", "label", "columns", "drop")
_KNOWN = (
    "CSV, TSV, Parquet, Feather, NPY, NPZ, text with --lines, or a folder of images"
)


def open_input(spec: str, options: InputOptions) -> Input:
    """Open an input; what it is shows from its name and the options.

    Parameters
    ----------
    spec : str
        A path, "-" for standard input, or "data:NAME" for a data set; options of a
        data set follow with commas, "data:mnist,part=test".
    options : InputOptions

    Returns
    -------
    Input

    Examples
    --------
    >>> open_input("data:digits", InputOptions()).read().content.shape
    (1797, 8, 8)
    """
    if spec.startswith("data:"):
        from kfriendly.inputs.named import open_dataset

        own = ("text", "lines", "id", "label")
        refuse_options(options, own, spec, "a data set, with classes of its own")
        return open_dataset(spec.removeprefix("data:"))
    if spec == "-":
        return _open_standard_input(options)
    path = Path(spec)
    if path.is_dir():
        return _open_folder(path, spec, options)
    if not path.is_file():
        raise complain(
            f"{spec} is not there.",
            f"Looked for it in {Path.cwd()}." if not path.is_absolute() else "",
            "Check the path; a data set of the catalogue is written data:NAME.",
        )
    return _open_file(path, spec, options)


def _open_standard_input(options: InputOptions) -> Input:
    """Keep standard input in a file that goes with the input: it is read twice."""
    with tempfile.NamedTemporaryFile(prefix="kfriendly-", delete=False) as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    path = Path(copy.name)
    with path.open("rb") as stream:
        start = stream.read(8)
    suffix = next((s for mark, s in _STARTS.items() if start.startswith(mark)), ".csv")
    try:
        source = _open_by_suffix(path, suffix, "standard input", options)
    except BaseException:
        path.unlink()
        raise
    finalize(source, path.unlink, missing_ok=True)
    return source


def _open_file(path: Path, name: str, options: InputOptions) -> Input:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return _open_by_suffix(path, suffix, name, options)


def _open_by_suffix(path: Path, suffix: str, name: str, options: InputOptions) -> Input:
    if options.lines:
        from kfriendly.inputs.documents import LinesInput

        refuse_options(options, _OF_COLUMNS, name, "a text file, without columns")
        return LinesInput(path, name)
    if suffix in (".npy", ".npz"):
        from kfriendly.inputs import arrays

        refuse_options(options, ("text",), name, "an array of numbers")
        opened = arrays.open_npy if suffix == ".npy" else arrays.open_npz
        return opened(path, name, options)
    if suffix in (*_PARQUET, *_FEATHER, *_CSV):
        return _open_table([path], suffix, name, options)
    advice = (
        "--lines clusters a text file, a document a line."
        if suffix in _LINES
        else f"Known are {_KNOWN}; the ending of the name tells which."
    )
    raise complain(f"{name} is of no known kind.", f"Its name ends {suffix!r}.", advice)


def _open_table(
    paths: list[Path],
    suffix: str,
    name: str,
    options: InputOptions,
    folder: Path | None = None,
) -> Input:
    from kfriendly.inputs import arrow_files, csv_files, tables

    file: tables.TableFile
    if suffix in _PARQUET:
        file = arrow_files.ParquetFiles(paths, folder or paths[0].parent, name)
    elif suffix in _FEATHER:
        file = arrow_files.FeatherFile(paths[0], name)
    else:
        file = csv_files.CsvFile(paths[0], name)
    table = tables.TableInput(file, options)
    if options.text is None:
        return table
    return tables.TextColumnInput(table, options.text)


def _open_folder(folder: Path, name: str, options: InputOptions) -> Input:
    from kfriendly.inputs.images import SUFFIXES, ImageFolder

    # Names that begin with a dot or an underscore are notes of other programs.
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part[0] in "._" for part in path.relative_to(folder).parts)
    )
    found = {
        kind: [path for path in paths if path.suffix.lower() in suffixes]
        for kind, suffixes in (("P", _PARQUET), ("I", SUFFIXES), ("T", _LINES))
    }
    kinds = [kind for kind, some in found.items() if some]
    if len(kinds) != 1:
        what = "of several kinds" if kinds else "neither images, Parquet nor text files"
        raise complain(
            f"{name} cannot be clustered as a folder.",
            f"Its {len(paths):,} files are {what}.",
            "Give a folder of images, of Parquet files, or of .txt files.",
        )
    if kinds == ["P"]:
        return _open_table(found["P"], ".parquet", name, options, folder)
    if kinds == ["I"]:
        unusable = [option for option in _OF_COLUMNS if option != "label"]
        refuse_options(options, unusable, name, "a folder of images")
        return ImageFolder(found["I"], folder, name, options)
    from kfriendly.inputs.documents import TextFolderInput

    refuse_options(options, _OF_COLUMNS, name, "a folder of text files")
    return TextFolderInput(found["T"], folder, name)
