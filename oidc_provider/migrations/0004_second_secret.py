"""A second secret of an app, the last characters of both, and when each was last used.

Safe beside the previous release: the new columns have defaults. Until its processes have ended, they accept only the
first secret, and a reset by one of them leaves a second secret, which nobody can have made before.
"""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("oidc_provider", "0003_writes_of_tokens")]
    operations = [
        migrations.AddField(
            model_name="application",
            name="secret_hint",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=4),
        ),
        migrations.AddField(
            model_name="application",
            name="secret_used_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="application",
            name="second_secret",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=255),
        ),
        migrations.AddField(
            model_name="application",
            name="second_secret_changed_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="application",
            name="second_secret_hint",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=4),
        ),
        migrations.AddField(
            model_name="application",
            name="second_secret_used_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="application",
            constraint=models.CheckConstraint(
                condition=Q(second_secret="", second_secret_changed_at=None, second_secret_used_at=None)
                | (~Q(second_secret="") & Q(second_secret_changed_at__isnull=False)),
                name="application_second_secret_is_whole",
            ),
        ),
    ]
