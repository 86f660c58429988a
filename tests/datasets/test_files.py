"""Files: verified, fetched, refused."""

import hashlib
from collections.abc import Iterator
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread

import pytest

from kfriendly.datasets.files import (
    DataFile,
    condition,
    data_folder,
    fetch,
    obtain,
)
from kfriendly.errors import DataCorrupt, DataNotFound

CONTENT = b"rows and rows"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NOWHERE = "http://127.0.0.1:9/rows"  # nothing listens on this port


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KFRIENDLY_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "rows").write_bytes(CONTENT)
    (tmp_path / "web" / "other").write_bytes(b"something else")
    handler = partial(_Quiet, directory=str(tmp_path / "web"))
    monkeypatch.setenv("NO_PROXY", "*")
    with HTTPServer(("127.0.0.1", 0), handler) as web:
        Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}/"
        web.shutdown()


def _file(*urls: str) -> DataFile:
    return DataFile("set/rows", len(CONTENT), (SHA256,), urls)


def test_absent_file_is_fetched_into_the_folder(folder: Path, server: str) -> None:
    assert obtain(_file(server + "rows")) == folder / "set" / "rows"
    assert (folder / "set" / "rows").read_bytes() == CONTENT


def test_second_address_serves_when_the_first_does_not(
    folder: Path, server: str
) -> None:
    assert fetch(_file(server + "absent", server + "rows")).read_bytes() == CONTENT


def test_wrong_content_is_refused_and_nothing_is_left(
    folder: Path, server: str
) -> None:
    with pytest.raises(DataNotFound, match="other"):
        fetch(_file(server + "other"))
    assert list((folder / "set").iterdir()) == []


def test_file_in_place_needs_no_network(folder: Path) -> None:
    (folder / "set").mkdir(parents=True)
    (folder / "set" / "rows").write_bytes(CONTENT)
    assert obtain(_file(NOWHERE)).read_bytes() == CONTENT


def test_another_packing_is_good_too(folder: Path) -> None:
    (folder / "set").mkdir(parents=True)
    (folder / "set" / "rows").write_bytes(CONTENT)
    assert condition(DataFile("set/rows", 13, ("0" * 64, SHA256))) == "good"


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", b"", b"sows" * 4])
def test_corrupt_file_is_never_used(folder: Path, content: bytes) -> None:
    (folder / "set").mkdir(parents=True)
    (folder / "set" / "rows").write_bytes(content)
    assert condition(_file()) == "corrupt"
    with pytest.raises(DataCorrupt, match="not used"):
        obtain(_file(NOWHERE))
    assert (folder / "set" / "rows").read_bytes() == content


def test_fetch_replaces_a_corrupt_file(folder: Path, server: str) -> None:
    (folder / "set").mkdir(parents=True)
    (folder / "set" / "rows").write_bytes(b"broken")
    assert fetch(_file(server + "rows")).read_bytes() == CONTENT


def test_offline_message_names_file_source_and_place(folder: Path) -> None:
    with pytest.raises(DataNotFound) as caught:
        obtain(_file(NOWHERE))
    message = str(caught.value)
    assert str(folder / "set" / "rows") in message
    assert NOWHERE in message and "KFRIENDLY_DATA" in message


def test_file_that_nobody_offers_says_so(folder: Path) -> None:
    with pytest.raises(DataNotFound, match="Nobody offers it"):
        obtain(_file())


def test_folder_is_in_the_users_cache_unless_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("KFRIENDLY_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "kfriendly" / "data"
