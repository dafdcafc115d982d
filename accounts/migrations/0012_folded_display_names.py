"""Display names as searches compare them: the column."""

from django.db import migrations

from infrastructure.databases import folding


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0011_name_of_api_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="display_name_folded",
            field=folding.FoldedField(editable=False, max_length=64, null=True, of="display_name"),
        ),
    ]
