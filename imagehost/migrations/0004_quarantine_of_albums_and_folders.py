"""Albums and folders that staff have taken down; and the decisions about files that were in quarantine before.

Safe beside the previous release: the columns may be null, and it reads no decisions.
"""

from django.db import migrations, models

BATCH = 500


def name_decisions(apps, schema_editor):
    """Write a decision about each file in quarantine, so that its owner can appeal. Files have owners until they are
    deleted."""
    decisions = apps.get_model("lookup", "Decision").objects
    files = apps.get_model("imagehost", "File").objects.filter(quarantined_at__isnull=False, owner__isnull=False)
    for file in files.exclude(state="DELETED").iterator(chunk_size=BATCH):
        decisions.get_or_create(
            kind="FILE",
            thing=str(file.pk),
            lifted_at=None,
            defaults={
                "user_id": file.owner_id,
                "title": f"{file.name}.{file.extension}",
                "reason": "OTHER",
                "decided_at": file.quarantined_at,
            },
        )


class Migration(migrations.Migration):
    dependencies = [("imagehost", "0003_counts_by_day"), ("lookup", "0004_reports_and_appeals")]

    operations = [
        migrations.AddField(
            model_name="album", name="quarantined_at", field=models.DateTimeField(editable=False, null=True)
        ),
        migrations.AddField(
            model_name="folder", name="quarantined_at", field=models.DateTimeField(editable=False, null=True)
        ),
        migrations.RunPython(name_decisions, migrations.RunPython.noop),
    ]
