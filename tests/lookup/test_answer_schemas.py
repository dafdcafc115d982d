"""The schemas that every answer is held against: no key too few, none too many."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.lookup import answers
from tests.lookup.answers import INCLUDES, SCHEMAS


def _objects(value: Any, *, is_top: bool = True) -> Iterator[tuple[bool, dict[str, Any]]]:
    """The objects in a JSON value, the outermost one first and marked."""
    if isinstance(value, dict):
        yield is_top, value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner, is_top=False)


@pytest.mark.parametrize("name", sorted(path.stem for path in SCHEMAS.glob("*.json")))
def test_every_object_names_its_keys_and_requires_all_of_them(name: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    for is_top, found in _objects(schema):
        if found.get("type") == "object" and "properties" in found:
            optional = set(INCLUDES) if name == "current" and is_top else set()
            assert found["additionalProperties"] is False, found
            assert set(found["required"]) == set(found["properties"]) - optional, found


@pytest.mark.parametrize("body", [{}, {"error": "User not found"}, {"error": "User not found.", "code": "X"}, []])
def test_an_error_in_other_words_is_refused(body: object) -> None:
    with pytest.raises(AssertionError, match=r"^error: "):
        answers.check("error", body)
