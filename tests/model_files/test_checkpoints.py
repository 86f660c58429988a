"""Training that was stopped goes on to the same result, bit for bit, or is refused."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from saved_models import make_rows

from kfriendly import (
    DCN,
    CheckpointMismatch,
    Checkpoints,
    CheckpointWarning,
    ModelFileError,
    Neighbors,
    NotSavable,
)
from kfriendly.model_files import MANIFEST, checkpoints, find_checkpoints
from kfriendly.model_files.files import WEIGHTS
from kfriendly.training.objective import Means

SMALL: dict[str, Any] = {
    "n_clusters": 3,
    "hidden": (8,),
    "n_init": 2,
    "pretrain_epochs": 2,
    "max_epochs": 2,
    "random_state": 0,
}
CASES: dict[str, dict[str, Any]] = {
    "mixture": {"views": None},
    "neighbours": {"views": Neighbors(3, n_steps=2)},
    "layer by layer": {"views": None, "layer_epochs": 2, "hidden": (8, 4)},
    "stored assignments": {
        "views": None,
        "assignment": "stored",
        "refresh_every": 1,
        "init": "kmeans",
        "pretrain_optimizer": "sgd",
    },
    "one start after another": {
        "views": None,
        "network": "conv",
        "input_shape": (4, 4),
        "hidden": "auto",
    },
    "subspaces": {"views": None, "criterion": "k_subspace", "n_components": 3},
}


class Interrupt:
    """A callback that presses Ctrl-C at the end of the n-th epoch."""

    def __init__(self, n: int) -> None:
        self._left = n

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self._left -= context.task_name == "epoch"
        if self._left == 0:
            raise KeyboardInterrupt
        return False


def fit(X: Any, interrupt_at: int = 0, **parameters: Any) -> DCN:
    model = DCN(**{**SMALL, **parameters})
    if interrupt_at:
        model.set_callbacks(Interrupt(interrupt_at))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def stop(X: Any, folder: Path, at: int = 3, **parameters: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit(X, at, checkpoints=folder, **parameters)


def without_time(model: DCN) -> list[Any]:
    return [
        [np.asarray(value).tolist() for value in record._replace(seconds=0)]
        for record in model.history_
    ]


def assert_same(model: DCN, expected: DCN, X: Any) -> None:
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.transform(X), expected.transform(X))
    assert np.array_equal(model.sae_km_labels_, expected.sae_km_labels_)
    assert np.array_equal(model.initial_labels_, expected.initial_labels_)
    assert model.start_scores_.tolist() == expected.start_scores_.tolist()
    for labels, others in zip(model.start_labels_, expected.start_labels_, strict=True):
        assert np.array_equal(labels, others)
    assert without_time(model) == without_time(expected)


@pytest.mark.parametrize("case", CASES)
def test_a_stopped_fit_goes_on_to_the_same_result(case: str, tmp_path: Path) -> None:
    X, parameters = make_rows(), CASES[case]
    expected = fit(X, **parameters)
    groups = 2 if case == "one start after another" else 1
    layers = 2 * 3 if "layer_epochs" in parameters else 0
    for at in range(1, groups * (layers + 4) + 1):
        folder = tmp_path / str(at)
        stop(X, folder, at, **parameters)
        model = fit(X, checkpoints=folder, **parameters)
        assert_same(model, expected, X)
        assert not folder.exists()


def test_sparse_rows_and_partial_fit_go_on_too(tmp_path: Path) -> None:
    X = sp.csr_array(np.maximum(make_rows(), 0))
    expected = fit(X)
    stop(X, tmp_path)
    model = fit(X, checkpoints=tmp_path)
    assert_same(model, expected, X)
    model.partial_fit(X)
    expected.partial_fit(X)
    assert np.array_equal(model.transform(X), expected.transform(X))


def test_smaller_steps_after_a_divergence_stay_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = make_rows()

    def diverge_once(patch: pytest.MonkeyPatch) -> None:
        answers = chain([False], repeat(True))
        patch.setattr(Means, "are_sound", lambda *_: next(answers))

    with monkeypatch.context() as patch:
        diverge_once(patch)
        expected = fit(X)
    with monkeypatch.context() as patch:
        diverge_once(patch)
        stop(X, tmp_path, 1)
    model = fit(X, checkpoints=tmp_path)
    assert_same(model, expected, X)
    rates = [each.history_[1].learning_rate for each in (model, fit(X))]
    assert rates[0] == rates[1] / 2


def test_stopped_again_and_again(tmp_path: Path) -> None:
    X = make_rows()
    for _ in range(3):
        stop(X, tmp_path, 1)
    assert_same(fit(X, checkpoints=tmp_path), fit(X), X)


def test_a_seed_that_nobody_gave_is_kept(tmp_path: Path) -> None:
    X = make_rows()
    stop(X, tmp_path, random_state=None)
    first = fit(X, checkpoints=Checkpoints(tmp_path, leave=True), random_state=None)
    again = fit(X, checkpoints=tmp_path, random_state=None)
    assert_same(again, first, X)


def test_the_graph_is_kept_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, views = make_rows(), Neighbors(3)
    stop(X, tmp_path, views=views)
    monkeypatch.setattr("kfriendly.training.run.make_views", None)
    fit(X, checkpoints=tmp_path, views=views)


def test_stopped_in_the_first_epoch_keeps_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, views = make_rows(), Neighbors(3)
    with monkeypatch.context() as patch:
        patch.setattr("kfriendly.training.loop._run_epoch", press_ctrl_c)
        stop(X, tmp_path, 99, views=views)
    assert find_checkpoints(tmp_path)
    expected = fit(X, views=views)
    monkeypatch.setattr("kfriendly.training.run.make_views", None)
    assert_same(fit(X, checkpoints=tmp_path, views=views), expected, X)


def press_ctrl_c(*_: Any) -> None:
    raise KeyboardInterrupt


def test_three_checkpoints_are_kept(tmp_path: Path) -> None:
    rule = Checkpoints(tmp_path, every=0, leave=True)
    fit(make_rows(), checkpoints=rule)
    names = [place.name for place in find_checkpoints(tmp_path)]
    assert names == ["epoch-000004", "epoch-000003", "epoch-000002"]


@pytest.mark.parametrize("name", [MANIFEST, WEIGHTS])
def test_broken_checkpoint_makes_way_for_the_one_before(
    name: str, tmp_path: Path
) -> None:
    X = make_rows()
    rule = Checkpoints(tmp_path, every=0)
    with pytest.raises(KeyboardInterrupt):
        fit(X, 4, checkpoints=rule)
    newest, *older = find_checkpoints(tmp_path)
    content = bytearray((newest / name).read_bytes())
    content[len(content) // 2] ^= 1
    (newest / name).write_bytes(content)
    with pytest.warns(CheckpointWarning, match="before it is tried"):
        model = DCN(**SMALL, checkpoints=tmp_path).fit(X)
    assert_same(model, fit(X), X)
    assert older


def test_no_checkpoint_that_can_be_used(tmp_path: Path) -> None:
    X = make_rows()
    stop(X, tmp_path)
    for place in find_checkpoints(tmp_path):
        (place / WEIGHTS).write_bytes(b"")
    with (
        pytest.warns(CheckpointWarning),
        pytest.raises(ModelFileError, match="Remove the folder"),
    ):
        DCN(**SMALL, checkpoints=tmp_path).fit(X)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"max_epochs": 7}, "max_epochs: 2 then, 7 now"),
        ({"random_state": 1}, "random_state: 0 then, 1 now"),
        ({"views": None}, "views"),
    ],
)
def test_other_parameters_are_refused(
    changed: dict[str, Any], words: str, tmp_path: Path
) -> None:
    X = make_rows()
    stop(X, tmp_path)
    with pytest.raises(CheckpointMismatch, match=words):
        fit(X, checkpoints=tmp_path, **changed)
    assert_same(fit(X, checkpoints=tmp_path), fit(X), X)  # nothing was lost


def test_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = make_rows()
    stop(X, tmp_path)
    monkeypatch.setattr(checkpoints, "__version__", "9.0")
    with pytest.raises(CheckpointMismatch, match=r'version: "0\.\S+" then, "9.0" now'):
        fit(X, checkpoints=tmp_path)


@pytest.mark.parametrize("sparse", [False, True])
def test_changed_rows_are_refused_unless_forced(sparse: bool, tmp_path: Path) -> None:
    X = np.maximum(make_rows(), 0)
    other = X.copy()
    other[17, 3] += 1
    if sparse:
        X, other = sp.csr_array(X), sp.csr_array(other)
    stop(X, tmp_path)
    with pytest.raises(CheckpointMismatch, match="data have changed"):
        fit(other, checkpoints=tmp_path)
    with pytest.raises(CheckpointMismatch, match="other data"):
        fit(X[:100], checkpoints=Checkpoints(tmp_path, force=True))
    fit(other, checkpoints=Checkpoints(tmp_path, force=True))


def test_a_full_disk_does_not_end_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = make_rows()
    with pytest.raises(KeyboardInterrupt):
        fit(X, 1, checkpoints=tmp_path)
    before = find_checkpoints(tmp_path)

    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoints, "write_stored", full)
    rule = Checkpoints(tmp_path, every=0, leave=True)
    with pytest.warns(CheckpointWarning, match="No space left"):
        model = DCN(**SMALL, checkpoints=rule).fit(X)
    assert find_checkpoints(tmp_path) == before
    assert list(tmp_path.glob("*.tmp-*")) == []
    assert_same(model, fit(X), X)


def test_two_fits_do_not_share_a_folder(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    lock.write_text(json.dumps({"pid": os.getpid(), "host": os.uname().nodename}))
    with pytest.raises(CheckpointMismatch, match="Another fit"):
        fit(make_rows(), checkpoints=tmp_path)
    lock.write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
    with pytest.raises(CheckpointMismatch, match="elsewhere"):
        fit(make_rows(), checkpoints=tmp_path)


def test_the_lock_of_a_dead_process_does_not_count(tmp_path: Path) -> None:
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        check=True,
        text=True,
    )
    lock = tmp_path / "lock.json"
    lock.write_text(json.dumps({"pid": int(gone.stdout), "host": os.uname().nodename}))
    fit(make_rows(), checkpoints=tmp_path)
    assert not lock.exists()


def test_parts_of_the_users_are_refused_before_training(tmp_path: Path) -> None:
    with pytest.raises(NotSavable, match="loss"):
        fit(make_rows(), loss=lambda a, b: (a - b).abs().sum(-1), checkpoints=tmp_path)


def test_a_saved_model_does_not_tell_where_checkpoints_were(tmp_path: Path) -> None:
    X = make_rows()
    fit(X, checkpoints=tmp_path / "secret").save(tmp_path / "model")
    assert b"secret" not in (tmp_path / "model" / MANIFEST).read_bytes()
    assert DCN.load(tmp_path / "model").checkpoints is None


_KILLED = """
import sys
from saved_models import make_rows
from kfriendly import DCN, Checkpoints
rule = Checkpoints(sys.argv[1], every=0, leave=True)
DCN(3, hidden=(8,), n_init=2, pretrain_epochs=30, max_epochs=30, random_state=0,
    checkpoints=rule).fit(make_rows())
"""


def test_killed_at_any_moment(tmp_path: Path) -> None:
    X = make_rows()
    long = {"pretrain_epochs": 30, "max_epochs": 30}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for wait in (0.0, 0.13, 0.29):
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", _KILLED, str(tmp_path)],
            env=environment,
        )
        seen = len(find_checkpoints(tmp_path))
        while not seen and process.poll() is None:
            time.sleep(0.01)
            seen = len(find_checkpoints(tmp_path))
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert find_checkpoints(tmp_path)
    assert_same(fit(X, checkpoints=tmp_path, **long), fit(X, **long), X)


def test_what_a_killed_process_left_is_no_checkpoint_and_goes(tmp_path: Path) -> None:
    X = make_rows()
    stop(X, tmp_path)
    for name in ("epoch-000009.tmp-77-1a2b3c44", "epoch-000001.old-77-1a2b3c45"):
        (tmp_path / name).mkdir()
    assert [place.name for place in find_checkpoints(tmp_path)] == ["epoch-000003"]
    assert_same(fit(X, checkpoints=tmp_path), fit(X), X)
    assert not tmp_path.exists()
