"""Display names of profiles as searches compare them: rows of earlier releases in batches, and the index. Both indexes
of names in upper case go.

Safe beside the previous release: its search reads the tables until it ends.
"""

from django.db import migrations, models

from infrastructure.databases import folding
from infrastructure.databases.indexes import AddIndexWithoutLock

EARLIER = ("user_display_name_prefix", "profile_display_name_prefix")


def fill(apps, schema_editor):
    """In batches: a row that has the column is left alone, so an attempt that was interrupted goes on."""
    folding.fill(apps.get_model("lookup", "Profile"), "display_name_folded")


def drop_earlier(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for index in EARLIER:
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ("accounts", "0013_fill_folded_display_names"),
        ("lookup", "0017_words_of_colors"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexWithoutLock(
            model_name="profile",
            index=models.Index(
                condition=models.Q(("display_name_folded__gt", "")),
                fields=["display_name_folded"],
                name="profile_display_name_folded",
                opclasses=["varchar_pattern_ops"],
            ),
        ),
        migrations.RunPython(drop_earlier, migrations.RunPython.noop),
    ]
