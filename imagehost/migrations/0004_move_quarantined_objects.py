"""Objects of files that are in quarantine get keys that cannot be guessed; the job `sweep_uploads` moves them."""

import secrets

from django.db import migrations


def move(apps, schema_editor):
    files = apps.get_model("imagehost", "File").objects
    for file in files.filter(state="READY", quarantined_at__isnull=False, moves_from="").iterator():
        files.filter(pk=file.pk).update(
            moves_from=file.key,
            key=f"quarantine/{secrets.token_hex(16)}-{file.name}.{file.extension}",
            preview_state="WAITING",
            preview_width=None,
            preview_height=None,
            preview_attempts=0,
        )


class Migration(migrations.Migration):
    dependencies = [("imagehost", "0003_preview_queue")]
    operations = [migrations.RunPython(move, migrations.RunPython.noop, elidable=True)]
