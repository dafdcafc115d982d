"""Display names as searches compare them: rows of earlier releases in batches, and the index."""

from django.db import migrations, models

from infrastructure.databases import folding
from infrastructure.databases.indexes import AddIndexWithoutLock


def fill(apps, schema_editor):
    """In batches: a row that has the column is left alone, so an attempt that was interrupted goes on."""
    folding.fill(apps.get_model("accounts", "User"), "display_name_folded")


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ("accounts", "0012_folded_display_names"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexWithoutLock(
            model_name="user",
            index=models.Index(
                condition=models.Q(("display_name_folded__gt", "")),
                fields=["display_name_folded"],
                name="user_display_name_folded",
                opclasses=["varchar_pattern_ops"],
            ),
        ),
    ]
