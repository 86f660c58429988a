"""Checkpoints: the state of training in a folder, to go on from after a stop.

Each is a folder of its own, written as a whole or not at all, with the files of a
model: numbers and JSON, verified when read. The newest that is whole counts.
"""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kfriendly import __version__
from kfriendly.arguments import require
from kfriendly.errors import CheckpointMismatch, CheckpointWarning, ModelFileError
from kfriendly.model_files.checks import check_finite
from kfriendly.model_files.files import MANIFEST, Stored, read_stored, write_stored
from kfriendly.model_files.telling import errors_told
from kfriendly.model_files.values import Arrays, decode, encode
from kfriendly.storage import new_folder, write_new_file
from kfriendly.training.progress import Progress
from kfriendly.training.views import Walks

_FORMAT = "kfriendly checkpoint"
_LOCK = "lock.json"
# How many are kept: the newest may turn out to be broken.
_KEPT = 3
# Rows that are compared with those of the checkpoint; of the others only the sums.
_COMPARED_ROWS = 1_024
# They do not change what is learned, but for the last digits.
_FREE = {"checkpoints", "device"}


@dataclass(frozen=True)
class Checkpoints:
    """Where and how often the state of training is kept; for `DCN(checkpoints=...)`.

    Parameters
    ----------
    folder : str or Path
        A folder for nothing else; it is made.
    every : float
        Seconds between two checkpoints, at least; they are written between epochs,
        and when training is interrupted.
    leave : bool
        Whether the last one stays when the fit has come to its end.
    force : bool
        Whether to go on although the rows are not those of the checkpoint.
    """

    folder: str | Path
    every: float = 60.0
    leave: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        require(self.every >= 0, "Checkpoints: every", self.every, "0 or more seconds")


class FolderKeeper:
    """Keeps checkpoints in a folder, and finds the newest that is there.

    Parameters
    ----------
    rule : Checkpoints
    parameters : dict
        Of the estimator.
    X : ndarray or csr_array
        The rows that are trained on.

    Attributes
    ----------
    found : Progress or None
        What to go on from.
    """

    def __init__(
        self,
        rule: Checkpoints,
        parameters: dict[str, Any],
        X: np.ndarray | sp.csr_array,
    ) -> None:
        self._folder = Path(rule.folder)
        self._every = rule.every
        self._about: dict[str, Any] = {
            "version": __version__,
            "parameters": _comparable(parameters),
            "rows": {"shape": list(X.shape), "sha256": _digest_of(X)},
        }
        self._offered: Progress | None = None
        self._last_written = time.monotonic()
        self.found = self._find(force=rule.force)

    def offer(self, progress: Progress) -> None:
        """Write a checkpoint if the last one is old enough, else keep it at hand."""
        self._offered = progress
        if time.monotonic() - self._last_written >= self._every:
            self.write()

    def write(self) -> None:
        """Write what was offered last; if that fails, warn and let training go on."""
        progress, self._offered = self._offered, None
        if progress is None:
            return
        arrays: Arrays = {}
        content = {
            "about": self._about,
            "progress": encode(progress, "progress", arrays),
        }
        place = self._folder / f"epoch-{len(progress.records):06d}"
        try:
            with new_folder(place, overwrite=True, marker=MANIFEST) as folder:
                write_stored(folder, Stored(content, arrays), _FORMAT)
        except OSError as error:
            warnings.warn(
                f"No checkpoint could be written to {place}: {error.strerror}. "
                "Training goes on; the checkpoints before are as they were.",
                CheckpointWarning,
                stacklevel=2,
            )
        self._last_written = time.monotonic()
        for old in find_checkpoints(self._folder)[_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)

    def clear(self) -> None:
        """Remove all checkpoints."""
        clear_checkpoints(self._folder)

    def _find(self, *, force: bool) -> Progress | None:
        """Read the newest checkpoint that is whole, and make sure it is of this fit."""
        there = find_checkpoints(self._folder)
        for place in there:
            try:
                stored = read_stored(place, _FORMAT)
                with errors_told(place):
                    about, progress = self._read(stored)
            except ModelFileError as error:
                warnings.warn(
                    f"{error} The checkpoint before it is tried.",
                    CheckpointWarning,
                    stacklevel=4,
                )
            else:
                self._refuse_other_fit(about)
                self._refuse_other_rows(about["rows"], force=force)
                return progress
        if there:
            raise ModelFileError(
                f"None of the {len(there)} checkpoints in {self._folder} can be used. "
                "Remove the folder to start from the beginning."
            )
        return None

    def _read(self, stored: Stored) -> tuple[dict[str, Any], Progress]:
        """Return what a checkpoint says it is of, and what it holds."""
        content, arrays = stored
        about = {name: content["about"][name] for name in self._about}
        check_finite(arrays, "progress.kept.")
        progress = decode(content["progress"], arrays)
        if not isinstance(progress, Progress):
            raise ValueError("it holds no state of training")
        if progress.walks is not None:
            _check_graph(progress.walks, n_rows=about["rows"]["shape"][0])
        return about, progress

    def _refuse_other_fit(self, about: dict[str, Any]) -> None:
        then, now = (
            {"version": found["version"], **found["parameters"]}
            for found in (about, self._about)
        )
        pairs = {n: (then.get(n), now.get(n)) for n in sorted({*then, *now})}
        differences = [
            f"{name}: {json.dumps(a)[:80]} then, {json.dumps(b)[:80]} now"
            for name, (a, b) in pairs.items()
            if a != b
        ]
        if differences:
            raise CheckpointMismatch(
                f"The checkpoint in {self._folder} is of another fit.\n"
                f"{'; '.join(differences)}.\n"
                "Use the same again, or another folder, or remove this one."
            )

    def _refuse_other_rows(self, rows: dict[str, Any], *, force: bool) -> None:
        now = self._about["rows"]
        if rows["shape"] != now["shape"]:
            raise CheckpointMismatch(
                f"The checkpoint in {self._folder} is of other data.\nIt had "
                f"{rows['shape']} rows and columns, X has {now['shape']}.\n"
                "Use the same data again, or remove the folder to start anew."
            )
        if rows["sha256"] != now["sha256"] and not force:
            raise CheckpointMismatch(
                f"The data have changed since the checkpoint in {self._folder}.\n"
                "Rows and columns are as many, but the values are others.\n"
                "Use the data as they were, remove the folder to start anew, or go on "
                "all the same: Checkpoints(force=True), on the command line --force."
            )


@contextlib.contextmanager
def keeper_for(
    wanted: Checkpoints | str | Path | None,
    parameters: dict[str, Any],
    X: np.ndarray | sp.csr_array,
) -> Iterator[FolderKeeper | None]:
    """Yield who keeps the checkpoints of a fit; an interrupted fit leaves one."""
    if wanted is None:
        yield None
        return
    rule = wanted if isinstance(wanted, Checkpoints) else Checkpoints(wanted)
    folder = Path(rule.folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        keeper = FolderKeeper(rule, parameters, X)
        try:
            yield keeper
        except KeyboardInterrupt:
            keeper.write()
            raise
        if rule.leave:
            keeper.write()
        else:
            keeper.clear()
    with contextlib.suppress(OSError):  # not empty
        folder.rmdir()


def find_checkpoints(folder: Path) -> list[Path]:
    """List the checkpoints in a folder, the newest first."""
    whole = [place for place in _places(folder) if "." not in place.name]
    return sorted(whole, reverse=True)


def clear_checkpoints(folder: Path) -> None:
    """Remove the checkpoints in a folder, and the folder if nothing else is in it."""
    for place in _places(folder):
        shutil.rmtree(place, ignore_errors=True)
    with contextlib.suppress(OSError):  # not empty
        folder.rmdir()


def _places(folder: Path) -> list[Path]:
    """List checkpoints, and what is left of one whose process was killed."""
    return list(folder.glob("epoch-[0-9]*"))


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let no second fit use the folder; a lock whose process is gone does not count."""
    lock = folder / _LOCK
    own = {"pid": os.getpid(), "host": socket.gethostname()}
    content = json.dumps(own).encode()
    try:
        write_new_file(lock, content)
    except FileExistsError as error:
        if not _is_stale(lock, own["host"]):
            raise CheckpointMismatch(
                f"Another fit keeps its checkpoints in {folder}.\n"
                f"{lock} says: {lock.read_text(errors='replace')[:200]}\n"
                "Wait for it, or use another folder; if it is dead, remove that file."
            ) from error
        lock.unlink(missing_ok=True)
        write_new_file(lock, content)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _is_stale(lock: Path, host: Any) -> bool:
    """Tell whether the process that made a lock is known to be gone."""
    try:
        holder = json.loads(lock.read_text())
        if holder["host"] != host:
            return False
        os.kill(int(holder["pid"]), 0)  # sends nothing, but fails if there is none
    except (ProcessLookupError, FileNotFoundError):
        return True
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return False


def _check_graph(walks: Walks, *, n_rows: int) -> None:
    """Refuse a graph of other rows. Raises ValueError."""
    graph = walks.mutual
    if len(graph) != n_rows or graph.min() < 0 or graph.max() >= n_rows:
        raise ValueError("its graph of neighbours has rows that are not there")


def _comparable(parameters: dict[str, Any]) -> dict[str, Any]:
    """Turn parameters into JSON; raises NotSavable for one that is not ours.

    Only a seed that is a number is the same when it is given again.
    """
    arrays: Arrays = {}
    seed = parameters.get("random_state")
    kept = {name: value for name, value in parameters.items() if name not in _FREE}
    kept["random_state"] = seed if isinstance(seed, int | np.integer) else None
    content = {name: encode(value, name, arrays) for name, value in kept.items()}
    return dict(json.loads(json.dumps(content)))


def _digest_of(X: np.ndarray | sp.csr_array) -> str:
    """Compute a checksum of some rows, evenly spread, and of the sums of all."""
    chosen = X[np.unique(np.linspace(0, X.shape[0] - 1, _COMPARED_ROWS, dtype=int))]
    parts = (
        (chosen.data, chosen.indices, chosen.indptr) if sp.issparse(X) else (chosen,)
    )
    digest = hashlib.sha256(str(X.dtype).encode())
    for part in (np.asarray(X.sum(axis=0, dtype=np.float64)), *parts):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
