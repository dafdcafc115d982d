"""manage.py export_profiles: where it writes, whom it leaves out, and how often it asks the database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import bans
from accounts.models import User
from lookup.documents import documents
from lookup.models import Profile, ProfileDocument
from lookup.transfer import exporting
from tests.factories.accounts import UserFactory
from tests.factories.lookup import CommentFactory
from tests.lookup.transfer_files import export, exported, lines_of

pytestmark = pytest.mark.django_db


def run(*options: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("export_profiles", *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_who_is_banned_or_private_is_left_out_and_counted() -> None:
    for name in ("Ada", "Dora", "Eve"):
        UserFactory(username=name, email="")
    bans.ban(user=User.objects.get(username="Dora"), by=None, reason="A test.")
    User.objects.filter(username="Eve").update(public_api_access=False)
    out, err = run()
    assert [json.loads(line)["user"]["username"] for line in lines_of(out)] == ["Ada"]
    said = "Left out 2 users who are banned or have turned public API access off."
    assert err == f"Exported 1 profiles.\n{said}\n"
    assert run("--username", "Eve")[0] == ""


def test_some_users_by_name_in_any_case() -> None:
    for name in ("Ada", "Ben", "Cleo"):
        UserFactory(username=name, email="")
    assert list(exported("--username", "cleo", "ADA")) == ["Ada", "Cleo"]
    assert list(exported("--username", "cleo", "--username", "ben")) == ["Ben", "Cleo"]
    with pytest.raises(CommandError, match="no user named Nobody"):
        run("--username", "Nobody")


def test_into_a_file(tmp_path: Path) -> None:
    UserFactory(username="Ada", email="")
    path = tmp_path / "profiles.jsonl"
    out, err = run("--output", str(path))
    assert (out, path.read_bytes().decode()) == ("", export())
    assert list(tmp_path.iterdir()) == [path]
    assert err.startswith("Exported 1 profiles.\n")
    with pytest.raises(CommandError, match="cannot be written: No such file or directory"):
        run("--output", str(tmp_path / "no" / "x"))


def test_a_stale_document_is_rendered_first() -> None:
    user = UserFactory(email="")
    Profile.objects.filter(user=user).update(location="Here")
    documents.mark_stale(Profile.objects.filter(user=user))
    assert exported()[user.username]["profile"]["location"] == "Here"
    ProfileDocument.objects.all().delete()
    assert exported()[user.username]["profile"]["location"] == "Here"


@pytest.mark.embedded
def test_the_number_of_queries_does_not_grow_with_the_users() -> None:
    """Two for each batch (users with their documents, comments), one that finds the end, one for who is left out."""
    CommentFactory(user=UserFactory(email=""))
    with CaptureQueriesContext(connection) as few:
        run()
    for _ in range(4):
        CommentFactory(user=UserFactory(email=""))
    with CaptureQueriesContext(connection) as many:
        run()
    assert (len(few), len(many)) == (4, 4)


def test_many_users_come_in_batches_by_uid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "BATCH", 2)
    for _ in range(5):
        UserFactory(email="")
    assert [line["user"]["uid"] for line in exported().values()] == list(range(5))
