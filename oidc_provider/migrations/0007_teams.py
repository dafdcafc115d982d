"""Teams, their members and invitations.

Safe beside the previous release: the new column may be null, and an app that a process of that release adds belongs to
no team. Until those processes have ended, they show an app of a team to its owner of record alone, and they cannot
delete the account of a member of a team: the database refuses it, and the job tries again.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

ROLES = [("OWNER", "Owner"), ("DEVELOPER", "Developer"), ("VIEWER", "Viewer")]
NAMES = [name for name, _ in ROLES]


class Migration(migrations.Migration):
    dependencies = [
        ("oidc_provider", "0006_uses_of_secrets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.AddField(
            model_name="application",
            name="team",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="applications",
                to="oidc_provider.team",
            ),
        ),
        migrations.CreateModel(
            name="TeamMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=ROLES, max_length=16)),
                ("joined_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="oidc_provider.team"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="team_memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["team", "user"], name="team_member_one_for_team_and_user"),
                    models.CheckConstraint(condition=Q(role__in=NAMES), name="team_member_role_is_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(blank=True, choices=ROLES, max_length=16)),
                ("email", models.EmailField(max_length=254)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(editable=False)),
                ("expires_at", models.DateTimeField(db_index=True, editable=False)),
                (
                    "application",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="oidc_provider.team",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["team", "email"], name="invitation_one_for_team_and_email"),
                    models.UniqueConstraint(fields=["application"], name="invitation_one_for_application"),
                    models.CheckConstraint(
                        condition=Q(team__isnull=False, application=None, role__in=NAMES)
                        | Q(team=None, application__isnull=False, role=""),
                        name="invitation_is_to_team_or_application",
                    ),
                ],
            },
        ),
    ]
