"""Adds the notices of staff to people, and when staff hid a profile.

Safe beside the previous release: it writes neither, and nothing it reads has changed. Its form of privacy can
make a hidden profile public, which staff then show and hide again. A user whom it deletes leaves notices behind that no
page shows.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

KINDS = [("WARNING", "Warning"), ("PICTURE", "Picture removed"), ("HIDDEN", "Profile hidden")]


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_mails_new_browsers")]
    operations = [
        migrations.AlterModelOptions(
            name="user",
            options={
                "permissions": [
                    ("ban_user", "Can ban a user and lift a ban"),
                    ("reset_password_user", "Can reset a user's password"),
                    ("reset_second_factor_user", "Can remove a user's second factor"),
                    ("unlock_scopes_user", "Can unlock and relock scopes for a user"),
                    ("warn_user", "Can warn a user"),
                    ("hide_user", "Can hide a user's profile and show it again"),
                ]
            },
        ),
        migrations.AddField(
            model_name="user",
            name="hidden_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="When staff hid the profile: it is private until staff show it again. Empty: they did not.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="StaffNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=KINDS, max_length=16)),
                ("text", models.TextField(max_length=1000)),
                ("was_public", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("dismissed_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="staff_notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("dismissed_at", None)), fields=["user"], name="staff_notice_shown"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("dismissed_at", None), ("kind", "HIDDEN")),
                        fields=("user",),
                        name="staff_notice_hidden_once",
                    )
                ],
            },
        ),
    ]
