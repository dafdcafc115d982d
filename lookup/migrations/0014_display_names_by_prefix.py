"""PostgreSQL finds display names by how they begin, in any case. Usernames and aliases have such an index: Django makes
one for each key that is a text.

Safe beside the previous release: the indexes are built CONCURRENTLY.
"""

from django.db import migrations

INDEXES = {"user_display_name_prefix": "accounts_user", "profile_display_name_prefix": "lookup_profile"}


def make(apps, schema_editor):
    """An attempt that was interrupted leaves an index that is invalid: it goes first."""
    drop(apps, schema_editor)
    if schema_editor.connection.vendor == "postgresql":
        for index, table in INDEXES.items():
            schema_editor.execute(
                f"CREATE INDEX CONCURRENTLY {index} ON {table} (upper(display_name) text_pattern_ops) "
                "WHERE display_name <> ''"
            )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for index in INDEXES:
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ("accounts", "0010_job_reports"),
        ("lookup", "0013_newcomers_of_boards"),
    ]

    operations = [
        migrations.RunPython(make, drop),
    ]
