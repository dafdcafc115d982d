"""`check_documents`: what differs between the read model and the tables is found, named and mended."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Model
from django.test import override_settings
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Name, User
from lookup import models
from lookup.documents import counters, document_checks, documents, resolve
from lookup.documents.resolve import Parts
from tests.factories.accounts import UserFactory
from tests.factories.lookup import main_profile
from tests.lookup import answers
from tests.lookup.answers import INCLUDES
from tests.lookup.filled import ADA, OTHER_PROFILE, Filled, row

SAME = "The documents say what the tables say.\n"


def _check(*arguments: str) -> tuple[str, str]:
    """What the command says, and why it fails."""
    out = StringIO()
    try:
        call_command("check_documents", *arguments, stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def _found() -> set[tuple[str, str, str]]:
    return {(one.kind, one.owner, one.column) for one in document_checks.differences()}


# A change of the tables past every operation, and the columns that it makes wrong.
BOTH = ("earlier", "leaderboard", "leaderboard_digest")
CHANGES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "a text": (lambda: _raw(models.Profile, is_main=True, user=ADA).update(description="x"), ("profile_text", *BOTH)),
    "a badge": (
        lambda: _raw(models.ProfileBadge, pk=row(0xB2)).update(is_enabled=True),
        ("badges", *BOTH, "badge_count"),
    ),
    "a hidden audio": (lambda: _raw(models.Audio, pk=row(0xC3)).delete(), BOTH),
    "a deleted project": (lambda: _raw(models.Project, pk=row(0xF1)).delete(), ("projects", "sections")),
    "a loose picture": (lambda: _raw(models.GalleryItem, pk=row(0x6F)).delete(), ("gallery",)),
    "the first alias": (lambda: _raw(models.Alias, pk="COUNTESS").update(redirects=False), ("aliases", "earlier")),
    "a name": (
        lambda: _raw(Name, pk="COUNTESS").update(name="COUNTESS"),
        ("aliases", *BOTH),
    ),
}


def _raw(model: type[Model], **conditions: object) -> Any:
    """Rows that no operation changes; Any: a query set of that model."""
    return model._default_manager.filter(**conditions)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_tables_is_found_at_each_column(filled: Filled, change: str) -> None:
    make, columns = CHANGES[change]
    make()
    found = {one for one in _found() if one[1] != OTHER_PROFILE}
    assert found == {("profile", filled.profile.pk, column) for column in columns}


def test_changes_of_the_tables_are_named_and_repaired(filled: Filled) -> None:
    before = answers.user("ada", *INCLUDES).text + answers.earlier("ada").text
    for make, _ in CHANGES.values():
        make()
    out, problem = _check()
    lines = set(out.splitlines())
    columns = {column for _, columns in CHANGES.values() for column in columns}
    assert {f"profile {filled.profile.pk}: {column}" for column in columns} <= lines
    assert problem == f"{len(lines)} differences; --repair mends them."
    assert answers.user("ada", *INCLUDES).text + answers.earlier("ada").text == before
    out, problem = _check("--repair")
    assert (out.splitlines()[-1], problem) == (f"{len(lines)} differences mended.", "")
    assert _check() == (SAME, "")


# A change of what the read model holds, and its name.
DAMAGES: dict[str, tuple[Callable[[], object], tuple[str, str]]] = {
    **{
        f"the text {column}": (
            lambda column=column: _raw(models.ProfileDocument, user=ADA, profile__is_main=True).update(
                **{column: "[]x"}
            ),  # type: ignore[misc]  # bound early
            ("profile", column),
        )
        for column in documents.TEXTS
    },
    "an avatar": (
        lambda: _raw(models.ProfileDocument, user=ADA, profile__is_main=True).update(avatar_path="x.png"),
        ("profile", "avatar_path"),
    ),
    "the aliases": (lambda: _raw(models.UserDocument, pk=ADA).update(aliases="[]"), ("profile", "aliases")),
    "the number of badges": (
        lambda: _raw(models.UserDocument, pk=ADA).update(badge_count=9),
        ("profile", "badge_count"),
    ),
    "the likes": (lambda: _raw(models.UserDocument, pk=ADA).update(likes=9), ("user", "likes")),
    "the dislikes": (lambda: _raw(models.UserDocument, pk=ADA).update(dislikes=9), ("user", "dislikes")),
    "the comments": (lambda: _raw(models.UserDocument, pk=ADA).update(comments=9), ("user", "comments")),
    "a like": (lambda: _raw(models.Comment, pk=row(0x4001)).update(like_count=9), ("comment", "like_count")),
    "a reply": (lambda: _raw(models.Comment, pk=row(0x4001)).update(reply_count=9), ("comment", "reply_count")),
    "a vote": (lambda: _raw(models.FeedbackVote, is_like=False).delete(), ("user", "dislikes")),
    "a comment": (lambda: _raw(models.Comment, pk=row(0x4004)).delete(), ("user", "comments")),
    "the like of somebody": (
        lambda: _raw(models.CommentLike, user__username="cleo").delete(),
        ("comment", "like_count"),
    ),
    "a ban behind the doors": (lambda: _raw(User, username="Opal").update(is_active=False), ("user", "dislikes")),
    "a missing document": (
        lambda: _raw(models.ProfileDocument, user=ADA, profile__is_main=True).delete(),
        ("profile", "has no document"),
    ),
    "the uid": (lambda: _raw(models.UserDocument, pk=ADA).update(uid=77), ("user", "uid")),
    "a user without documents": (lambda: _raw(models.UserDocument, pk=ADA).delete(), ("user", "has no documents")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_of_the_read_model_is_found(filled: Filled, damage: str) -> None:
    make, (kind, column) = DAMAGES[damage]
    make()
    owners = {"profile": filled.profile.pk, "user": ADA, "comment": row(0x4001)}
    found = _found()
    assert (kind, owners[kind], column) in found
    assert len(found) == (1 if "ban" not in damage else 2)


# Repairing a missing document writes it whole, with what else is wrong in it: each of these is repaired alone.
MISSING = ("a missing document", "a user without documents")
SOURCES = ("a vote", "a comment", "the like of somebody", "a ban behind the doors")
REPAIRED_TOGETHER = {
    "a missing document": MISSING[:1],
    "a user without documents": MISSING[1:],
    "wrong values": tuple(damage for damage in DAMAGES if damage not in (*MISSING, *SOURCES)),
}


@pytest.mark.parametrize("damages", REPAIRED_TOGETHER)
def test_damage_of_the_read_model_is_repaired(filled: Filled, damages: str) -> None:
    before = answers.user("ada", *INCLUDES).body | {"views": None}
    for damage in REPAIRED_TOGETHER[damages]:
        DAMAGES[damage][0]()
    assert _check()[1].endswith("differences; --repair mends them.")
    assert _check("--repair")[1] == ""
    assert _check() == (SAME, "")
    assert answers.user("ada", *INCLUDES).body | {"views": None} == before


def test_a_user_without_documents_gets_them_with_their_counters(filled: Filled) -> None:
    before = answers.user("ada", "feedback", "comments").text
    _raw(models.UserDocument, pk=ADA).delete()
    assert document_checks.complete_all() == 1
    assert answers.user("ada", "feedback", "comments").text == before


def test_a_stale_document_differs_from_nothing(filled: Filled) -> None:
    documents.mark_stale(models.Profile.objects.filter(user=ADA))
    _raw(models.Link, pk=row(0xD1)).update(title="x")
    assert _check() == (SAME, "")
    assert answers.user("ada", "links").body["links"][0]["title"] == "x"


def test_more_than_one_batch(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_checks, "BATCH", 5)
    models.UserDocument.objects.update(likes=100)
    models.Comment.objects.update(reply_count=100)
    models.ProfileDocument.objects.update(links="[]x")
    of_tops = models.Comment.objects.filter(parent=None).count()
    assert len(_found()) == of_tops + models.Profile.objects.count() + User.objects.count()
    assert _check("--repair")[1] == ""
    assert _check() == (SAME, "")


@pytest.mark.django_db(transaction=True)
def test_several_processes_share_the_check_and_the_repair() -> None:
    for digit in "0123456789abcdef":
        UserFactory(id=digit * 32, email="")
    models.UserDocument.objects.update(likes=100)
    owners = set(models.UserDocument.objects.values_list("pk", flat=True))
    out, problem = _check("--processes", "3")
    assert sorted(out.splitlines()) == sorted(f"user {pk}: likes" for pk in owners)
    assert problem == f"{len(owners)} differences; --repair mends them."
    out, problem = _check("--processes", "2", "--repair")
    assert (len(out.splitlines()), problem) == (len(owners) + 1, "")
    assert _check("--processes", "4") == (SAME, "")


@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_parts_of_the_check_leave_no_id_out_and_have_none_twice(number: int) -> None:
    parts = document_checks.parts(number)
    assert [part.after for part in parts] == ["", *(part.before for part in parts[:-1])]
    assert parts[-1].before == ""
    assert sorted({part.after for part in parts}) == [part.after for part in parts]


# --- Stale documents: marked however many there are, rendered once, completed where they are missing ---


@pytest.fixture
def people(db: None) -> list[User]:
    return [UserFactory() for _ in range(5)]


def test_more_documents_than_a_batch_are_marked(people: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BATCH", 2)
    assert documents.mark_stale(models.Profile.objects.filter(user__in=people)) == 5
    assert models.ProfileDocument.objects.filter(user__in=people, fingerprint="").count() == 5


@pytest.mark.embedded
def test_a_second_reader_renders_nothing(people: list[User], django_assert_num_queries: DjangoAssertNumQueries) -> None:
    profile = main_profile(people[0])
    documents.mark_stale(models.Profile.objects.filter(pk=profile.pk))
    documents.refresh(profile.pk)
    before = models.ProfileDocument.objects.get(pk=profile.pk)
    assert before.fingerprint == documents.fingerprint()
    with django_assert_num_queries(5):  # the profile, its document, whether that is stale, between two savepoints
        documents.refresh(profile.pk)


@pytest.mark.usefixtures("operator")
def test_the_job_completes_a_user_of_an_earlier_release(settings: Settings) -> None:
    with override_settings(RECEIVERS={**settings.RECEIVERS, "user_created": []}):
        user = UserFactory(username="Early")
    assert answers.raw_user("type=username&value=Early").status == 404
    call_command("rank_leaderboards")
    assert answers.user("Early").body["user"]["id"] == user.pk
    assert list(document_checks.differences()) == []
    assert document_checks.complete_all() == 0


@pytest.mark.usefixtures("db", "hosts")
@pytest.mark.parametrize("setting", ["BASE_URL", "UPLOAD_CDN_URL", "ASSET_URL"])
def test_a_document_is_rendered_anew_when_a_url_of_the_service_changes(setting: str, settings: Settings) -> None:
    user = UserFactory()
    pk = main_profile(user).pk
    before = resolve.answer("id", user.pk, Parts(), timezone.now()).fingerprint
    setattr(settings, setting, "https://elsewhere.example")
    assert resolve.answer("id", user.pk, Parts(), timezone.now()).fingerprint == documents.fingerprint() != before
    assert models.ProfileDocument.objects.get(pk=pk).fingerprint == documents.fingerprint()


@pytest.mark.django_db
def test_a_recount_has_the_badges_of_a_user_checked() -> None:
    user = UserFactory()
    models.UserDocument.objects.update(unlock_due=False)
    counters.recount([user.pk])
    assert models.UserDocument.objects.get(pk=user.pk).unlock_due
