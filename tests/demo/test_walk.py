"""Each field that lookups and leaderboards document has its values somewhere in the demo data."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import JobRun, User
from demo import image_files
from demo.population import profile_pages
from imagehost.examining import probing
from lookup import leaderboards
from lookup.documents.registry import INCLUDES
from lookup.models import Board
from lookup.views import api

pytestmark = pytest.mark.django_db
Values = dict[str, set[str]]  # JSON texts by path, such as current.links[].url

# What the contract has say one thing: errors are other answers, banned users and disabled sections are left out.
SINGLE = {
    "current.error",
    *(f"current.sections[].{name}" for name in ("ABOUT_ME.enabled", "CUSTOM_TEXT.enabled")),
    "earlier.banned",
    *(f"board.{board}[].user.isBanned" for board in Board),
}


def walked(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Any: JSON. Every value that is no list and no object; a section's type is part of its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from walked(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            is_section = path == "current.sections"
            yield from walked(inner, f"{path}[].{inner['type']}" if is_section else f"{path}[]")
    else:
        yield path, json.dumps(value)


@pytest.fixture(scope="module")
def values(demo_file: object) -> Values:
    """Everything that the demo answers."""
    found: Values = defaultdict(set)
    for user in User.objects.filter(public_api_access=True, is_active=True):
        query = urlencode({"type": "id", "value": user.pk, **dict.fromkeys(INCLUDES, "true")})
        answers = {
            "current": json.loads(api.answer(query, timezone.now())),
            "earlier": json.loads(api.earlier_answer("uid", str(user.uid))),
        }
        for name, answer in answers.items():
            for path, text in walked(answer, name):
                found[path].add(text)
    for board in Board:
        for path, text in walked(json.loads(leaderboards.answer(board, 100)), f"board.{board}"):
            found[path].add(text)
    return found


def test_every_switch_is_on_somewhere_and_off_somewhere(values: Values) -> None:
    switches = {path: texts for path, texts in values.items() if texts & {"true", "false"}}
    assert len(switches) > 100
    assert {path for path, texts in switches.items() if len(texts) == 1} == SINGLE - {"current.error"}


def test_every_other_field_has_a_value_somewhere(values: Values) -> None:
    inner = {path.rpartition(".")[0] for path in values}
    empty = {path for path, texts in values.items() if path not in inner and not texts - {"null", '""'}}
    # Sounds and fonts have no size, pictures and fonts no duration.
    sizes = {path for path in empty if path.rpartition(".")[2] in {"width", "height", "duration"}}
    assert empty - sizes == {"current.error"}


def test_a_film_has_a_size_and_a_duration(values: Values) -> None:
    for list_ in ("backgrounds[].asset", "gallery[].asset"):
        for name in ("width", "height", "duration"):
            assert values[f"current.{list_}.{name}"] - {"null"}


def test_the_boards_show_who_moved_until_the_jobs_next_turn(values: Values) -> None:
    for board in (Board.VIEWS, Board.BADGES):
        assert {json.loads(text) > 0 for text in values[f"board.{board}[].change"]} == {True, False}
    assert JobRun.objects.get(pk="rank_leaderboards").succeeded_at is not None


def test_each_field_of_the_image_host_has_its_values(entry: Any, client: Client) -> None:
    """Any: a JSON object."""
    key = next(key["key"] for key in entry["api_keys"] if key["permissions"] == ["account"])
    files = client.get("/api/imagehost/gallery", {"key": key}).json()["files"]
    found = client.get("/api/imagehost/folders", {"key": key}).json()["folders"]
    values: Values = defaultdict(set)
    for path, text in (*walked(files, "files"), *walked(found, "folders")):
        values[path].add(text)
    assert values.pop("files[].folder") == {"null"}  # in the root
    single = {path for path, texts in values.items() if len(texts) == 1}
    assert {path for path in single if not path.endswith(("createdAt", "updatedAt"))} == set()
    for file in files:
        response = client.get(f"/media/{file['fileName']}.{file['fileExtension']}")
        assert (response.status_code, len(response.getvalue())) == (200, file["fileSize"])


def test_the_demo_knows_what_is_in_its_files(tmp_path: Path) -> None:
    for sample in (*image_files.SAMPLES, image_files.PAINTING):
        probe = probing.probe(Path(shutil.copy(sample.path, tmp_path)))
        assert (probe.mime, probe.width, probe.height) == (sample.mime, *sample.size)
        assert probe.duration_ms == sample.duration_ms
    assert profile_pages.looks.FILMS == {"film-1": [[480, 270], 4.0]}
