"""Adds the index that leads to the newest logouts of an app.

Safe beside the previous release: the index is built without a lock, and no row changes.
"""

from django.db import migrations, models

from infrastructure.databases.indexes import AddIndexWithoutLock


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0007_webhooks")]
    operations = [
        AddIndexWithoutLock(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("endpoint", None)), fields=["client_id", "-id"], name="webhook_logout_newest"
            ),
        ),
    ]
