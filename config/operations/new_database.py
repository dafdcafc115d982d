"""The tables of a new database, made at once from the models that the migrations lead to.

Django applies one migration after the other, and renders every model that is related to the user again for each of 300
operations (docs/decisions/0018). `tests/journeys/test_new_database.py` compares what the two make.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connections, router
from django.db.migrations import Migration, RunPython, RunSQL, SeparateDatabaseAndState
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState


def create(alias: str) -> int:
    """Make the tables of a database that has none, in one transaction. Return the number of migrations that this
    stands for; Django applies the other ones. 0 where there are tables.

    SQL by hand (RunPython, RunSQL) runs where it is in a migration of ours: that of packages changes rows only.
    """
    connection = connections[alias]
    executor = MigrationExecutor(connection)
    notes = MigrationRecorder.Migration._meta.db_table
    if executor.loader.applied_migrations or {*connection.introspection.table_names()} - {notes}:
        return 0
    nodes = executor.loader.graph.leaf_nodes()
    plan = [migration for migration, _ in executor.migration_plan(nodes, clean_start=True)]
    plan = [*itertools.takewhile(_is_state_of_tables, plan)]
    state = ProjectState()
    for migration in plan:
        migration.mutate_state(state, preserve=False)
    executor.recorder.ensure_schema()
    with connection.schema_editor() as editor:
        for model in state.apps.get_models():
            if model._meta.can_migrate(connection) and router.allow_migrate_model(alias, model):
                editor.create_model(model)
        for statement in editor.deferred_sql:  # indexes and foreign keys: SQL by hand replaces some
            editor.execute(statement)
        editor.deferred_sql.clear()
        for migration in filter(_is_ours, plan):
            for operation in migration.operations:
                if isinstance(operation, RunPython | RunSQL):
                    operation.database_forwards(migration.app_label, editor, state, state)
        _note(executor.recorder, plan)
    return len(plan)


def _is_state_of_tables(migration: Migration) -> bool:
    """Return False where the models that it leads to are not those of the tables."""
    return not any(isinstance(operation, SeparateDatabaseAndState) for operation in migration.operations)


def _is_ours(migration: Migration) -> bool:
    return Path(apps.get_app_config(migration.app_label).path).parent == settings.BASE_DIR


def _note(recorder: MigrationRecorder, plan: Sequence[Migration]) -> None:
    """Note the migrations as applied, with those that they replace, as Django's executor does."""
    keys = [key for each in plan for key in (*each.replaces, (each.app_label, each.name))]
    recorder.migration_qs.bulk_create(recorder.Migration(app=app, name=name) for app, name in keys)
