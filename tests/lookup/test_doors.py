"""A test changes every model through every door and looks: the lookups say it at once, and what is kept is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.apps import apps
from django.db.models import Model
from django.utils import timezone

from accounts import bans, linking, users
from accounts.models import LinkedAccount
from lookup import aliases, badge_catalog, comments, document_checks, documents, feedback, unlocking, visits
from lookup.models import (
    Alias,
    Asset,
    Badge,
    BadgeTier,
    Comment,
    LeaderboardEntry,
    Profile,
    ProfileDocument,
    UserDocument,
    Visit,
    VisitBatch,
    VisitSalt,
)
from lookup.visitors import Visitor
from tests.factories.accounts import UserFactory
from tests.factories.lookup import BadgeFactory, BadgeTierFactory, ProfileBadgeFactory
from tests.lookup import answers
from tests.lookup.admin_forms import save, superuser
from tests.lookup.answers import INCLUDES, NOT_FOUND, PRIVATE
from tests.lookup.doors_of_admin import DOORS, NEW, Door
from tests.lookup.filled import ADA, Filled, row
from tests.lookup.visiting import BROWSER

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

# Rendered, ranked or counted from the others: written by no hand.
DERIVED: set[type[Model]] = {UserDocument, ProfileDocument, LeaderboardEntry, Visit, VisitBatch, VisitSalt}


def differences() -> list[str]:
    return [str(difference) for difference in document_checks.differences()]


def current() -> str:
    answer = answers.user(ADA, *INCLUDES, by="id")
    assert answer.status == 200
    return answer.text


def earlier() -> str:
    answer = answers.earlier(1, by="uid")
    assert answer.status == 200
    return answer.text


@pytest.mark.parametrize("door", DOORS, ids=str)
def test_what_staff_do_shows_at_once_and_is_kept_as_it_is(filled: Filled, door: Door) -> None:
    looks = [current, earlier] if door.in_earlier else [current]
    if door.vanishes:
        assert [door.vanishes in look() for look in looks] == [True] * len(looks)
    assert not door.appears or [door.appears in look() for look in looks] == [False] * len(looks)
    door.act(superuser(), filled)
    assert differences() == []
    assert [door.appears in look() for look in looks] == [True] * len(looks)
    assert not door.vanishes or [door.vanishes in look() for look in looks] == [False] * len(looks)
    assert differences() == []


def test_every_model_has_a_door() -> None:
    assert {door.model for door in DOORS} == set(apps.get_app_config("lookup").get_models()) - DERIVED


@dataclass(frozen=True)
class Operation:
    """`appears` and `vanishes`: parts of both answers where `in_earlier`, else of the current one."""

    name: str
    act: Callable[[Filled], object]
    appears: str = ""
    vanishes: str = ""
    in_earlier: bool = False

    def __str__(self) -> str:
        return self.name


def _alias(name: str) -> Alias:
    return Alias.objects.get(pk=name)


def _pinned() -> Comment:
    return Comment.objects.get(pk=row(0x4001))


def _link(filled: Filled) -> object:
    kind = LinkedAccount.Kind.SCROBBLER
    return linking.link(user=filled.user, kind=kind, external_id="88", name=NEW, by=None)


def _unlock(filled: Filled) -> object:
    """Ada has two likes, and a third one comes."""
    BadgeTierFactory(badge=BadgeFactory(id="liked", name=NEW, rule="LIKES"), threshold=3)
    feedback.vote(user=filled.user, is_like=True, by=UserFactory())
    return unlocking.unlock()


def _change(**values: object) -> Callable[[Filled], object]:
    return lambda it: users.change(user=it.user, values=values, by=it.operator)


def _see(filled: Filled) -> object:
    """Two visitors come, one of whom follows a link."""
    store = visits._store()
    for address in ("192.0.2.1", "192.0.2.2"):
        store.count_view(filled.user.pk, Visitor(address, BROWSER), timezone.now())
    store.count_click(row(0xD1))
    return visits.fold(timezone.now())


def _load_missing(filled: Filled) -> object:
    """Ada has a badge of the catalogue that lacks its tiers."""
    badge = BadgeFactory(id="likes", name="Likes", catalog="standard")
    ProfileBadgeFactory(profile=filled.profile, badge=badge)
    documents.rebuild_of(filled.user.pk)
    return badge_catalog.load_missing()


_FIRST = '"content":"First","likeCount":'
OPERATIONS = (
    Operation("aliases.add", lambda it: aliases.add(user=it.user, name="Enchantress", by=None), "Enchantress"),
    Operation(
        "aliases.change",
        lambda it: aliases.change(alias=_alias("COUNTESS"), redirects=False, has_own_profile=False, by=None),
        '"name":"Countess","redirect":false',
        in_earlier=True,
    ),
    Operation(
        "aliases.remove",
        lambda it: aliases.remove(alias=_alias("COUNTESS"), by=None),
        vanishes='"name":"Countess"',
        in_earlier=True,
    ),
    Operation(
        "feedback.vote",
        lambda it: feedback.vote(user=it.user, is_like=True, by=it.operator),
        '"likes":3,"dislikes":0',
    ),
    Operation("comments.write", lambda it: comments.write(user=it.user, content=NEW, by=it.ben), NEW),
    Operation("comments.delete", lambda it: comments.delete(comment=_pinned(), by=it.user), '"count":107', _FIRST),
    Operation("comments.like", lambda it: comments.like(comment=_pinned(), by=it.operator), f"{_FIRST}3"),
    Operation("bans.ban", lambda it: bans.ban(user=it.ben, by=None, reason="x"), '"likes":1,', '"username":"Ben"'),
    Operation("bans.lift", lambda it: bans.lift(user=it.mal, by=None, reason="x"), '"content":"Spam"'),
    Operation("linking.link", _link, NEW),
    Operation(
        "linking.unlink",
        lambda it: linking.unlink(user=it.user, kind=LinkedAccount.Kind.SCROBBLER, by=None),
        vanishes="ada_listens",
    ),
    Operation("users.change display_name", _change(display_name=NEW), NEW, "Ada Example", in_earlier=True),
    Operation("users.change username", _change(username="Augusta"), "Augusta", '"username":"Ada"', in_earlier=True),
    Operation("users.change plan", _change(plan="FREE"), '"premium":false,"verified":true'),
    Operation("users.delete", lambda it: users.delete(user=it.ben, by=None), '"likes":1,', '"username":"Ben"'),
    Operation("unlocking.unlock", _unlock, NEW),
    Operation("visits.fold", _see, "1236", "1234", in_earlier=True),
    Operation("badge_catalog.load_missing", _load_missing, "Well Liked"),
)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_what_an_operation_does_shows_at_once_and_is_kept_as_it_is(filled: Filled, operation: Operation) -> None:
    looks = [current, earlier] if operation.in_earlier else [current]
    if operation.vanishes:
        assert [operation.vanishes in look() for look in looks] == [True] * len(looks)
    assert not operation.appears or [operation.appears in look() for look in looks] == [False] * len(looks)
    filled.operator.is_superuser = True
    operation.act(filled)
    assert differences() == []
    assert [operation.appears in look() for look in looks] == [True] * len(looks)
    assert not operation.vanishes or [operation.vanishes in look() for look in looks] == [False] * len(looks)
    assert differences() == []


def test_whom_staff_take_out_of_the_lookups_is_gone_at_once_and_comes_back(filled: Filled) -> None:
    filled.operator.is_superuser = True
    before = current()
    _change(public_api_access=False)(filled)
    assert answers.user(ADA, by="id").whole == answers.earlier(1, by="uid").whole == PRIVATE
    _change(public_api_access=True)(filled)
    assert current() == before
    bans.ban(user=filled.user, by=None, reason="x")
    assert answers.user(ADA, by="id").whole == answers.earlier(1, by="uid").whole == NOT_FOUND
    bans.lift(user=filled.user, by=None, reason="x")
    assert (current(), differences()) == (before, [])


def test_a_deleted_account_leaves_nothing_that_is_kept(filled: Filled) -> None:
    users.delete(user=filled.user, by=None)
    assert answers.user(ADA, by="id").whole == answers.user("lovelace").whole == NOT_FOUND
    kept: list[type[Model]] = [Profile, UserDocument, ProfileDocument, Comment, Asset]
    assert [model._default_manager.count() for model in kept] == [4, 4, 4, 0, 1]  # of the others, and Cleo's picture
    assert differences() == []


def test_a_rule_that_staff_give_a_badge_unlocks_it_for_whose_counters_stand_still(filled: Filled) -> None:
    unlocking.unlock()
    BadgeTierFactory(badge=BadgeFactory(id="late", name="Late"), threshold=2)
    save(superuser(), "/admin/lookup/badge/late/change/", rule="LIKES")
    assert unlocking.unlock() == 1
    assert '"name":"Late"' in current()
    assert set(Badge.objects.filter(holders__profile=filled.profile).values_list("pk", flat=True)) == {
        *("viewer", "meetup", "late")
    }
    assert BadgeTier.objects.filter(badge="late").count() == 1
