"""Reports of files, albums and folders; decisions that hide them, and appeals.

Safe beside the previous release: columns have defaults, and the constraint that is replaced refuses less than before, for
rows only that the previous release does not write. It sends reports of comments as the kind "Profile": only a label.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import infrastructure.text_rules

KINDS = [("PROFILE", "Profile"), ("COMMENT", "Comment"), ("FILE", "File"), ("ALBUM", "Album"), ("FOLDER", "Folder")]
REASONS = [
    ("SPAM", "Spam or advertising"),
    ("HARASSMENT", "Harassment or hate"),
    ("SEXUAL", "Sexual content"),
    ("IMPERSONATION", "Pretends to be someone else"),
    ("PRIVATE", "Shows private information"),
    ("ILLEGAL", "Violence or illegal content"),
    ("OTHER", "Something else"),
]
OUTCOMES = [
    ("DISMISSED", "Dismissed"),
    ("HANDLED", "Handled"),
    ("DELETED", "Comment deleted"),
    ("TAKEN_DOWN", "Taken down"),
]
BATCH = 1_000


def name_comments(apps, schema_editor):
    """Give the reports of comments their kind, a batch at a time."""
    rows = apps.get_model("lookup", "Report").objects.filter(kind="PROFILE").exclude(comment_text="")
    while keys := list(rows.values_list("pk", flat=True)[:BATCH]):
        rows.filter(pk__in=keys).update(kind="COMMENT")


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("lookup", "0003_indexes_for_like"),
    ]

    operations = [
        migrations.AddField(
            model_name="report",
            name="kind",
            field=models.CharField(choices=KINDS, db_default="PROFILE", default="PROFILE", max_length=16),
        ),
        migrations.AddField(
            model_name="report", name="thing", field=models.CharField(db_default="", default="", max_length=36)
        ),
        migrations.AddField(
            model_name="report", name="title", field=models.CharField(db_default="", default="", max_length=255)
        ),
        migrations.AddField(
            model_name="report", name="path", field=models.CharField(db_default="", default="", max_length=200)
        ),
        migrations.AlterField(
            model_name="report", name="outcome", field=models.CharField(choices=OUTCOMES, max_length=16, null=True)
        ),
        migrations.RemoveConstraint(model_name="report", name="report_of_profile_is_open_once"),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(
                condition=models.Q(("comment_text", ""), ("decided_at", None), ("thing", "")),
                fields=("reporter", "user"),
                name="report_of_profile_is_open_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(
                condition=models.Q(("decided_at", None), models.Q(("thing", ""), _negated=True)),
                fields=("reporter", "kind", "thing"),
                name="report_of_thing_is_open_once",
            ),
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=KINDS, max_length=16)),
                ("thing", models.CharField(max_length=36)),
                ("title", models.CharField(max_length=255)),
                ("reason", models.CharField(choices=REASONS, max_length=16)),
                ("words", models.TextField(blank=True, max_length=2000, validators=[infrastructure.text_rules.validate_text], verbose_name="words to the owner")),
                ("decided_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("lifted_at", models.DateTimeField(null=True)),
                (
                    "appeal",
                    models.TextField(
                        blank=True, max_length=1000, validators=[infrastructure.text_rules.validate_text]
                    ),
                ),
                ("appealed_at", models.DateTimeField(null=True)),
                ("is_granted", models.BooleanField(null=True, verbose_name="appeal granted")),
                ("answer", models.TextField(blank=True, max_length=2000, validators=[infrastructure.text_rules.validate_text], verbose_name="answer to the owner")),
                ("answered_at", models.DateTimeField(null=True)),
                (
                    "answered_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="appeals_answered",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="decisions_made",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="decisions",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("answered_at", None), ("appealed_at__isnull", False)),
                        fields=["appealed_at"],
                        name="decision_appeal_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("lifted_at", None)),
                        fields=("kind", "thing"),
                        name="decision_in_force_is_one",
                    )
                ],
            },
        ),
        migrations.RunPython(name_comments, migrations.RunPython.noop),
    ]
