"""Files can expire. Before this column no file does.

Safe beside the previous release: the column may be empty. Databases have applied both operations as one migration, so
it is not split.
"""

from django.db import migrations, models

from infrastructure.databases.indexes import AddIndexWithoutLock


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ("imagehost", "0006_queue_of_previews"),
    ]

    operations = [
        migrations.AddField(
            model_name="file",
            name="expires_at",
            field=models.DateTimeField(
                editable=False,
                help_text="From then on the file counts as deleted; empty: it does not expire.",
                null=True,
            ),
        ),
        AddIndexWithoutLock(
            model_name="file",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="imagehost_file_expiring"
            ),
        ),
    ]
