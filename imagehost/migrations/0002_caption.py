"""Adds captions of files.

Safe beside the previous release: the column has a default of the database.
"""

import infrastructure.text_rules
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("imagehost", "0001_models")]
    operations = [
        migrations.AddField(
            model_name="file",
            name="caption",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Shown with the file on pages, and in place of its picture.",
                max_length=300,
                validators=[infrastructure.text_rules.validate_line],
            ),
        ),
    ]
