"""A compiled serializer says what Django REST framework makes of its fields, whatever fields these are."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import TextChoices
from rest_framework import serializers

from infrastructure.requests import compiled_serializer
from infrastructure.requests.api_json import json_text
from infrastructure.requests.compiled_serializer import CompiledSerializer, compiled, written

pytestmark = pytest.mark.once

Row = dict[str, Any]  # Any: a value of a field


class Color(TextChoices):
    RED = "red"


class Child(CompiledSerializer[Any]):
    name = serializers.CharField()


class Shouting(CompiledSerializer[Any]):
    name = serializers.CharField()

    def to_representation(self, instance: Any) -> Row:
        return {name: f"{value}!" for name, value in super().to_representation(instance).items()}


class Untouched(serializers.Serializer[Any]):
    name = serializers.CharField()


class Rest(serializers.Serializer[Any]):
    second = serializers.CharField()


class Everything(CompiledSerializer[Any]):
    text = serializers.CharField()
    number = serializers.IntegerField()
    flag = serializers.BooleanField(allow_null=True)
    color = serializers.ChoiceField(Color.choices)
    level = serializers.ChoiceField([(1, "low"), (2, "high")])
    amount = serializers.DecimalField(max_digits=5, decimal_places=2)
    day = serializers.DateField()
    words = serializers.ListField(child=serializers.CharField())
    dates = serializers.ListField(child=serializers.DateField())
    mapping = serializers.DictField(child=serializers.IntegerField())
    anything = serializers.JSONField()
    deep = serializers.CharField(source="child.name")
    deep_or_null = serializers.CharField(source="parent.name", allow_null=True)
    called = serializers.CharField(source="method")
    child = Child()
    children = Child(many=True)
    shouting = Shouting(source="child")
    all_shouting = Shouting(many=True, source="children")
    untouched = Untouched(source="child")
    rest = Rest(source="*")
    computed = serializers.SerializerMethodField()
    kept = serializers.CharField(default="fallback")
    secret = serializers.CharField(write_only=True)
    optional = serializers.CharField(required=False)
    last = serializers.ReadOnlyField(source="class")

    def get_computed(self, row: Any) -> str:
        return f"computed of {row['text'] if isinstance(row, dict) else row.text}"


WHOLE: Row = {
    "text": "a",
    "number": 1,
    "flag": True,
    "color": Color.RED,
    "level": 2,
    "amount": Decimal("1.5"),
    "day": date(2026, 1, 2),
    "words": ["x", 1, None, "\ud800"],
    "dates": [date(2026, 1, 2)],
    "mapping": {"one": 1},
    "anything": {"k": [1]},
    "child": {"name": "Ada"},
    "parent": {"name": None},
    "method": lambda: "from a call",
    "children": [{"name": "Ben"}, SimpleNamespace(name="Cleo")],
    "second": "2nd",
    "kept": "kept",
    "optional": "there",
    "class": "a keyword of Python",
}
OTHERS: list[Row] = [
    {},
    {"text": 5, "number": "7", "flag": "true", "color": "", "level": "1", "words": ("a", "b"), "children": ()},
    {"flag": None, "text": None, "number": None, "child": None, "children": None, "words": None, "anything": None},
    {"color": "unknown", "level": 9, "number": True, "flag": 0},
    {"number": "no number"},
    {"children": [None]},
    {"parent": None},
    {"words": 5},
    {"child": {"other": 1}},
]


def _said(represent: Any, row: object) -> str:
    """Any: a function of a row. What it says, or the error that it raises, as text."""
    try:
        return json.dumps(represent(row), default=repr)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _of_fields(row: object) -> object:
    return serializers.Serializer.to_representation(Everything(), row)


def _check(row: Row) -> None:
    """By its keys and by its attributes, as a value and as JSON."""
    for one in (row, SimpleNamespace(**row)):
        assert _said(compiled(Everything), one) == _said(_of_fields, one)
        assert _said(written(Everything), one) == _said(lambda row: json_text(_of_fields(row)), one)


@pytest.mark.parametrize("changes", OTHERS)
def test_a_row_is_written_as_the_fields_say(changes: Row) -> None:
    _check({**WHOLE, **changes})


@pytest.mark.parametrize("missing", WHOLE)
def test_what_is_missing_is_left_out_filled_in_or_an_error_as_the_fields_say(missing: str) -> None:
    _check({name: value for name, value in WHOLE.items() if name != missing})


@pytest.mark.parametrize("text", ['"', "\\", "\n", "\x00", "é", "\u2028", "\ud800", "</script>", "%s {0}"])
def test_every_character_is_written_as_json_says(text: str) -> None:
    assert Child().to_json(SimpleNamespace(name=text)) == json_text({"name": text})


@pytest.mark.parametrize("value", [0, -1, 2**63, True, 1.5, float("nan"), "1", None])
def test_every_number_is_written_as_json_says(value: object) -> None:
    class Numbers(CompiledSerializer[Any]):
        number = serializers.IntegerField()
        flag = serializers.BooleanField()

    row = SimpleNamespace(number=value, flag=value)
    assert _said(Numbers().to_json, row) == _said(lambda row: json_text(Numbers().to_representation(row)), row)


def test_a_form_of_its_own_is_written_by_its_own_method() -> None:
    assert Shouting().to_json(SimpleNamespace(name="Ada")) == '{"name":"Ada!"}'


class Optional(CompiledSerializer[Row]):
    a = serializers.CharField()
    b = serializers.CharField(required=False)


@pytest.mark.parametrize(
    ("form", "row", "left_out"),
    [
        (Everything, WHOLE, set()),
        (Everything, SimpleNamespace(**WHOLE), set()),
        (Optional, {"a": "1"}, {"b"}),
        (Optional, {"b": "2", "a": "1"}, set()),
    ],
)
def test_an_ordinary_row_never_takes_the_slow_way(
    form: type[CompiledSerializer[Any]], row: object, left_out: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_serializer, "_MISSING", ())
    represent, write = compiled.__wrapped__(form), written.__wrapped__(form)
    names = [field.field_name for field in form()._readable_fields if field.field_name not in left_out]
    assert list(represent(row)) == names
    assert isinstance(row, dict) or list(json.loads(write(row))) == names


def test_a_related_row_that_is_gone_is_null() -> None:
    class Owner:
        @property
        def child(self) -> object:
            raise ObjectDoesNotExist

    class OfOwner(CompiledSerializer[Owner]):
        child = Child(allow_null=True)

    assert OfOwner().to_representation(Owner()) == {"child": None}


def test_a_relation_is_left_to_the_framework() -> None:
    class Owned(CompiledSerializer[Any]):
        owner: Any = serializers.PrimaryKeyRelatedField(read_only=True)

    assert Owned().to_representation(SimpleNamespace(owner=SimpleNamespace(pk="an id"))) == {"owner": "an id"}
