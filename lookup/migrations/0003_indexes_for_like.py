"""Drops the indexes for LIKE that Django adds to primary and foreign keys on PostgreSQL, except those of names.

Ids are found by whole values only. 90 of 389 indexes were such, and 38 % of the bytes of all indexes; each new row wrote
into them. `infrastructure.databases.postgresql` makes no further ones.

Safe beside the previous release: it looks for no id by LIKE.
"""

from django.db import migrations

KEPT = (("accounts_name", "key"), ("lookup_alias", "name_id"))  # searches look for the beginning of a name


def drop(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    at_once = "" if connection.in_atomic_block else "CONCURRENTLY"
    for model in apps.get_models(include_auto_created=True):
        table = model._meta.db_table
        keys = [field.column for field in model._meta.local_fields if field.primary_key or field.is_relation]
        for name in [schema_editor._create_index_name(table, [key], "_like") for key in keys if (table, key) not in KEPT]:
            schema_editor.execute(f"DROP INDEX {at_once} IF EXISTS {name}")
    for table, key in KEPT:
        name = schema_editor._create_index_name(table, [key], "_like")
        schema_editor.execute(f"CREATE INDEX {at_once} IF NOT EXISTS {name} ON {table} ({key} varchar_pattern_ops)")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0002_triggers"), ("lookup", "0002_storage_and_indexes")]
    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
