"""From what is written on the command line to an input."""

from pathlib import Path

from kfriendly.inputs.base import Input, InputOptions

_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq", ".feather", ".arrow", ".ipc")


def open_input(spec: str, options: InputOptions) -> Input:
    """Open an input; what it is shows from its name and the options.

    Parameters
    ----------
    spec : str
        A path, "-" for standard input, or "data:NAME" for a data set.
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

        return open_dataset(spec.removeprefix("data:"))
    path = Path(spec)
    return _open_file(path, spec, options)


def _open_file(path: Path, name: str, options: InputOptions) -> Input:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in (".npy", ".npz"):
        from kfriendly.inputs import arrays

        opener = arrays.open_npy if suffix == ".npy" else arrays.open_npz
        return opener(path, name, options)
    return _open_table(path, name, options)


def _open_table(path: Path, name: str, options: InputOptions) -> Input:
    from kfriendly.inputs.csv_files import CsvFile
    from kfriendly.inputs.tables import TableInput, TextColumnInput

    table = TableInput(CsvFile(path, name), options)
    return table if options.text is None else TextColumnInput(table, options.text)
