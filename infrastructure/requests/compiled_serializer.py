"""Serializers that are compiled once, at first use, into functions from a row to its form, and to that form as JSON.

Django REST framework walks through its field objects for each row; the functions written here read the attributes one
after the other, as a person would write it by hand, and say the same. The serializer stays the one definition of the
form. What they have no short way for, such as a missing attribute, goes to Django REST framework.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring
from typing import Any, TypeVar, cast

from django.core.exceptions import ObjectDoesNotExist
from rest_framework import serializers
from rest_framework.fields import SkipField, empty, is_simple_callable
from rest_framework.relations import RelatedField

from infrastructure.requests.api_json import json_text

Row = TypeVar("Row")
Json = dict[str, Any]  # Any: a JSON value
Field = serializers.Field[Any, Any, Any, Any]  # Any: whatever a field reads and writes
Represent = Callable[[Any], Any]  # Any: from a row, or a value of it, to JSON
Write = Callable[[Any], str]  # Any: from a row to the text of its JSON

# A value of exactly this class is its own form, by the method that would make it.
_OWN_FORM: dict[object, str] = {
    serializers.CharField.to_representation: "str",
    serializers.IntegerField.to_representation: "int",
    serializers.BooleanField.to_representation: "bool",
}
# How such a value `{v}`, which is read by `{value}`, is written as JSON; any other one by `{other}`.
_WRITTEN = {
    "str": "(quote({v}) if ({v} := {value}).__class__ is str else {other})",
    "int": "(str({v}) if ({v} := {value}).__class__ is int else {other})",
    "bool": "('true' if ({v} := {value}) is True else 'false' if {v} is False else {other})",
}
_MISSING = (AttributeError, KeyError, ObjectDoesNotExist, SkipField)


class CompiledSerializer(serializers.Serializer[Row]):
    # A row that is a dictionary is read by its keys, any other one by its attributes. The functions belong to the
    # class: fields must not depend on the instance or on its context. As a docstring this would be in every form's
    # description in OpenAPI.

    def to_representation(self, instance: Any) -> Json:
        found: Json = compiled(type(self))(instance)
        return found

    def to_json(self, instance: Any) -> str:
        """Return the representation as `json_text` writes it."""
        return written(type(self))(instance)


@functools.cache
def compiled(form: type[serializers.Serializer[Any]]) -> Represent:
    """Return a function that represents the fields of `form` as Django REST framework does."""
    one = form()
    slow = functools.partial(serializers.Serializer.to_representation, one)
    fields = list(one._readable_fields)
    if any(isinstance(field, RelatedField) for field in fields):
        return slow
    names = _names(slow)
    of_keys, of_attributes = (
        ", ".join(_member(place, field, names, by_key=by_key) for place, field in enumerate(fields))
        for by_key in (True, False)
    )
    represent: Represent = _made(
        "def made(row):\n"
        "    try:\n"
        f"        if row.__class__ is dict:\n            return {{{of_keys}}}\n"
        f"        return {{{of_attributes}}}\n"
        "    except MISSING:\n"
        "        return slow(row)\n",
        form,
        names,
    )
    return represent


@functools.cache
def written(form: type[serializers.Serializer[Any]]) -> Write:
    """Return a function that writes the serializer's `to_representation` as JSON."""
    one = form()

    def slow(row: Any) -> str:
        return json_text(one.to_representation(row))

    fields = list(one._readable_fields)
    if not _is_plain(form) or any(isinstance(field, RelatedField) for field in fields):
        return slow
    names = {**_names(slow), "quote": encode_basestring, "json_text": json_text}
    members = ", ',', ".join(
        f"{encode_basestring(cast('str', field.field_name)) + ':'!r}, {_json_of(place, field, names)}"
        for place, field in enumerate(fields)
    )
    write: Write = _made(
        "def made(row):\n"
        "    if row.__class__ is dict:\n        return slow(row)\n"
        "    try:\n"
        f"        return ''.join(('{{', {members}, '}}'))\n"
        "    except MISSING:\n"
        "        return slow(row)\n",
        form,
        names,
    )
    return write


def _names(slow: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the functions that every source may call."""
    return {"slow": slow, "MISSING": _MISSING, "SEQUENCES": (list, tuple), "step": _step}


def _made(source: str, form: type[serializers.Serializer[Any]], names: dict[str, Any]) -> Any:
    """The function `made` of a source that is written here, out of names of fields, which `names` explains."""
    exec(compile(source, f"<compiled {form.__qualname__}>", "exec"), names)  # noqa: S102
    return names["made"]


def _json_of(place: int, field: Field, names: dict[str, Any]) -> str:
    """The source that writes a field's value as JSON. What it calls is added to `names`."""
    value = _read(field, by_key=False)
    form = _form_of(place, field, names, value)  # it also defines form_0, form_1…
    if _reads_by_itself(field):
        return f"json_text({form})"
    if (own_form := _own_form(field)) is not None:
        return _WRITTEN[own_form].format(v=f"v_{place}", value=value, other=f"json_text(form_{place}(v_{place}))")
    if isinstance(field, serializers.Serializer) and _is_plain(type(field)):
        names[f"write_{place}"] = written(type(field))
        return f"('null' if (v_{place} := {value}) is None else write_{place}(v_{place}))"
    return f"json_text({form})"


def _member(place: int, field: Field, names: dict[str, Any], *, by_key: bool) -> str:
    """A member of the dictionary that the function returns, as source. What it calls is added to `names`."""
    member = f"{field.field_name!r}: {_form_of(place, field, names, _read(field, by_key=by_key))}"
    may_be_left_out = not field.required and not field.allow_null and field.default is empty
    if by_key and may_be_left_out and len(field.source_attrs) == 1:
        return f"**({{{member}}} if {field.source_attrs[0]!r} in row else {{}})"
    return member


def _read(field: Field, *, by_key: bool) -> str:
    """The source that reads what `field` names."""
    if not field.source_attrs:  # "*"
        return "row"
    first, *others = field.source_attrs
    is_name = first.isidentifier() and not keyword.iskeyword(first)
    read = f"row[{first!r}]" if by_key else f"row.{first}" if is_name else f"getattr(row, {first!r})"
    for other in others:
        read = f"step({read}, {other!r})"
    return read


def _step(value: Any, name: str) -> Any:
    """What `name` names of a value that was read."""
    return value[name] if isinstance(value, Mapping) else getattr(value, name)


def _form_of(place: int, field: Field, names: dict[str, Any], value: str) -> str:
    """The source that makes the form of a field's value; `value` is source too."""
    call, v = f"form_{place}", f"v_{place}"
    if _reads_by_itself(field):
        names[call] = _read_and_represent(field)
        return f"{call}(row)"
    if isinstance(field, serializers.SerializerMethodField):
        names[call] = getattr(field.parent, field.method_name)
        return f"{call}({value})"
    if (nested := _nested(field)) is not None:
        names[call] = nested
        return f"(None if ({v} := {value}) is None else {call}({v}))"
    names[call] = _represent(field)
    if isinstance(field, serializers.ListSerializer | serializers.ListField):
        each = _each(place, field, names)
        return f"([{each} for item in {v}] if ({v} := {value}).__class__ in SEQUENCES else {call}({v}))"
    if (own_form := _own_form(field)) is not None:
        return f"({v} if ({v} := {value}).__class__ is {own_form} else {call}({v}))"
    return f"{call}({value})"


def _each(place: int, field: serializers.ListSerializer[Any] | serializers.ListField, names: dict[str, Any]) -> str:
    """The source that makes the form of an entry, `item`, of a list."""
    call, child = f"each_{place}", cast("Field", field.child)
    names[call] = _nested(child) or _represent(child)
    own_form = _own_form(child)
    return f"{call}(item)" if own_form is None else f"(item if item.__class__ is {own_form} else {call}(item))"


def _nested(field: Field) -> Represent | None:
    """The function of a nested serializer; None where the field is none, or says its form in a way of its own."""
    if not isinstance(field, serializers.Serializer):
        return None
    return compiled(type(field)) if _is_plain(type(field)) else field.to_representation


def _is_plain(form: type[serializers.Serializer[Any]]) -> bool:
    """Whether the form is that of its fields."""
    methods = {serializers.Serializer.to_representation, CompiledSerializer.to_representation}
    return form.to_representation in methods


def _reads_by_itself(field: Field) -> bool:
    return type(field).get_attribute is not serializers.Field.get_attribute


def _own_form(field: Field) -> str | None:
    """The name of the class whose values are their own form."""
    method = type(field).to_representation
    if method is serializers.ChoiceField.to_representation:
        choices = field.choice_strings_to_values  # type: ignore[attr-defined]  # as the method says, a ChoiceField
        return "str" if all(type(choice) is str for choice in choices.values()) else None
    return _OWN_FORM.get(method)


def _represent(field: Field) -> Represent:
    """What Django REST framework does with a value that it has read."""
    to_representation = field.to_representation

    def represent(value: Any) -> Any:
        if callable(value) and is_simple_callable(value):
            value = value()
        return None if value is None else to_representation(value)

    return represent


def _read_and_represent(field: Field) -> Represent:
    """Return a function that reads the field by its own `get_attribute`, then represents it."""
    read, to_representation = field.get_attribute, field.to_representation

    def represent(row: Any) -> Any:
        value = read(row)
        return None if value is None else to_representation(value)

    return represent
