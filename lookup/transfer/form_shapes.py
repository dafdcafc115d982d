"""The shapes of rows, derived from the forms that show them and the columns that hold them."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, Model
from rest_framework import serializers

from lookup.models.validators import TAGS
from lookup.serializers import fields
from lookup.transfer.shapes import FLAG, ID, ORDER, Day, Integer, Object, OrNull, Real, Ruled, Shape, column, text
from lookup.transfer.uploads import Upload
from lookup.values import EXACT

Form = type[serializers.Serializer[Any]]  # Any: rows of each model


def of(form: Form, model: type[Model]) -> Object:
    """Reads what `form` shows of a row of `model`."""
    return Object({name: _shape_of(field, model) for name, field in form().fields.items()})


def columns_of(form: Form, model: type[Model]) -> dict[str, str]:
    """The keys of `form` by the column of `model` that holds their values, ids aside."""
    known = {name for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    return {field.source: name for name, field in form().fields.items() if field.source in known - {"id"}}


def _shape_of(field: serializers.Field[Any, Any, Any, Any], model: type[Model]) -> Shape:
    source = str(field.source)
    if isinstance(field, fields.TextOrNull):  # the tables hold "" where the form says null
        return OrNull(column(model, source, min_length=1), absent="")
    shape = _required(field, model, source)
    return OrNull(shape) if field.allow_null else shape


def _required(field: serializers.Field[Any, Any, Any, Any], model: type[Model], source: str) -> Shape:
    match field:
        case fields.AssetSerializer():
            return Upload()
        case serializers.BooleanField():
            return FLAG
        case serializers.ListField():
            return Ruled(TAGS)
        case fields.Day():
            return Day()
        case fields.Number():
            return Real()
        case serializers.ChoiceField():
            return text(column(model, source).max_length, choices=list(field.choices))
    if source == "id":
        return ID if isinstance(model._meta.pk, CharField) else Integer(1, EXACT)
    if isinstance(field, serializers.IntegerField):
        return ORDER if source == "order" else Integer(-(2**31))
    return column(model, source)
