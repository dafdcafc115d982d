"""Settings and sections lose the control characters that JSON writes in two: line breaks, tabs, backspaces."""

import importlib

from django.db import migrations
from django.db.models import TextField
from django.db.models.functions import Cast

SHORT = r"\\[bfnrt]"


def clean(apps, schema_editor):
    earlier = importlib.import_module("lookup.migrations.0007_clean_texts")
    changed = []
    for name, column in earlier.JSON.items():
        rows = apps.get_model("lookup", name)._default_manager.annotate(text=Cast(column, TextField()))
        for row in rows.filter(text__regex=SHORT).iterator(chunk_size=500):
            changed += earlier._write(row, column, earlier.cleaned_json(getattr(row, column)))
    earlier.mark_stale(apps, changed)


class Migration(migrations.Migration):
    dependencies = [("lookup", "0007_clean_texts")]

    operations = [migrations.RunPython(clean, migrations.RunPython.noop)]
