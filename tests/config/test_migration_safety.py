"""Which migrations are refused because the previous release could not run beside them."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, migrations, models
from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState, ProjectState

from accounts.models import ApiKey
from tests.support import migration_safety, previous_release

pytestmark = pytest.mark.once

ITEM: list[tuple[str, Any]] = [  # fields of any kind
    ("id", models.BigAutoField(primary_key=True)),
    ("name", models.CharField(max_length=50)),
    ("note", models.CharField(max_length=50, null=True)),
    ("count", models.IntegerField(db_default=0)),
]


def refusal(operation: Operation | list[Operation], module: ModuleType | None = None, *, is_atomic: bool = True) -> str:
    """Each problem of a migration with that operation."""
    before = ProjectState()
    before.add_model(ModelState("shop", "Item", ITEM))
    migration = Migration("0002_change", "shop")
    vars(migration).update(operations=operation if isinstance(operation, list) else [operation], atomic=is_atomic)
    return "\n".join(migration_safety.problems(migration, module or ModuleType("migration"), before, set()))


def field(name: str, made: models.Field) -> operations.AddField:  # type: ignore[type-arg]  # of any value
    return operations.AddField("item", name, made)


def changed(name: str, made: models.Field) -> operations.AlterField:  # type: ignore[type-arg]  # of any value
    return operations.AlterField("item", name, made)


class ConcurrentIndex(operations.AddIndex):
    """As `django.contrib.postgres` has it."""


INDEX = models.Index(fields=["name"], name="item_name")
UNIQUE = models.UniqueConstraint(fields=["name"], name="one_name")
REFUSED = [
    (operations.RemoveField("item", "note"), "the previous release still reads it"),
    (operations.RenameField("item", "note", "remark"), "the previous release still reads it"),
    (operations.DeleteModel("Item"), "the previous release still reads it"),
    (operations.RenameModel("Item", "Thing"), "the previous release still reads it"),
    (operations.AlterModelTable("item", "thing"), "the previous release still reads it"),
    (field("size", models.IntegerField(default=1)), "it has no db_default"),
    (field("code", models.CharField(max_length=9, null=True, unique=True)), "the index of a unique field"),
    (changed("note", models.CharField(max_length=50)), "the previous release may write null"),
    (changed("name", models.CharField(max_length=49)), "the previous release may write more characters"),
    (changed("count", models.BigIntegerField(db_default=0)), "the type changes"),
    (changed("name", models.CharField(max_length=50, db_column="title")), "the previous release still reads it"),
    (changed("name", models.CharField(max_length=50, unique=True)), "its index is not concurrent"),
    (operations.AddIndex("item", INDEX), "it is not concurrent"),
    (ConcurrentIndex("item", INDEX), "a concurrent index needs `atomic = False`"),
    (operations.AddConstraint("item", UNIQUE), "the previous release may write what it forbids"),
    (operations.RunSQL("ALTER TABLE shop_item DROP COLUMN note"), "the previous release still reads it"),
    (operations.RunSQL("create index i on shop_item (note)"), "without CONCURRENTLY"),
    (
        operations.RunSQL("CREATE OR REPLACE TRIGGER t BEFORE INSERT ON shop_item"),
        "what writes of the previous release",
    ),
    (
        operations.SeparateDatabaseAndState([operations.RemoveField("item", "note")]),
        "the previous release still reads it",
    ),
    (
        operations.SeparateDatabaseAndState([], [operations.RemoveField("item", "name")]),
        "let the column be null or have a db_default before",
    ),
]
TAKEN = [
    field("size", models.IntegerField(db_default=1)),
    field("code", models.CharField(max_length=9, null=True)),
    changed("name", models.CharField(max_length=51)),
    changed("name", models.CharField(max_length=50, null=True)),
    operations.RemoveIndex("item", "item_name"),
    operations.RunSQL("DROP INDEX CONCURRENTLY i; CREATE INDEX CONCURRENTLY i ON shop_item (note)"),
    operations.SeparateDatabaseAndState([], [operations.RemoveField("item", "note")]),
    operations.SeparateDatabaseAndState([], [operations.RemoveField("item", "count")]),
    [
        operations.CreateModel("Thing", ITEM),
        operations.AddIndex("thing", INDEX),
        operations.AddConstraint("thing", UNIQUE),
    ],
]


@pytest.mark.parametrize(("operation", "reason"), REFUSED)
def test_what_the_previous_release_cannot_run_beside_is_refused(operation: Operation, reason: str) -> None:
    assert reason in refusal(operation)


@pytest.mark.parametrize("operation", TAKEN)
def test_what_it_does_not_notice_is_taken(operation: Operation | list[Operation]) -> None:
    assert refusal(operation) == ""


def test_a_concurrent_index_is_taken_outside_of_a_transaction() -> None:
    assert refusal(ConcurrentIndex("item", INDEX), is_atomic=False) == ""


def test_a_column_is_added_in_a_transaction() -> None:
    column = field("code", models.CharField(max_length=9, null=True))
    assert "without a transaction" in refusal(column, is_atomic=False)


def test_a_migration_that_says_why_it_is_safe_is_taken() -> None:
    """The second phase of a removal."""
    removal = operations.RemoveField("item", "note")
    said = ModuleType("migration", "Drops a column.\n\nSafe beside the previous release: it no longer reads `note`.")
    assert refusal(removal, said) == ""
    assert refusal(removal, ModuleType("migration", "Safe beside the previous release:")) != ""


FUNCTIONS = {
    "all at once": ("    rows.update(note='')", "it has no batches"),
    "in batches": ("    for row in rows.iterator(chunk_size=500): row.save()", ""),
    "an index": ("    schema_editor.execute('CREATE INDEX i ON shop_item (note)')", "without CONCURRENTLY"),
    "a setting": ("    schema_editor.execute('ALTER TABLE shop_item SET (fillfactor = 90)')", ""),
    "a trigger": ("    schema_editor.execute('CREATE TRIGGER t BEFORE INSERT ON shop_item')", "what writes of the"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_a_migration(tmp_path: Path, name: str) -> None:
    body, reason = FUNCTIONS[name]
    path = tmp_path / "migration.py"
    path.write_text(f"def change(apps, schema_editor):\n    rows = apps.get_model('shop', 'Item').objects\n{body}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    problem = refusal(migrations.RunPython(module.change, migrations.RunPython.noop), module)
    assert reason in problem
    assert bool(reason) == bool(problem)


def test_every_migration_that_is_new_is_looked_at() -> None:
    """Against a release of nothing, in which only the first migration of each app makes tables."""
    found = [str(migration) for migration, _, _ in migration_safety.new_migrations(set())]
    app = ApiKey._meta.app_label
    assert f"{app}.0001_models" in found
    assert "auth.0001_initial" not in found
    known = {tuple(name.split(".")) for name in found if name != f"{app}.0001_models"}
    left = migration_safety.new_migrations({(label, name) for label, name in known})
    assert [str(migration) for migration, _, _ in left] == [f"{app}.0001_models"]


# --- Where the previous release is found ---


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three commits; `deploy/previous-release` names the first."""
    folder = tmp_path / "history"
    (folder / "shop" / "migrations").mkdir(parents=True)
    (folder / "deploy").mkdir()
    git(folder, "init", "--quiet")
    for name in ("0001_initial", "0002_more", "0003_rest"):
        (folder / "shop" / "migrations" / f"{name}.py").write_text(name)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", name)
    name_release(folder, git(folder, "rev-parse", "HEAD~2"), monkeypatch)
    return folder


def name_release(folder: Path, commit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previous_release, "ROOT", folder)
    monkeypatch.setattr(previous_release, "FILE", folder / "deploy" / "previous-release")
    (folder / "deploy").mkdir(exist_ok=True)
    (folder / "deploy" / "previous-release").write_text(f"# The release before.\n{commit}\n")


def test_the_file_names_the_commit(history: Path, tmp_path: Path) -> None:
    commit, remark = previous_release.commit()
    assert (commit, remark) == (git(history, "rev-parse", "HEAD~2"), "")
    assert previous_release.migrations(commit) == {("shop", "0001_initial")}
    previous_release.check_out(commit, tmp_path / "release")
    assert [path.name for path in (tmp_path / "release").rglob("*.py")] == ["0001_initial.py"]


def test_a_shallow_clone_takes_what_it_has_and_says_so(
    history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "--quiet", "--depth", "2", f"file://{history}", "shallow")
    name_release(tmp_path / "shallow", git(history, "rev-parse", "HEAD~2"), monkeypatch)
    commit, remark = previous_release.commit()
    assert commit == git(history, "rev-parse", "HEAD~1")
    assert "git fetch --unshallow" in remark


def test_a_commit_that_the_whole_history_lacks_is_an_error(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name_release(history, "0" * 40, monkeypatch)
    with pytest.raises(previous_release.NoPreviousRelease, match="has no commit 0000"):
        previous_release.commit()


def test_packages_of_a_lock_file(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(
        "# by uv\nDjango==5.2.1 \\\n    --hash=sha256:ab\nuvloop==0.2 ; sys_platform != 'win32' \\\n    # via x==1\n"
    )
    assert previous_release.packages(lock) == {"Django==5.2.1", "uvloop==0.2"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("app", "name"),
    [
        ("accounts", "0004_key_days_and_deletions"),
        ("imagehost", "0011_fill_folded_names"),
        ("lookup", "0018_fill_folded_display_names"),
    ],
)
def test_a_database_that_lacks_a_replaced_migration_is_not_migrated(app: str, name: str) -> None:
    MigrationRecorder(connection).record_unapplied(app, name)
    with pytest.raises(CommandError, match=f"^{app} lacks 1 of .* {name} first"):
        call_command("migrate", verbosity=0)


# The last migrations that a first run can be in the middle of: later ones change tables, each in a transaction.
OF_THE_FIRST_RELEASE = {"imagehost": "0001", "lookup": "0003", "accounts": "0003", "oidc_provider": "0003"}


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_first_run_that_was_interrupted_after_the_models_goes_on() -> None:
    """So does one on a database of the previous release, which has what the SQL by hand makes."""
    for app, last in OF_THE_FIRST_RELEASE.items():
        call_command("migrate", app, last, verbosity=0)
    migrations = migration_safety.new_migrations(set())
    ours = [(migration.app_label, migration.name) for migration, _, _ in migrations]
    recorder = MigrationRecorder(connection)
    for key in ours:  # a replacing migration is written at the end of a run
        recorder.record_unapplied(*key)
    call_command("migrate", verbosity=0)
    assert recorder.applied_migrations().keys() >= {*ours}
