"""Write many rows as fast as the database takes them: COPY for new ones on PostgreSQL, else one prepared statement.

`bulk_create` and `bulk_update` build one statement of many values, which takes the driver several times as long to
escape as the rows themselves.
"""

from __future__ import annotations

import functools
import gc
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection
from django.db.models import AutoField, Field, JSONField, Model
from django.db.models.base import ModelState
from django.db.models.expressions import RawSQL

from infrastructure.databases.folding import folded_columns

Values = tuple[Any, ...]  # Any: values of columns
Row = TypeVar("Row", bound=Model)
RARE = (100_000, 50, 1000)  # thresholds of the garbage collector


def build(model: type[Row], **values: Any) -> Row:
    """Return the row that `model(**values)` makes, in a fifth of the time: no check of names, no signal.

    Any: what a column holds, or the row that a foreign key names. Not for one-to-one keys, which the other row knows of
    too.
    """
    row = model.__new__(model)
    keys, constants, defaults = _columns_of(model)
    columns, state = vars(row), ModelState()
    columns.update(constants, _state=state)
    for name, value in values.items():
        if (column := keys.get(name)) is None:
            columns[name] = value
        else:
            columns[column] = None if value is None else value.pk
            state.fields_cache[name] = value
    for column, default in defaults:
        if column not in columns:
            columns[column] = default()
    return row


@functools.cache
def _columns_of(
    model: type[Model],
) -> tuple[dict[str, str], dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
    """Return the columns of foreign keys by name, the constant defaults by column, and the columns whose default is
    computed for each row, with its function. Any: defaults."""
    fields = model._meta.concrete_fields
    keys = {field.name: field.attname for field in fields if field.is_relation}
    made = [field for field in fields if (callable(field.default) if field.has_default() else field.has_db_default())]
    constants = {field.attname: field.get_default() for field in fields if field not in made}
    return keys, constants, [(field.attname, field.get_default) for field in made]


def one_parameter(values: Collection[Any]) -> list[Any] | RawSQL:
    """Return `values` for `__in`; on PostgreSQL as one array, because the driver takes longer to translate a
    placeholder for each than the server to answer. Any: texts, or integers."""
    found = list(values)
    if connection.vendor != "postgresql" or not found:
        return found
    type_ = "bigint" if isinstance(found[0], int) else "text"
    return RawSQL(f"SELECT unnest(%s::{type_}[])", [found])  # noqa: S611  # the values are a parameter


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage rarely in a command that makes many rows: they live until their batch is written, and searching
    them takes a fifth of the time. The process must run nothing else during the block."""
    before = gc.get_threshold()
    if before == RARE:  # another command of this process has begun, which ends it
        yield
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARE)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def insert(rows: Iterable[Model]) -> None:
    """Insert new rows of one model as they are: no `save()`, no hooks, no numbers for automatic keys. 1 statement.

    PostgreSQL writes rows while the next ones are made, which must not use the database. Raises IntegrityError where
    one exists; then none is inserted.
    """
    found = iter(rows)
    if (first := next(found, None)) is None:
        return
    fields = [field for field in first._meta.concrete_fields if not isinstance(field, AutoField)]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    table = connection.ops.quote_name(first._meta.db_table)
    found = _as_inserted(itertools.chain([first], found))
    if connection.vendor == "postgresql":
        statement = f"COPY {table} ({names}) FROM STDIN"
        with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
            for row in _values(fields, found):
                copy.write_row(row)
    else:
        places = ", ".join(["%s"] * len(fields))
        _run_each(f"INSERT INTO {table} ({names}) VALUES ({places})", [*_prepared(fields, found)])  # noqa: S608  # only names of columns


def _as_inserted(rows: Iterable[Model]) -> Iterator[Model]:
    for row in rows:
        for field in folded_columns(type(row)):
            field.pre_save(row, add=True)
        yield row
        row._state.adding, row._state.db = False, connection.alias


def update(rows: Collection[Model], columns: Collection[str]) -> None:
    """Write `columns` (names of fields) of existing rows of one model. 1 statement, run for each row."""
    if not rows:
        return
    meta, quote = next(iter(rows))._meta, connection.ops.quote_name
    named = {field.name: field for field in meta.concrete_fields}
    folded = [field for field in folded_columns(meta.model) if field.of in columns]
    for row in rows:
        for field in folded:
            field.pre_save(row, add=False)
    fields = [*(named[name] for name in columns), *folded]
    places = ", ".join(f"{quote(str(field.column))} = %s" for field in fields)
    key = quote(str(meta.pk.column))
    statement = f"UPDATE {quote(meta.db_table)} SET {places} WHERE {key} = %s"  # noqa: S608  # only names of columns
    _run_each(statement, [*_prepared([*fields, meta.pk], rows)])


def save(rows: Sequence[Model], *, held: Collection[str], columns: Collection[str]) -> None:
    """Insert rows of one model, or write `columns` of the existing ones, whose primary keys are in `held`.

    2 statements.
    """
    insert([row for row in rows if row.pk not in held])
    update([row for row in rows if row.pk in held], columns)


def _run_each(statement: str, values: list[Values]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(statement, values)


def _values(fields: Sequence[Field[Any, Any]], rows: Iterable[Model]) -> Iterator[Values]:
    """Yield values as psycopg writes them; JSON as text. Any: values of the fields."""
    read: Callable[[Model], Values] = attrgetter(*(field.attname for field in fields))
    as_json = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]
    if not as_json:
        yield from map(read, rows)
        return
    for row in rows:
        values = [*read(row)]
        for place in as_json:
            values[place] = json.dumps(values[place])
        yield tuple(values)


def _prepared(fields: Sequence[Field[Any, Any]], rows: Iterable[Model]) -> Iterator[Values]:
    """Yield values as Django's fields prepare them for this database. Any: values of the fields."""
    for row in rows:
        yield tuple(field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields)
