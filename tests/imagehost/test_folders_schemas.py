"""The schemas that every answer is held against forgive nothing: no key too few, none too many, no other type."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.models import User
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers, callers
from tests.imagehost.answers import SCHEMAS

FILES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
FORMS = ["done", "folder", "folder_page", "folders", "gallery"]
Path = tuple[Any, ...]  # keys and places, from the outside inwards


@pytest.fixture
def bodies(db: None) -> dict[str, Any]:
    """Of each form an answer; any: JSON."""
    opal: User = callers.opal()
    folder = FolderFactory(owner=opal)
    FileFactory(folder=folder)
    return {
        "gallery": answers.gallery().body,
        "folders": answers.folders().body,
        "folder_page": answers.show(folder.pk).body,
        "folder": answers.change(folder.pk, {}).body,
        "done": answers.delete(folder.pk).body,
    }


def _objects(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where the objects in a JSON value stand."""
    if isinstance(value, dict):
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from _objects(one, (*path, name))


def _at(value: Any, path: Path) -> Any:
    """What stands there; any: JSON."""
    for part in path:
        value = value[part]
    return value


def _refused(form: str, body: object) -> bool:
    try:
        answers.check(form, body)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(json.loads((SCHEMAS / f"{name}.json").read_text()))


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_with_one_thing_changed_is_refused(bodies: dict[str, Any], form: str) -> None:
    body = bodies[form]
    for path in _objects(body):
        for name in [*_at(body, path), "another"]:
            without, other = copy.deepcopy(body), copy.deepcopy(body)
            _at(without, path).pop(name, None)
            assert name == "another" or _refused(form, without), (path, name)
            _at(other, path)[name] = [[1]]  # of no type that the document knows
            assert _refused(form, other), (path, name)


@pytest.mark.parametrize(
    "body",
    [
        *(
            {},
            [],
            {"error": "Folder not found."},
            {"error": "Folder not found.", "code": "X"},
            {"detail": "Not found."},
        ),
        *({"error": "X", "code": "INVALID_BODY"}, {"error": "x: Y.", "code": "INVALID_LIMIT"}),
    ],
)
def test_an_error_in_other_words_is_refused(body: object) -> None:
    assert _refused("error", body)
