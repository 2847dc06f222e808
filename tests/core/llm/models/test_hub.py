"""The real huggingface_hub against a hub of ours on the loopback interface."""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import psutil
import pytest

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.models import hub as hub_module
from desktop.core.llm.models.catalogue import HubSource
from desktop.core.llm.models.download import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from desktop.core.llm.models.catalogue import CatalogueModel
    from desktop.core.records import Progress

pytestmark = pytest.mark.slow

DATA = random.Random(5).randbytes(3_000_000)
SOURCE = HubSource("someone/some-model", "some.gguf", "main")


class Hub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = DATA
        self.etag = hashlib.sha256(DATA).hexdigest()
        self.status = 200
        self.stall_at = 0  # send so many bytes, then nothing for a while
        self.asked: list[tuple[str, str]] = []  # method, range
        self.closing = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no error."""


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""

    def do_HEAD(self) -> None:
        self._start()

    def do_GET(self) -> None:
        body = self._start()
        if self.server.stall_at:
            self.wfile.write(body[: self.server.stall_at])
            self.wfile.flush()
            self.server.closing.wait(20)
            return
        self.wfile.write(body)

    def _start(self) -> bytes:
        self.server.asked.append((self.command, self.headers.get("Range") or ""))
        assert "authorization" not in {key.lower() for key in self.headers}
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        start = int(found[1]) if found else 0
        body = self.server.data[start:]
        self.send_response(206 if found and self.server.status == 200 else self.server.status)
        self.send_header("Content-Length", str(len(body)))
        if found:
            size = len(self.server.data)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("ETag", f'"{self.server.etag}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.end_headers()
        return body


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # as the program sets it
    monkeypatch.setenv("HF_TOKEN", "secret")  # must not go out
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def model(model_of: Callable[..., CatalogueModel]) -> CatalogueModel:
    return model_of(DATA, sources=(SOURCE,))


def get(model: CatalogueModel, folder: Path) -> Path:
    return fetch(model, folder, progress=lambda _: None, cancelled=lambda: False)


def test_a_model_is_fetched_though_offline_is_set(
    hub: Hub, model: CatalogueModel, tmp_path: Path
) -> None:
    assert get(model, tmp_path).read_bytes() == DATA
    assert hub.asked[-1] == ("GET", "")
    assert not (tmp_path / ".partial" / "tiny").exists()


def test_a_daemonic_worker_may_fetch(hub: Hub, model: CatalogueModel, tmp_path: Path) -> None:
    worker = multiprocessing.get_context("spawn").Process(
        target=fetch,
        args=(model, tmp_path),
        kwargs={"progress": str, "cancelled": bool},  # what can be sent, and does nothing
        daemon=True,
    )
    worker.start()
    worker.join(timeout=60)
    assert worker.exitcode == 0
    worker.close()
    assert (tmp_path / model.file).read_bytes() == DATA


def test_a_stopped_download_is_resumed(hub: Hub, model: CatalogueModel, tmp_path: Path) -> None:
    hub.stall_at = 2_000_000
    stopped_at: list[float] = []

    def watch(progress: Progress) -> None:
        if progress.done > 1_000_000 and not stopped_at:
            stopped_at.append(time.monotonic())

    with pytest.raises(CancelledError):
        fetch(model, tmp_path, progress=watch, cancelled=lambda: bool(stopped_at))
    assert time.monotonic() - stopped_at[0] < 1
    assert not [child for child in psutil.Process().children() if "spawn_main" in str(child)]
    part = tmp_path / ".partial" / "tiny" / "0-hub" / "tiny-file.gguf.part"
    have = part.stat().st_size
    assert 1_000_000 < have <= 2_000_000
    hub.stall_at = 0
    assert get(model, tmp_path).read_bytes() == DATA
    assert hub.asked[-1] == ("GET", f"bytes={have}-")


def test_a_hub_that_stalls_is_given_up(
    hub: Hub, model: CatalogueModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.stall_at = 1_000_000
    monkeypatch.setattr(hub_module, "STALL_S", 3.0)
    with pytest.raises(UserFacingError, match="stopped answering"):
        get(model, tmp_path)


def test_another_file_under_that_name_is_refused(
    hub: Hub, model: CatalogueModel, tmp_path: Path
) -> None:
    hub.etag = "b" * 64
    with pytest.raises(UserFacingError, match="another file under that name"):
        get(model, tmp_path)
    assert {method for method, _ in hub.asked} == {"HEAD"}


def test_wrong_bytes_are_thrown_away(hub: Hub, model: CatalogueModel, tmp_path: Path) -> None:
    hub.etag = "short"
    hub.data = DATA[:-1] + bytes([DATA[-1] ^ 1])
    with pytest.raises(UserFacingError, match="thrown away"):
        get(model, tmp_path)
    assert not (tmp_path / ".partial" / "tiny" / "0-hub").exists()


def test_an_error_of_the_hub_is_told(hub: Hub, model: CatalogueModel, tmp_path: Path) -> None:
    hub.status = 404
    with pytest.raises(UserFacingError, match="error \\(404\\)"):
        get(model, tmp_path)


def test_a_hub_out_of_reach_is_told(
    model: CatalogueModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    start = time.monotonic()
    with pytest.raises(UserFacingError, match="can't be reached") as caught:
        get(model, tmp_path)
    assert "Check the connection" in caught.value.remedy
    assert time.monotonic() - start < 20
