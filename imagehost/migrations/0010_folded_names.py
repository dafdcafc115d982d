"""Names of files as searches compare them; those of before are folded in batches."""

from django.db import migrations

from accounts.databases import folding


def fill(apps, schema_editor):
    """In batches: a row that has the column is left alone, so an attempt that was interrupted goes on."""
    folding.fill(apps.get_model("imagehost", "File"), "original_name_folded")


class Migration(migrations.Migration):

    atomic = False  # each batch is a transaction of its own
    dependencies = [
        ("accounts", "0012_folded_display_names"),
        ("imagehost", "0009_turns_of_previews"),
    ]

    operations = [
        migrations.AddField(
            model_name="file",
            name="original_name_folded",
            field=folding.FoldedField(editable=False, max_length=1000, null=True, of="original_name"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
