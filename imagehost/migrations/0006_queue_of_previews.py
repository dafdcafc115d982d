"""The index of waiting previews gets its second column: files that were due at one time were sorted at each claim."""

from django.db import migrations, models

from infrastructure.databases.indexes import AddIndexWithoutLock, RemoveIndexWithoutLock

WAITING = models.Q(("moves_from", ""), ("preview_state", "WAITING"), ("quarantined_at__isnull", True), ("state", "READY"))


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ("imagehost", "0005_resumable_reconciliation"),
    ]

    operations = [
        AddIndexWithoutLock(
            model_name="file",
            index=models.Index(condition=WAITING, fields=["preview_due_at", "id"], name="imagehost_file_preview_next"),
        ),
        RemoveIndexWithoutLock(model_name="file", name="imagehost_file_preview_due"),
    ]
