"""Drops the indexes for LIKE that Django adds to unique texts and to foreign keys on PostgreSQL.

Tokens and codes are found by whole values only. Five of twenty indexes took a quarter of the time of a refresh.

Safe beside the previous release: a database of that release has none of these indexes.
"""

from django.db import migrations

LIKE_INDEXES = [
    "oidc_provider_accesstoken_token_checksum_fba9f0f7_like",
    "oidc_provider_accesstoken_user_id_d23cc398_like",
    "oidc_provider_refreshtoken_user_id_0ffd89fb_like",
    "oidc_provider_grant_code_b94b6fea_like",
    "oidc_provider_grant_user_id_3ed2fdb0_like",
]


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in LIKE_INDEXES:
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")


class Migration(migrations.Migration):
    dependencies = [("oidc_provider", "0001_models")]
    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
