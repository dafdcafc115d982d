"""Lines written by hand, which lookups then show, and the command that exports."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import bans
from accounts.models import AuditEvent, User
from lookup.documents import documents
from lookup.models import Profile, ProfileDocument
from lookup.transfer import exporting
from tests.factories.accounts import UserFactory
from tests.factories.lookup import CommentFactory
from tests.lookup.transfer_files import export, exported, lines_of, load, looked_up
from tests.lookup.transfer_line import AUTHOR, PROFILE, USER, comment, line, normal, second, text_of

pytestmark = pytest.mark.django_db


def test_the_documents_of_new_users_are_fresh_after_an_import(tmp_path: Path) -> None:
    """A linked account raises the version that documents are rendered from."""
    load(text_of(line()), tmp_path)
    shown = ProfileDocument.objects.filter(user=USER, is_main=True)
    assert (shown.count(), shown.filter(documents.is_fresh()).count()) == (1, 1)


def test_an_author_is_private_until_a_line_of_their_own_comes(tmp_path: Path) -> None:
    author = UserFactory(id=AUTHOR, username="Author", email="")
    own = json.loads(export())
    author.delete()
    load(text_of(line()), tmp_path)
    made = User.objects.get(pk=AUTHOR)
    assert (made.uid, made.public_api_access) == (7, False)
    own["user"] |= {"uid": made.uid}
    load(text_of(own), tmp_path)
    assert User.objects.get(pk=AUTHOR).public_api_access
    assert len(lines_of(export())) == 2


def test_an_imported_user_cannot_sign_in_and_has_no_address(tmp_path: Path) -> None:
    load(text_of(line()), tmp_path)
    for user in User.objects.all():
        assert (user.has_usable_password(), user.email, user.is_staff) == (False, "", False)
    assert list(AuditEvent.objects.order_by("pk").values_list("verb", "object_id", "actor_kind")) == [
        ("profile:imported", USER, "SYSTEM"),
        ("user:created", AUTHOR, "SYSTEM"),
    ]
    assert UserFactory(email="").uid == 42
    load(text_of(second(uid=3)), tmp_path)
    assert UserFactory(email="").uid == 43


def test_the_mirrored_picture(tmp_path: Path) -> None:
    mirrored = line()
    url = f"{settings.BASE_URL}/api/chat/avatar/{USER}"
    mirrored["user"]["avatarUrl"] = url
    mirrored["profile"]["avatar"] = {"url": url, "mime": "image/png", "width": None, "height": None, "duration": None}
    mirrored["profile"]["settings"]["avatarSettings"]["mirrorChat"] = True
    author = {"id": AUTHOR, "username": "Author", "name": "A", "uid": 7}
    author["avatarUrl"] = f"{settings.BASE_URL}/api/chat/avatar/{AUTHOR}"
    mirrored["comments"]["items"] = [comment(80, author=author)]
    load(text_of(mirrored), tmp_path)
    assert normal(looked_up(USER)) == normal(mirrored)
    load(text_of(line(comments={"count": 0, "items": []})), tmp_path)
    mirrored["comments"] = {"count": 1, "items": []}
    load(text_of(mirrored), tmp_path)  # the upload behind the mirrored picture is still there
    avatar = Profile.objects.get(pk=PROFILE).avatar
    assert avatar is not None
    assert avatar.path == "me.webp"


def test_settings_and_skills_that_are_left_out_have_their_defaults(tmp_path: Path) -> None:
    sparse = line()
    sparse["profile"]["settings"] = {"cardSettings": {"blur": 3}}
    sparse["sections"][0]["skills"] = {"core": ["Rust"]}
    load(text_of(sparse), tmp_path)
    answer = looked_up(USER)
    assert len(answer["profile"]["settings"]) == 22
    assert answer["sections"][0]["skills"]["frontend"] == []


def test_comments_at_one_moment_keep_their_order(tmp_path: Path) -> None:
    items = [comment(number) for number in (85, 83, 84, 82)]
    load(text_of(line(comments={"count": 4, "items": items})), tmp_path)
    assert looked_up(USER)["comments"]["items"] == [{**item, "createdAt": "2026-01-01T12:00:00.500Z"} for item in items]


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
