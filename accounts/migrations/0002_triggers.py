"""The database raises `User.public_version` whenever what others see of the user changes, by whatever statement.

A migration of SQLite that makes one of the two tables again drops its triggers: call `create_triggers` after it.

Safe beside the previous release: a database of that release gets the same triggers again, in one transaction.
"""

from django.db import migrations

# What lookups, leaderboards and claims hold copies of. Bans and privacy are not among it: they are read live.
COLUMNS = (
    *("id", "uid", "username", "display_name", "created_at", "plan", "plan_expires_at", "is_verified", "is_inactive"),
)
OF_LINKED_ACCOUNT = ("user_id", "kind", "external_id", "name")
RAISE = "UPDATE accounts_user SET public_version = public_version + 1 WHERE id = {row}.user_id;"


def _changed(columns, operator):
    return " OR ".join(f"NEW.{column} {operator} OLD.{column}" for column in columns)


# A program may save a user that it read before the last change: the number never falls.
POSTGRESQL = (
    """
    CREATE FUNCTION accounts_raise_public_version() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.public_version := GREATEST(OLD.public_version, NEW.public_version) + 1;
        RETURN NEW;
    END $$
    """,
    f"""
    CREATE TRIGGER accounts_user_public_version BEFORE UPDATE ON accounts_user FOR EACH ROW
    WHEN (NEW.public_version < OLD.public_version OR {_changed(COLUMNS, "IS DISTINCT FROM")})
    EXECUTE FUNCTION accounts_raise_public_version()
    """,
    f"""
    CREATE FUNCTION accounts_raise_public_version_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN {RAISE.format(row="OLD")} END IF;
        IF TG_OP <> 'DELETE' THEN {RAISE.format(row="NEW")} END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER accounts_linkedaccount_public_version AFTER INSERT OR DELETE ON accounts_linkedaccount
    FOR EACH ROW EXECUTE FUNCTION accounts_raise_public_version_of_user()
    """,
    f"""
    CREATE TRIGGER accounts_linkedaccount_public_version_changed AFTER UPDATE ON accounts_linkedaccount
    FOR EACH ROW WHEN ({_changed(OF_LINKED_ACCOUNT, "IS DISTINCT FROM")})
    EXECUTE FUNCTION accounts_raise_public_version_of_user()
    """,
)
SQLITE = (
    f"""
    CREATE TRIGGER accounts_user_public_version AFTER UPDATE ON accounts_user
    WHEN NEW.public_version < OLD.public_version OR {_changed(COLUMNS, "IS NOT")}
    BEGIN
        UPDATE accounts_user SET public_version = MAX(OLD.public_version, NEW.public_version) + 1 WHERE id = NEW.id;
    END
    """,
    f"""
    CREATE TRIGGER accounts_linkedaccount_public_version_added AFTER INSERT ON accounts_linkedaccount
    BEGIN {RAISE.format(row="NEW")} END
    """,
    f"""
    CREATE TRIGGER accounts_linkedaccount_public_version_removed AFTER DELETE ON accounts_linkedaccount
    BEGIN {RAISE.format(row="OLD")} END
    """,
    f"""
    CREATE TRIGGER accounts_linkedaccount_public_version_changed AFTER UPDATE ON accounts_linkedaccount
    WHEN {_changed(OF_LINKED_ACCOUNT, "IS NOT")}
    BEGIN {RAISE.format(row="OLD")} {RAISE.format(row="NEW")} END
    """,
)
TRIGGERS = (
    ("accounts_user", "accounts_user_public_version"),
    *(
        ("accounts_linkedaccount", f"accounts_linkedaccount_public_version{change}")
        for change in ("", "_added", "_removed", "_changed")
    ),
)


def create_triggers(apps, schema_editor):
    drop_triggers(apps, schema_editor)
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def drop_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for table, trigger in TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {trigger}" + (f" ON {table}" if is_postgresql else ""))
    if is_postgresql:
        schema_editor.execute("DROP FUNCTION IF EXISTS accounts_raise_public_version()")
        schema_editor.execute("DROP FUNCTION IF EXISTS accounts_raise_public_version_of_user()")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_models")]
    operations = [migrations.RunPython(create_triggers, drop_triggers)]
