"""Adds the views and downloads of files by day.

Safe beside the previous release: nothing there reads or writes the table, and the database does not check its files.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("imagehost", "0002_caption")]
    operations = [
        migrations.CreateModel(
            name="FileDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(db_index=True)),
                ("views", models.PositiveIntegerField(default=0)),
                ("downloads", models.PositiveIntegerField(default=0)),
                (
                    "file",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="days",
                        to="imagehost.file",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("file", "day"), name="imagehost_file_day_is_unique")
                ],
            },
        ),
    ]
