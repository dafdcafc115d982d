"""Names of files as searches compare them: rows of earlier releases in batches."""

from django.db import migrations

from infrastructure.databases import folding


def fill(apps, schema_editor):
    """In batches: a row that has the column is left alone, so an attempt that was interrupted goes on."""
    folding.fill(apps.get_model("imagehost", "File"), "original_name_folded")


class Migration(migrations.Migration):

    atomic = False  # each batch is a transaction of its own
    dependencies = [
        ("imagehost", "0010_folded_names"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
