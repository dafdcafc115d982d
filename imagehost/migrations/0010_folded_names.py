"""Names of files as searches compare them: the column."""

from django.db import migrations

from infrastructure.databases import folding


class Migration(migrations.Migration):

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
    ]
