"""Names hold no control character and no bidirectional override, those of before included."""

import re

from django.db import migrations, models

import infrastructure.text_rules

UNSAFE = "[\x01-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
COLUMNS = [("User", "display_name"), ("ApiKey", "name"), ("LinkedAccount", "name")]


def clean(apps, schema_editor):
    for model, column in COLUMNS:
        rows = apps.get_model("accounts", model)._default_manager
        for pk, name in list(rows.filter(**{f"{column}__regex": UNSAFE}).values_list("pk", column)):
            rows.filter(pk=pk).update(**{column: re.sub(UNSAFE, "", name)})


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_docs_in_markdown")]

    operations = [
        migrations.AlterField(
            model_name="apikey",
            name="name",
            field=models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line]),
        ),
        migrations.AlterField(
            model_name="user",
            name="display_name",
            field=models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line]),
        ),
        migrations.RunPython(clean, migrations.RunPython.noop),
    ]
