"""Damaged and hostile model files: cases 36 to 42 of the fault list."""

import json
import os
import pickle
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from saved_models import (
    Change,
    fit,
    forge,
    forge_tensor,
    forge_weights,
    make_rows,
    read_manifest,
    seal,
    write_manifest,
)

from kfriendly import DCN, ModelFileError
from kfriendly.model_files import MANIFEST, WEIGHTS, read_stored

both_files = pytest.mark.parametrize("name", [MANIFEST, WEIGHTS])


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    parameters = {"n_init": 1, "hidden": (2,), "pretrain_epochs": 1, "max_epochs": 1}
    fit(make_rows(30, 3), **parameters).save(folder)
    return folder


@pytest.fixture
def model(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "model"))


def refused(folder: Path, match: str = "") -> None:
    """Check that a model is refused, soon, and with advice."""
    began = time.process_time()  # not the clock: others may be busy
    with pytest.raises(ModelFileError, match=match) as caught:
        DCN.load(folder)
    assert folder.name in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert time.process_time() - began < 5


@both_files
def test_case_36_truncated_at_every_length_is_refused(model: Path, name: str) -> None:
    path = model / name
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(ModelFileError, match=name):
            read_stored(model)
    refused(model, "empty" if name == MANIFEST else "has 0 bytes, not")


@both_files
@pytest.mark.parametrize("more", [b"\n", b"\0", b"}", b"x" * 10_000])
def test_case_36_appended_is_refused(model: Path, name: str, more: bytes) -> None:
    with (model / name).open("ab") as stream:
        stream.write(more)
    refused(model, name)


@both_files
@pytest.mark.parametrize("content", [b"\xff" * 999, b"{}", b"null", os.urandom(5000)])
def test_case_36_garbage_is_refused(model: Path, name: str, content: bytes) -> None:
    (model / name).write_bytes(content)
    refused(model, name)


@both_files
def test_case_36_missing_file_is_refused(model: Path, name: str) -> None:
    (model / name).unlink()
    refused(model, f"{name}.*No such file")


def test_case_36_missing_folder_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "nothing", "No such file.*Give the folder that DCN.save")


def test_case_36_folder_put_aside_by_a_killed_save_is_named(model: Path) -> None:
    model.rename(model.with_name("model.old-1-2"))
    refused(model, "older one was left as model.old-1-2")


@both_files
def test_case_37_one_flipped_bit_is_noticed(model: Path, name: str) -> None:
    path = model / name
    content = bytearray(path.read_bytes())
    n_bits = 8 * len(content)
    some = np.random.RandomState(0).randint(n_bits, size=300).tolist()
    for bit in [*range(64), *range(n_bits - 700, n_bits), *some]:
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="SHA-256|pickle"):
            read_stored(model)
        content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    read_stored(model)


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch"])
@pytest.mark.parametrize("place", ["model", MANIFEST, WEIGHTS, "sealed"])
def test_case_38_pickle_is_refused_and_nothing_of_it_run(
    model: Path, write: Callable[..., None], place: str
) -> None:
    sprung = model.parent / "sprung"
    with (model.parent / "trap").open("wb") as stream:
        write(Trap(sprung), stream)
    content = (model.parent / "trap").read_bytes()
    if place == "model":
        shutil.rmtree(model)
        model.write_bytes(content)
    elif place == "sealed":
        forge_weights(model, content)
    else:
        (model / place).write_bytes(content)
    refused(model, "pickle" if place in ("model", MANIFEST) else WEIGHTS)
    assert not sprung.exists()


def test_case_38_plain_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    refused(tmp_path / "data.csv", "is a file. A model is a folder")


def plan(**fields: Any) -> Change:
    return lambda manifest: manifest["plan"]["fields"].update(fields)


def network(hidden: list[int]) -> Change:
    fields = {"hidden": {"tuple": hidden}}
    return plan(build={"object": "MLPFactory", "fields": fields})


def weights_entry(**entry: Any) -> Change:
    return lambda manifest: manifest["files"][WEIGHTS].update(entry)


def attribute(name: str, value: Any) -> Change:
    return lambda manifest: manifest["attributes"]["dict"].update({name: value})


def parameter(name: str, value: Any) -> Change:
    return lambda manifest: manifest["parameters"]["dict"].update({name: value})


def scaling(**columns: list[Any]) -> Change:
    arrays = {
        name: {"numbers": values, "dtype": "float64", "shape": [3]}
        for name, values in columns.items()
    }
    return lambda m: m["attributes"]["dict"]["scaling_"]["fields"].update(arrays)


def many_tensors(manifest: dict[str, Any]) -> None:
    shape = {"dtype": "float32", "shape": []}
    manifest["tensors"].update({f"t{i}": shape for i in range(100_000)})


def huge_shape(manifest: dict[str, Any]) -> None:
    manifest["tensors"]["state.cluster.M"]["shape"] = [10**9, 10**9]


def image(shape: list[int], channels: list[int]) -> dict[str, Any]:
    fields = {"input_shape": {"tuple": shape}, "channels": {"tuple": channels}}
    return {"object": "ConvFactory", "fields": fields}


HOSTILE: dict[str, tuple[Change, str]] = {
    "huge layers": (network([10**6, 10**6]), "needs 3 layers of 10000060000"),
    "many layers": (network([1] * 100_000), "needs 100001 layers"),
    "huge image": (plan(build=image([10**6, 10**6], [4])), "needs 2 layers"),
    "huge kernels": (plan(build=image([1, 3], [10**6, 10**6])), "needs 3 layers"),
    "latent space": (plan(n_components=10**9), "weights"),
    "negative K": (plan(n_clusters=-3), "n_clusters=-3"),
    "K": (plan(n_clusters=4), "n_clusters=4"),
    "R": (plan(n_components=2), "n_components=2"),
    "columns": (plan(n_features=2), "has the size"),
    "100,000 tensors": (many_tensors, "> 20000"),
    "huge shape": (huge_shape, "not those of the manifest"),
    "negative size": (weights_entry(size=-1), "no size"),
    "huge size": (weights_entry(size=10**18), "not 1000000000000000000"),
    "size in words": (weights_entry(size="1"), "no size"),
    "no checksum": (weights_entry(sha256=None), "SHA-256"),
    "unknown object": (plan(build={"object": "os.system", "fields": {}}), "os.system"),
    "unknown tag": (plan(build={"eval": "1"}), "'eval'"),
    "unknown tensor": (attribute("labels_", {"tensor": "state.x"}), "no tensor"),
    "unknown field": (plan(colour=1), "no field 'colour'"),
    "wrong type": (plan(joint="x"), "joint cannot be"),
    "unknown parameter": (parameter("colour", 1), "colour"),
    "wrong parameter": (parameter("n_clusters", "many"), "n_clusters"),
    "wrong device": (parameter("device", "nowhere"), "nowhere"),
    "empty device": (parameter("device", "meta"), "holds no numbers"),
    "private attribute": (attribute("_state", 1), "'_state'"),
    "method as attribute": (attribute("predict", 1), "'predict'"),
    "no attribute": (lambda m: m["attributes"]["dict"].pop("lam_"), "lam_"),
    "names": (attribute("feature_names_in_", {"strings": ["a"]}), "feature_names_in_"),
    "object array": (
        attribute("x_", {"numbers": [1], "dtype": "object", "shape": [1]}),
        "not a type of numbers",
    ),
    "random numbers": (
        parameter("random_state", {"random_state": [[0] * 624, 10**6, 0, 0.0]}),
        "impossible",
    ),
    "no state": (lambda m: m.pop("state"), "state"),
    "no weights": (lambda m: m["state"]["dict"].pop("network"), "state has only"),
    "NaN scale": (scaling(mean=[{"float": "nan"}, 0, 0]), "scaling_ has values"),
    "zero scale": (scaling(size=[0, 1, 1]), "scaling_ has values"),
    "list for a manifest": (lambda m: m.update(state=[1]), "state|indices"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_case_39_hostile_manifest_is_refused_soon(model: Path, name: str) -> None:
    change, match = HOSTILE[name]
    forge(model, change)
    refused(model, match)


BODIES = {
    "duplicate key": (b'{"format": "kfriendly model", "format": 1', "given twice"),
    "NaN": (b'{"a": NaN', "NaN is not a number"),
    "infinity": (b'{"a": -Infinity', "-Infinity is not a number"),
    "overflow": (b'{"a": 1e999', "too large"),
    "long number": (b'{"a": ' + b"9" * 100_000, "cannot be used"),
    "deep list": (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000, "too deeply"),
    "deep object": (b'{"a": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, "deeply"),
    "many values": (b'{"a": [' + b"0," * 3_000_000 + b"0]", "values"),
    "many bytes": (b'{"a": "' + b"a" * 2**24 + b'"', "more than 16777216"),
    "not ASCII": ('{"a": "ä"'.encode(), "cannot be used"),
    "no JSON": (b"hello", "cannot be used"),
    "other format": (b'{"format": "other"', "does not say format"),
    "nothing more": (b'{"format": "kfriendly model", "format_version": 1', "tensors"),
}


@pytest.mark.parametrize("name", BODIES)
def test_case_39_hostile_json_is_refused_soon(model: Path, name: str) -> None:
    body, match = BODIES[name]
    (model / MANIFEST).write_bytes(seal(body))
    refused(model, match)


@pytest.mark.parametrize(
    "path", ["../weights.safetensors", "/etc/passwd", "./weights.safetensors", ""]
)
def test_case_40_other_paths_are_refused(model: Path, path: str) -> None:
    def rename(manifest: dict[str, Any]) -> None:
        manifest["files"] = {path: manifest["files"][WEIGHTS]}

    shutil.copy(model / WEIGHTS, model.parent / WEIGHTS)
    forge(model, rename)
    refused(model, "it names the files")


@both_files
def test_case_40_symbolic_link_is_refused(model: Path, name: str) -> None:
    (model / name).rename(model.parent / "elsewhere")
    (model / name).symlink_to(model.parent / "elsewhere")
    refused(model, name)


@both_files
def test_case_40_pipe_is_refused_without_waiting(model: Path, name: str) -> None:
    (model / name).unlink()
    os.mkfifo(model / name)
    refused(model, "not a plain file")


def test_folder_reached_by_a_link_is_read(model: Path) -> None:
    (model.parent / "latest").symlink_to(model)
    DCN.load(model.parent / "latest")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name", ["state.network.network.encoder.0.weight", "state.cluster.M", "state.lam"]
)
def test_case_41_weights_that_are_not_finite_are_refused(
    model: Path, name: str, value: float
) -> None:
    tensor = load_file(model / WEIGHTS)[name].copy()
    tensor.flat[0] = value
    forge_tensor(model, name, tensor)
    refused(model, f"{name} has NaN or infinite")


@pytest.mark.parametrize(
    "name, shape, match",
    [
        ("state.cluster.M", (4, 3), "n_clusters=3"),
        ("state.cluster.M", (3, 2), "n_components=3"),
        ("state.cluster.c", (1,), "clusters' c"),
        ("state.network.network.encoder.0.weight", (2, 4), "shape"),
        ("state.optimizer.0", (1,), "shape"),
        ("state.lam", (2,), "shape"),
    ],
)
def test_case_41_other_shapes_are_refused(
    model: Path, name: str, shape: tuple[int, ...], match: str
) -> None:
    dtype = load_file(model / WEIGHTS)[name].dtype
    forge_tensor(model, name, np.ones(shape, dtype))
    refused(model, match)


def test_case_41_other_types_are_refused(model: Path) -> None:
    name = "state.network.network.encoder.0.weight"
    forge_tensor(model, name, load_file(model / WEIGHTS)[name].astype(np.float64))
    refused(model, "state.network")


def test_case_41_impossible_generator_is_refused(model: Path) -> None:
    forge_tensor(model, "state.rng", np.full(5056, 255, np.uint8))
    refused(model, "mt19937")


def test_case_42_newer_format_names_the_version_needed(model: Path) -> None:
    newer = {"format_version": 2, "kfriendly_version": "9.8"}
    forge(model, lambda manifest: manifest.update(newer))
    refused(model, "format 2, written by kfriendly 9.8.*pip install --upgrade")


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.5, None])
def test_case_42_version_that_never_was_is_refused(model: Path, version: Any) -> None:
    forge(model, lambda manifest: manifest.update(format_version=version))
    refused(model, "there is no format")


def places(value: Any) -> list[tuple[Any, Any]]:
    """List every place in a tree of JSON, as a container and a key."""
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        inner = [place for key in keys for place in places(value[key])]
        return [(value, key) for key in keys] + inner
    return []


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
JSON = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(data=st.data())
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_case_39_any_change_is_refused_or_harmless(model: Path, data: Any) -> None:
    whole = (model / MANIFEST).read_bytes()
    manifest = read_manifest(model)
    container, key = data.draw(st.sampled_from(places(manifest)))
    container[key] = data.draw(JSON)
    try:
        write_manifest(model, manifest)
        DCN.load(model)
    except ModelFileError as error:
        assert "Error" not in str(error)
    finally:
        (model / MANIFEST).write_bytes(whole)


def test_case_42_what_an_older_file_has_not_is_as_by_default(model: Path) -> None:
    def forget(manifest: dict[str, Any]) -> None:
        del manifest["plan"]["fields"]["rules"]["fields"]["clip"]
        del manifest["parameters"]["dict"]["refresh_every"]
        del manifest["attributes"]["dict"]["start_scores_"]

    forge(model, forget)
    loaded = DCN.load(model)
    assert loaded._plan.rules.clip is None
    assert loaded.refresh_every is None


def test_manifest_is_json_that_any_reader_reads(original: Path) -> None:
    text = (original / MANIFEST).read_text(encoding="ascii")
    assert json.loads(text)["format"] == "kfriendly model"
