"""Documents hold what lookups say of the user too. They are filled by the next rendering: every document of an earlier
release is stale, for its fingerprint names other forms.
"""

from django.db import migrations, models

TEXTS = (
    *("head", "lapsed_head", "profile_text", "badges", "widgets", "audios", "backgrounds", "links", "projects"),
    *("gallery", "sections", "earlier", "leaderboard"),
)
# One page holds all of most documents; to gather texts from the side table took a third of the time of a lookup.
# A server that was built without lz4 keeps its own way to compress.
STORAGE = f"""
    ALTER TABLE lookup_profiledocument SET (toast_tuple_target = 8160);
    DO $$ BEGIN
        ALTER TABLE lookup_profiledocument
        {", ".join(f"ALTER COLUMN {column} SET COMPRESSION lz4" for column in TEXTS)};
    EXCEPTION WHEN feature_not_supported OR invalid_parameter_value OR syntax_error THEN NULL;
    END $$
"""


def set_storage(apps, schema_editor):
    """Of rows that are written from now on."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(STORAGE)


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0007_public_version"),
        ("lookup", "0008_clean_short_escapes"),
    ]

    operations = [
        migrations.AddField(
            model_name="profiledocument",
            name="head",
            field=models.TextField(
                db_default="", default="", help_text="`user` of the current form, until the plan ends."
            ),
        ),
        migrations.AddField(
            model_name="profiledocument",
            name="is_main",
            field=models.BooleanField(db_default=False, default=False, help_text="Whether its profile is the main one."),
        ),
        migrations.AddField(
            model_name="profiledocument",
            name="lapsed_head",
            field=models.TextField(blank=True, db_default="", default="", help_text="The same from then on."),
        ),
        migrations.AddField(
            model_name="profiledocument",
            name="plan_ends",
            field=models.BigIntegerField(
                blank=True, help_text="Microseconds since 1970; null: the plan does not end.", null=True
            ),
        ),
        migrations.AddField(
            model_name="profiledocument",
            name="user_version",
            field=models.BigIntegerField(db_default=-1, default=-1),
        ),
        migrations.RunPython(set_storage, migrations.RunPython.noop),
    ]
