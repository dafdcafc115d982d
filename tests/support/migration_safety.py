"""Refuses migrations that the previous release cannot run beside: `python -m tests.support.migration_safety`.

It looks at the migrations that the previous release does not have. One that is safe all the same says why in its
docstring: `Safe beside the previous release: …` (docs/operations.md, Migrations beside the previous release).
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import django
from django.db import models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.support import previous_release
from tests.support.previous_release import ROOT

MARK = re.compile(r"Safe beside the previous release: \w")
READS_IT = "the previous release still reads it"
WHOLE_TABLE = "it holds every write to the table off until it is done"
ALONE = "without a transaction it waits for locks without a limit, and cannot be run again after an interruption"
BATCHES = re.compile(r"\.iterator\(|batch|chunk", re.IGNORECASE)
# What a statement by hand does, and why it is refused.
STATEMENTS = {
    r"\bDROP\s+(TABLE|COLUMN)\b": READS_IT,
    r"\bRENAME\b": READS_IT,
    r"\bSET\s+NOT\s+NULL\b": "the previous release may write null",
    r"\bCREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY)": f"without CONCURRENTLY {WHOLE_TABLE}",
    r"\bCREATE\s+(OR\s+REPLACE\s+)?(CONSTRAINT\s+)?TRIGGER\b": "it changes what writes of the previous release do",
}
# Operations on what the previous release has, and why they are refused.
REFUSED: dict[type[Operation], str] = {
    operations.RemoveField: READS_IT,
    operations.DeleteModel: READS_IT,
    operations.RenameField: READS_IT,
    operations.RenameModel: READS_IT,
    operations.AlterModelTable: READS_IT,
    operations.AlterUniqueTogether: WHOLE_TABLE,
    operations.AddConstraint: f"the previous release may write what it forbids, and {WHOLE_TABLE}",
}


def problems(
    migration: Migration, module: ModuleType, before: ProjectState, made: set[tuple[str, str]]
) -> Iterator[str]:
    """Why the previous release cannot run beside `migration`.

    `before`: the models just before it. `made`: those that the previous release lacks, by app and name; it grows.
    """
    is_marked = MARK.search(module.__doc__ or "")
    for operation in migration.operations:
        if isinstance(operation, operations.CreateModel):
            made.add((migration.app_label, operation.name_lower))
        elif not is_marked and (migration.app_label, getattr(operation, "model_name", "").lower()) not in made:
            yield from _problems(operation, migration, module, before)


def _problems(operation: Operation, migration: Migration, module: ModuleType, before: ProjectState) -> Iterator[str]:
    if isinstance(operation, operations.SeparateDatabaseAndState):
        for inner in operation.database_operations:
            yield from _problems(inner, migration, module, before)
        reasons = [_why_not_omitted(inner, migration, before) for inner in operation.state_operations]
    elif isinstance(operation, operations.AddField):
        reasons = [_why_not_added(operation), "" if migration.atomic else ALONE]
    elif isinstance(operation, operations.AlterField):
        reasons = _why_not_altered(_field(operation, migration, before), operation.field)
    elif isinstance(operation, operations.AddIndex):
        # A subclass builds it CONCURRENTLY, in no transaction.
        reasons = [f"it is not concurrent: {WHOLE_TABLE}" if type(operation) is operations.AddIndex else ""]
        reasons += ["a concurrent index needs `atomic = False`"] if migration.atomic and not reasons[0] else []
    elif isinstance(operation, operations.RunPython | operations.RunSQL):
        reasons = _why_not_run(operation, module)
    else:
        reasons = [REFUSED.get(type(operation), "")]
    yield from (f"{operation.describe()}: {reason}" for reason in reasons if reason)


def _why_not_added(operation: operations.AddField) -> str:
    field = operation.field
    if field.many_to_many or (field.null and not field.unique):
        return ""
    if field.unique:
        return f"the index of a unique field is not concurrent: {WHOLE_TABLE}"
    # Django drops `default` from the table again, so an INSERT of the previous release has no value.
    has_default = field.db_default is not models.NOT_PROVIDED
    return "" if has_default else "it has no db_default: rows that the previous release adds are refused"


def _why_not_omitted(operation: Operation, migration: Migration, before: ProjectState) -> str:
    """The first phase of a removal: the model forgets a field whose column stays."""
    if not isinstance(operation, operations.RemoveField):
        return ""
    field = _field(operation, migration, before)
    can_be_empty = field.null or field.many_to_many or field.db_default is not models.NOT_PROVIDED
    return "" if can_be_empty else "this release writes no value: let the column be null or have a db_default before"


def _why_not_altered(old: Any, new: Any) -> list[str]:
    """Any: fields of any kind, more of whose attributes are read here than their types name."""

    def length(field: Any) -> float:
        return field.max_length or float("inf")

    reasons = {
        "the previous release may write null": old.null and not new.null,
        f"the type changes: {WHOLE_TABLE}": old.get_internal_type() != new.get_internal_type(),
        "the previous release may write more characters": length(new) < length(old),
        READS_IT: old.db_column != new.db_column,
        f"its index is not concurrent: {WHOLE_TABLE}": (new.unique and not old.unique)
        or (new.db_index and not old.db_index),
    }
    return [reason for reason, holds in reasons.items() if holds]


def _why_not_run(operation: operations.RunPython | operations.RunSQL, module: ModuleType) -> list[str]:
    if isinstance(operation, operations.RunSQL):
        return _why_not_executed(str(operation.sql))
    source = inspect.getsource(operation.code)
    text = inspect.getsource(module)  # the function's statements may be constants
    reasons = _why_not_executed(text)
    if "schema_editor.execute" not in source and not BATCHES.search(text):
        reasons.append("it has no batches (.iterator, or slices): rows stay locked until all are done")
    return reasons


def _why_not_executed(text: str) -> list[str]:
    return [reason for pattern, reason in STATEMENTS.items() if re.search(pattern, text, flags=re.IGNORECASE)]


def _field(
    operation: operations.RemoveField | operations.AlterField, migration: Migration, before: ProjectState
) -> Any:
    """Any: as above."""
    return before.models[migration.app_label, operation.model_name_lower].get_field(operation.name)


def new_migrations(known: set[tuple[str, str]]) -> Iterator[tuple[Migration, ModuleType, ProjectState]]:
    """Yield the migrations of our apps that `known` lacks, in the order of their runs, each with the models before it.

    One that replaces known ones only is not new: `migrate` takes it for applied.
    """
    loader = MigrationLoader(None)
    plan = [node for leaf in loader.graph.leaf_nodes() for node in loader.graph.forwards_plan(leaf)]
    for label, name in dict.fromkeys(plan):
        migration = loader.disk_migrations[label, name]
        module = sys.modules[type(migration).__module__]
        is_known = (label, name) in known or known.issuperset(migration.replaces or {(label, name)})
        if not is_known and Path(module.__file__ or "").parents[2] == ROOT:
            yield migration, module, loader.project_state((label, name), at_end=False)


def main() -> int:
    django.setup()
    commit, remark = previous_release.commit()
    made: set[tuple[str, str]] = set()
    found = [
        f"{migration}: {problem}"
        for migration, module, before in new_migrations(previous_release.migrations(commit))
        for problem in problems(migration, module, before, made)
    ]
    print(*filter(None, [remark, *found]), sep="\n", file=sys.stderr, end="\n" if remark or found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
