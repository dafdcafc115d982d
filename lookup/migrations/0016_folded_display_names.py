"""Display names of profiles as searches compare them: the column."""

from django.db import migrations

from infrastructure.databases import folding


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0012_folded_display_names"),
        ("lookup", "0015_views_and_clicks_by_day"),
    ]

    operations = [
        migrations.AddField(
            model_name="profile",
            name="display_name_folded",
            field=folding.FoldedField(editable=False, max_length=64, null=True, of="display_name"),
        ),
    ]
