"""Staff without a second factor begin their grace period at the upgrade.

Safe beside the previous release: it leaves the new column alone. Whom it makes staff meanwhile has no grace period.
"""

from django.db import migrations, models
from django.db.models import Exists, OuterRef
from django.utils import timezone


def begin_grace(apps, schema_editor):
    of_user = apps.get_model("mfa", "Authenticator").objects.filter(user=OuterRef("pk"))
    staff = apps.get_model("accounts", "User").objects.filter(~Exists(of_user), is_staff=True)
    staff.update(second_factor_grace_from=timezone.now())


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0007_public_version"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="user",
            options={
                "permissions": [
                    ("ban_user", "Can ban a user and lift a ban"),
                    ("reset_password_user", "Can reset a user's password"),
                    ("reset_second_factor_user", "Can remove a user's second factor"),
                    ("unlock_scopes_user", "Can unlock and relock scopes for a user"),
                ]
            },
        ),
        migrations.AddField(
            model_name="user",
            name="second_factor_grace_from",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Of staff: from when the days without a second factor count. Empty: there are none.",
                null=True,
            ),
        ),
        migrations.RunPython(begin_grace, migrations.RunPython.noop),
    ]
