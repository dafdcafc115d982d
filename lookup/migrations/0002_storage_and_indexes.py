"""Sets what models cannot express on PostgreSQL: the storage of documents, and hash indexes of ids.

Safe beside the previous release: a database of that release has all of it, and nothing is built.
"""

from django.db import migrations

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
# The index, its table, its column, and Django's index for LIKE whose place it takes: no id is looked for by LIKE.
# A leaderboard finds three rows of each of a hundred users; a tree of texts takes half as long again.
HASHES = (
    ("user_by_id", "accounts_user", "id", "accounts_user_id_de90ab15_like"),
    ("user_document_by_user", "lookup_userdocument", "user_id", "lookup_userdocument_user_id_6f3f6333_like"),
    ("profile_document_by_user", "lookup_profiledocument", "user_id", "lookup_profiledocument_user_id_5da8bafa_like"),
)


def make(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(STORAGE)
    for index, table, column, former in HASHES:
        schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {table} USING hash ({column})")
        schema_editor.execute(f"DROP INDEX IF EXISTS {former}")


class Migration(migrations.Migration):
    dependencies = [("lookup", "0001_models")]
    operations = [migrations.RunPython(make, migrations.RunPython.noop)]
