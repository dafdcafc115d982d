"""Back-channel logout: the address of an app, and what the sessions of people are called there.

Safe beside the previous release: the new columns have defaults in the database, and it deletes users and apps without
looking at the new table. A refresh by one of its processes leaves the `sid` out, until the next sign-in.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("oidc_provider", "0007_teams"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField(
            model_name="application",
            name="backchannel_logout_uri",
            field=models.CharField(blank=True, db_default="", default="", max_length=512, verbose_name="logout URL"),
        ),
        migrations.AddField(
            model_name="grant",
            name="sid",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=43),
        ),
        migrations.AddField(
            model_name="refreshtoken",
            name="sid",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=43),
        ),
        migrations.CreateModel(
            name="ClientSession",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sid", models.CharField(max_length=43, unique=True)),
                ("session", models.CharField(max_length=43)),
                ("created_at", models.DateTimeField()),
                ("used_at", models.DateTimeField()),
                (
                    "application",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="client_sessions",
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="client_sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["used_at"], name="client_session_used")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "session", "application"), name="client_session_one_for_each"
                    ),
                ],
            },
        ),
    ]
