"""Adds the origins that a key names: pages which may open event streams with a token of it.

Safe beside the previous release: the database fills the column of the rows that that release writes.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_staff_notices")]
    operations = [
        migrations.AddField(
            model_name="apikey",
            name="origins",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text=(
                    "Pages that may open event streams with a token of the key: https:// and the host, one on each line."
                ),
                max_length=3000,
            ),
        ),
    ]
