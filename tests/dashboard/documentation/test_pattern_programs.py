"""The programs of the group Patterns against a server that refuses, loses answers, and changes its files meanwhile."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings

from dashboard.documentation import contents, expansion, personalization
from tests.dashboard.documentation import programs_of_pages
from tests.dashboard.documentation.programs_of_pages import Place

pytestmark = pytest.mark.live
KEY = {"API_KEY": "k"}
BOTH = pytest.mark.parametrize("language", ["python", "js"])


@dataclass
class Answer:
    """`status` 0: the connection is closed without an answer."""

    status: int
    body: str = "{}"
    headers: dict[str, str] = field(default_factory=dict)


REFUSED = Answer(429, headers={"Retry-After": "1"})
BUSY = Answer(503, headers={"Retry-After": "0"})


@contextmanager
def server(answer: Callable[[dict[str, str], dict[str, str]], Answer]) -> Iterator[str]:
    """Serve what `answer` makes of the query and the headers of each request, in lower case; yield the origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            made = answer(query, {name.lower(): value for name, value in self.headers.items()})
            if made.status:
                self.send_response(made.status)
                for name, value in {"Content-Length": str(len(made.body)), **made.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(made.body.encode())
            self.close_connection = True

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}"
        finally:
            listening.shutdown()


def program(slug: str, language: str, origin: str) -> str:
    """Return the first program of a page, which calls `origin`."""
    twin = personalization.visitor().fill(expansion.as_text(contents.pages()[slug]))
    return programs_of_pages.program(twin, Place(slug, language, 0)).replace(settings.BASE_URL, origin)


def as_write(text: str) -> str:
    """Return the program of the page about retries with POST in place of GET."""
    changed = text.replace('"GET",\n', '"POST",\n').replace('  headers: { "X', '  method: "POST",\n  headers: { "X')
    assert changed.count('"POST"') == 1
    return changed


def scripted(*answers: Answer) -> tuple[list[Answer], Callable[..., Answer]]:
    """Return the answers that are left, and a function that takes the next one."""
    left = list(answers)
    return left, lambda *_: left.pop(0)


@BOTH
@pytest.mark.parametrize("first", [REFUSED, BUSY, Answer(502), Answer(0)], ids=str)
def test_a_request_is_sent_again_after_a_refusal_or_no_answer(tmp_path: Path, language: str, first: Answer) -> None:
    left, answer = scripted(first, Answer(200, '{"user": 1}'))
    with server(answer) as origin:
        printed = programs_of_pages.run(program("patterns/retries", language, origin), language, tmp_path, KEY)
    assert programs_of_pages.read(printed, language) == {"user": 1}
    assert left == []


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_another_refusal_is_not_sent_again(tmp_path: Path, language: str, status: int) -> None:
    left, answer = scripted(Answer(status), Answer(200))
    with server(answer) as origin, pytest.raises(AssertionError):
        programs_of_pages.run(program("patterns/retries", language, origin), language, tmp_path, KEY)
    assert len(left) == 1


@BOTH
@pytest.mark.parametrize("first", [BUSY, Answer(500), Answer(0)], ids=str)
def test_a_write_that_may_have_been_carried_out_is_not_sent_again(tmp_path: Path, language: str, first: Answer) -> None:
    left, answer = scripted(first, Answer(200))
    with server(answer) as origin:
        text = as_write(program("patterns/retries", language, origin))
        with pytest.raises(AssertionError):
            programs_of_pages.run(text, language, tmp_path, KEY)
    assert len(left) == 1


@BOTH
def test_a_write_that_a_limit_refused_is_sent_again(tmp_path: Path, language: str) -> None:
    left, answer = scripted(REFUSED, Answer(200, '{"user": 1}'))
    with server(answer) as origin:
        text = as_write(program("patterns/retries", language, origin))
        assert programs_of_pages.read(programs_of_pages.run(text, language, tmp_path, KEY), language) == {"user": 1}
    assert left == []


@BOTH
def test_a_request_is_sent_four_times_at_most(tmp_path: Path, language: str) -> None:
    left, answer = scripted(*[BUSY] * 5)
    with server(answer) as origin, pytest.raises(AssertionError):
        programs_of_pages.run(program("patterns/retries", language, origin), language, tmp_path, KEY)
    assert left == [BUSY]


@dataclass
class Gallery:
    """A gallery, newest first, in which `change` happens before each request after the first."""

    files: list[int]
    change: Callable[[list[int]], None]
    is_read: bool = False

    def __call__(self, query: dict[str, str], _: dict[str, str]) -> Answer:
        if self.is_read:
            self.change(self.files)
        self.is_read = True
        limit, offset = int(query["limit"]), int(query["offset"])
        shown = [{"id": number} for number in self.files[offset : offset + limit]]
        return Answer(200, json.dumps({"files": shown, "total": len(self.files)}))


def upload(files: list[int]) -> None:
    files.insert(0, max(files) + 1)


def delete(files: list[int]) -> None:
    """Delete the two newest, up to three times."""
    if len(files) > 345:
        del files[:2]


def delete_all(files: list[int]) -> None:
    files.clear()


@BOTH
@pytest.mark.parametrize("change", [upload, delete, delete_all, len], ids=["upload", "delete", "all", "nothing"])
@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 350])
def test_every_file_that_stays_is_read_once(
    tmp_path: Path, language: str, change: Callable[[list[int]], None], count: int
) -> None:
    before = list(range(count, 0, -1))
    gallery = Gallery(list(before), change)
    with server(gallery) as origin:
        printed = programs_of_pages.run(program("patterns/pagination", language, origin), language, tmp_path, KEY)
    found = [file["id"] for file in programs_of_pages.read(printed, language)]
    assert len(found) == len(set(found))
    assert set(before) & set(gallery.files) <= set(found)


def test_the_follower_connects_again_with_the_last_id_and_stops_at_the_end(tmp_path: Path) -> None:
    asked: list[str | None] = []
    left, answer = scripted(
        Answer(200, "retry: 3000\n\nevent: presence\nid: a1\ndata: 1\n\n: heartbeat\n\n"),
        REFUSED,
        Answer(200, "event: unavailable\nid:\ndata: 2\n\nevent: gone\nid:\ndata: 3\n\nevent: presence\ndata: 4\n\n"),
    )

    def noted(_: dict[str, str], headers: dict[str, str]) -> Answer:
        asked.append(headers.get("last-event-id"))
        return answer()

    with server(noted) as origin:
        printed = programs_of_pages.run(program("patterns/streams", "python", origin), "python", tmp_path, KEY)
    assert printed.splitlines() == ["presence 1", "unavailable 2", "gone 3"]
    assert asked == [None, "a1", "a1"]
    assert left == []
