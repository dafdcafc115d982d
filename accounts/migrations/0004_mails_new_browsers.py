"""Whether the owner gets an email about a sign-in from a new browser, and which browsers are known.

SQLite makes the table of users again and loses its triggers; those of linked accounts name that table, so they make room too.

Safe beside the previous release: the database fills the columns of the rows that that release writes.
"""

from importlib import import_module

from django.db import migrations, models

triggers = import_module("accounts.migrations.0002_triggers")


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        triggers.drop_triggers(apps, schema_editor)


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        triggers.create_triggers(apps, schema_editor)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_room_for_uses")]
    operations = [
        migrations.RunPython(drop_triggers, create_triggers),
        migrations.AddField(
            model_name="user",
            name="mails_new_browsers",
            field=models.BooleanField(
                db_default=True,
                default=True,
                editable=False,
                help_text="An email tells of a sign-in from a new browser.",
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="browser_generation",
            field=models.IntegerField(
                db_default=0,
                default=0,
                editable=False,
                help_text="Is raised when every browser shall count as new again.",
            ),
        ),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
