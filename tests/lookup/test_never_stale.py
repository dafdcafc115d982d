"""No answer says what has been changed, by whatever statement: documents hold what is said of the user too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts import bans
from accounts.models import LinkedAccount, User
from lookup import leaderboards
from lookup.documents import document_checks, documents
from lookup.editing import profiles
from lookup.models import Alias, Profile, ProfileDocument
from tests.factories.lookup import AliasRowFactory
from tests.lookup import answers
from tests.lookup.answers import NOT_FOUND, PRIVATE
from tests.lookup.filled import ADA, Filled

pytestmark = pytest.mark.embedded
END = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _said(name: str = "ada", **options: str) -> dict[str, object]:
    found: dict[str, object] = answers.user(name, **options).body["user"]
    return found


def _user(**values: object) -> Callable[[], object]:
    return lambda: User.objects.filter(pk=ADA).update(**values)


def _account(kind: str, **values: object) -> Callable[[], object]:
    return lambda: LinkedAccount.objects.filter(user=ADA, kind=kind).update(**values)


CHANGES: dict[str, tuple[Callable[[], object], dict[str, object]]] = {
    "the case of the name": (_user(username="ADA"), {"username": "ADA"}),
    "the display name": (_user(display_name=""), {"name": None}),
    "the plan": (_user(plan="FREE"), {"premium": False}),
    "a plan that has ended": (_user(plan_expires_at=END - timedelta(days=1)), {"premium": False}),
    "the flags": (_user(is_verified=False, is_inactive=True), {"verified": False, "inactive": True}),
    "the first day": (_user(created_at=END), {"createdAt": "2026-03-01T12:00:00.000Z"}),
    "the chat account": (_account("CHAT", external_id="1"), {"chatId": "1"}),
    "the scrobbler": (_account("SCROBBLER", name="other"), {"scrobblerUsername": "other"}),
    "no chat account": (
        lambda: LinkedAccount.objects.filter(user=ADA, kind="CHAT").delete(),
        {"chatId": None},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_lookup_says_at_once_what_a_statement_has_changed(filled: Filled, change: str) -> None:
    act, changed = CHANGES[change]
    of_alias = _said("lovelace", showAliasProfile="true")
    with time_machine.travel(END, tick=False):
        before = _said()
        act()
        assert _said() == {**before, **changed}
        assert _said("lovelace", showAliasProfile="true") == {**of_alias, **changed}
        assert list(document_checks.differences()) == []


@pytest.mark.parametrize("form", ["earlier", "board"])
def test_the_earlier_form_and_the_boards_say_it_at_once_too(filled: Filled, form: str) -> None:
    """One form alone: the first answer after a change renders the document for every form."""
    leaderboards.rank()
    assert answers.earlier("ada").status == answers.board("uid").status == 200
    User.objects.filter(pk=ADA).update(display_name="Countess")
    LinkedAccount.objects.filter(user=ADA, kind="CHAT").update(external_id="1")
    LinkedAccount.objects.filter(user=ADA, kind="SCROBBLER").update(name="other")
    if form == "earlier":
        said = answers.earlier("ada").body
        assert (said["displayUsername"], said["chatId"]) == ("Countess", "1")
    else:
        said = answers.board("uid").body[1]["user"]
        assert (said["displayName"], said["chatId"]) == ("Countess", "1")
        assert said["profile"]["scrobblerUsername"] == "other"


def test_who_is_banned_or_private_is_so_in_the_next_answer(filled: Filled) -> None:
    assert answers.user("ada").status == 200
    profiles.set_public_access(user=filled.user, is_public=False, by=filled.user)
    assert answers.user("ada").whole == PRIVATE
    profiles.set_public_access(user=filled.user, is_public=True, by=filled.user)
    assert answers.user("ada").status == 200
    bans.ban(user=filled.user, by=filled.operator, reason="spam")
    assert answers.user("ada").whole == answers.earlier("ada").whole == NOT_FOUND


def test_a_plan_ends_without_any_rendering(filled: Filled) -> None:
    User.objects.filter(pk=ADA).update(plan="IMAGEHOST", plan_expires_at=END)
    flags = []
    for seconds in (-2, -1, 0, 1):
        with time_machine.travel(END + timedelta(seconds=seconds), tick=False):
            said = _said()
            flags.append((said["premium"], said["imagehost"]))
            rendered = ProfileDocument.objects.get(user=ADA, is_main=True)
    assert flags == [(True, True), (True, True), (False, False), (False, False)]
    assert rendered.user_version == User.objects.get(pk=ADA).public_version


def test_an_alias_profile_that_comes_while_its_user_changes_is_rendered_again(filled: Filled) -> None:
    """Its document was not there yet when the user changed: it holds the version that it was rendered from."""
    late = User.objects.get(pk=ADA)
    alias = AliasRowFactory(name__user=late, name__name="Late", redirects=False, profile=None)
    other = Profile.objects.create(user=late, is_main=False, name="Late")
    Alias.objects.filter(pk=alias.pk).update(profile=other)
    documents.rebuild(other.pk)
    ProfileDocument.objects.filter(pk=other.pk).update(head='{"name":"Old"}', user_version=late.public_version - 1)
    assert _said("late", showAliasProfile="true")["name"] == "Ada Example"
