"""Documents get a digest of what leaderboards say of their user. It is filled by the next rendering: every document of an
earlier release is stale, for its fingerprint names other forms.

On PostgreSQL the rows of a user are found by a hash index: a leaderboard looks for three rows of each of a hundred
users, and a tree of texts takes half as long again. The indexes take the place of those that Django makes for LIKE, by
which no id is looked for.
"""

from django.db import migrations, models

# The table, the column, Django's index and ours.
INDEXES = (
    ("accounts_user", "id", "accounts_user_id_de90ab15_like", "user_by_id"),
    (
        *("lookup_userdocument", "user_id"),
        *("lookup_userdocument_user_id_6f3f6333_like", "user_document_by_user"),
    ),
    (
        *("lookup_profiledocument", "user_id"),
        *("lookup_profiledocument_user_id_5da8bafa_like", "profile_document_by_user"),
    ),
)


def make_hash_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table, column, former, index in INDEXES:
            schema_editor.execute(f"CREATE INDEX {index} ON {table} USING hash ({column})")
            schema_editor.execute(f"DROP INDEX IF EXISTS {former}")


def make_former_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table, column, former, index in INDEXES:
            schema_editor.execute(f"CREATE INDEX {former} ON {table} ({column} varchar_pattern_ops)")
            schema_editor.execute(f"DROP INDEX {index}")


class Migration(migrations.Migration):

    dependencies = [
        ("lookup", "0009_document_heads"),
    ]

    operations = [
        migrations.AddField(
            model_name="profiledocument",
            name="leaderboard_digest",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Says whether `leaderboard` has changed.",
                max_length=32,
            ),
        ),
        migrations.RunPython(make_hash_indexes, make_former_indexes),
    ]
