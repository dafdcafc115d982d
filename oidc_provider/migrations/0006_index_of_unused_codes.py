"""Unused codes get an index of their own: `delete_expired` walked past every used one."""

from django.db import migrations, models

from infrastructure.databases.indexes import AddIndexWithoutLock


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ("oidc_provider", "0005_indexes_of_tokens"),
    ]

    operations = [
        AddIndexWithoutLock(
            model_name="grant",
            index=models.Index(condition=models.Q(("used_at__isnull", True)), fields=["expires"], name="grant_unused"),
        ),
    ]
