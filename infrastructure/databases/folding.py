"""Columns that hold another column's text as searches compare it, alike on both engines."""

from __future__ import annotations

from typing import Any

from django.db import models, transaction

from infrastructure import text_rules

BATCH = 500


class FoldedField(models.CharField):  # type: ignore[type-arg]  # the stubs' type takes arguments, the class none
    """The text of the column `of`, folded (`text_rules.folded`) and cut. None: an earlier release wrote the row.

    Saving the row writes it. Code that writes `of` by `update_fields` names this column, too;
    `infrastructure.databases.bulk` does so by itself.
    """

    def __init__(self, *, of: str, **options: Any) -> None:
        self.of = of
        super().__init__(**{**options, "null": True, "editable": False})

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        return name, path, args, {**options, "of": self.of}

    def pre_save(self, model_instance: models.Model, add: bool) -> str:  # noqa: FBT001 - Django's
        value = text_rules.folded(getattr(model_instance, self.of))[: self.max_length]
        setattr(model_instance, self.attname, value)
        return value


def folded_columns(model: type[models.Model]) -> list[FoldedField]:
    return [field for field in model._meta.concrete_fields if isinstance(field, FoldedField)]


def fill(model: Any, column: str) -> None:
    """Write the column of rows that have none, in batches that lock their rows. For migrations, whose models have no
    type: `atomic = False`."""
    field = model._meta.get_field(column)
    rows = model._default_manager.filter(**{column: None}).order_by("pk")
    last = None
    while True:
        with transaction.atomic():
            found = rows if last is None else rows.filter(pk__gt=last)
            batch = list(found.select_for_update(no_key=True).only("pk", field.of)[:BATCH])
            for row in batch:
                field.pre_save(row, add=False)
            model._default_manager.bulk_update(batch, [column])
        if len(batch) < BATCH:
            return
        last = batch[-1].pk
