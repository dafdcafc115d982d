"""The schemas that every answer is held against forgive nothing: no key too few, none too many, no other type."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lookup import boards
from tests.lookup import answers
from tests.lookup.answers import INCLUDES, SCHEMAS
from tests.lookup.filled import Filled

FILES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
# Objects that the documents leave open.
OPEN = {("earlier", "alias"), ("earlier", "backgroundEffectSettings"), ("current", "effectSettings")}
Path = tuple[Any, ...]  # keys and places, from the outside inwards


def _objects(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where the objects in a JSON value stand; of a list, only the first and the last entry."""
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            yield from _objects(inner, (*path, name))
    elif isinstance(value, list):
        for place in {0, len(value) - 1} if value else ():
            yield from _objects(value[place], (*path, place))


def _at(value: Any, path: Path) -> Any:
    """What stands there; Any: JSON."""
    for part in path:
        value = value[part]
    return value


def _refused(form: str, body: Any) -> bool:
    try:
        answers.check(form, body)
    except AssertionError:
        return True
    return False


@pytest.fixture
def bodies(filled: Filled) -> dict[str, Any]:
    """Of each form an answer with everything in it; Any: JSON."""
    boards.rank()
    current = answers.user("ada", *INCLUDES).body
    del current["comments"]["items"][2:]  # the others are like these
    return {
        "current": current,
        "earlier": answers.earlier("ada").body,
        "leaderboard": answers.board("views").body,
    }


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(json.loads((SCHEMAS / f"{name}.json").read_text()))


@pytest.mark.parametrize("name", FILES)
def test_every_object_names_its_keys_and_asks_for_all_of_them(name: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    for path in _every_object(schema):
        found = _at(schema, path)
        if found.get("type") == "object" and "properties" in found:
            optional = set(INCLUDES) if (name, path) == ("current", ()) else set()
            assert found["additionalProperties"] is False, path
            assert set(found["required"]) == set(found["properties"]) - optional, path


def _every_object(value: Any, path: Path = ()) -> Iterator[Path]:
    """Any: JSON."""
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            yield from _every_object(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _every_object(inner, (*path, place))


@pytest.mark.parametrize("form", ["current", "earlier", "leaderboard"])
def test_an_answer_with_one_thing_changed_is_refused(bodies: dict[str, Any], form: str) -> None:
    body, changed = bodies[form], 0
    for path in _objects(body):
        if path and (form, path[-1]) in OPEN:
            continue
        for name in [*_at(body, path), "another"]:
            without, other = copy.deepcopy(body), copy.deepcopy(body)
            if not (form == "current" and path == () and name in INCLUDES):
                _at(without, path).pop(name, None)
                assert name == "another" or _refused(form, without), (path, name)
            _at(other, path)[name] = [[1]]  # of no type that the documents know
            assert _refused(form, other), (path, name)
            changed += 1
    assert changed > 100


@pytest.mark.parametrize(
    "body", [{}, {"error": "User not found"}, {"error": "User not found.", "code": "X"}, {"detail": "Not found."}, []]
)
def test_an_error_in_other_words_is_refused(body: object) -> None:
    assert _refused("error", body)
