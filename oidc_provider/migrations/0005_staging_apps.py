"""Staging apps beside live ones.

Safe beside the previous release: the column may be null, and a staging app is an app like any other to it.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    dependencies = [("oidc_provider", "0004_second_secret")]
    operations = [
        migrations.AddField(
            model_name="application",
            name="staging_of",
            field=models.OneToOneField(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="staging",
                to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="application",
            constraint=models.CheckConstraint(
                condition=~Q(staging_of=F("pk")), name="application_is_no_staging_of_itself"
            ),
        ),
    ]
