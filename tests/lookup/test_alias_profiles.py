"""`showAliasProfile`: what it scopes to the alias's own profile, what stays user-wide, and where it has no effect."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.models import AuditEvent, User
from lookup.documents import document_checks
from lookup.editing import aliases
from lookup.models import Alias, Profile
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import shown
from tests.lookup import answers, expected
from tests.lookup.answers import INCLUDES
from tests.lookup.filled import ADA, BASE, CDN, OTHER_PROFILE, Filled

USER = {**expected.USER, "avatarUrl": f"{CDN}/avatars/lovelace.png"}


def _lookup(value: str, *includes: str, by: str = "username") -> Any:
    """The body, a JSON object."""
    return answers.user(value, *includes, by=by, showAliasProfile="true").body


def test_the_profile_is_that_of_the_alias(filled: Filled) -> None:
    body = _lookup("LoveLace", "profile")
    assert body["user"] == USER
    profile = body["profile"]
    assert (profile["profileId"], profile["name"], profile["displayName"]) == (OTHER_PROFILE, "Lovelace", "")
    assert profile["avatar"] == {**expected.OF_ALIAS["gallery"][0]["asset"], "url": USER["avatarUrl"]}
    assert (profile["createdAt"], profile["updatedAt"]) == ("2024-05-06T07:08:09.120Z",) * 2
    assert profile["banner"] is None
    assert profile["settings"]["cardSettings"]["blur"] == 0


def test_what_is_scoped_to_the_alias_and_what_is_user_wide(filled: Filled) -> None:
    body = _lookup("lovelace", *INCLUDES)
    scoped = {**expected.OF_ALIAS, "user": USER, "profile": body["profile"]}
    assert body == (whole := {**expected.whole(filled.profile.pk), **scoped})
    assert list(body) == list(whole)
    unscoped = {"error": None, "user": expected.USER, "links": expected.LINKS}
    assert answers.user("lovelace", "links").body == unscoped


@pytest.mark.parametrize(
    ("by", "value"),
    [
        ("username", "ada"),  # a direct match
        ("username", "countess"),  # an alias without a profile of its own
        ("uid", "1"),
        ("id", ADA),
        ("chat", "80351110224678912"),
    ],
)
def test_it_has_no_effect_elsewhere(filled: Filled, by: str, value: str) -> None:
    assert _lookup(value, *INCLUDES, by=by) == expected.whole(filled.profile.pk)


def test_the_picture_of_an_alias_profile_without_one_is_none(filled: Filled) -> None:
    Profile.objects.filter(pk=OTHER_PROFILE).update(avatar=None)
    shown(filled.user)
    assert _lookup("lovelace")["user"]["avatarUrl"] is None
    Profile.objects.filter(pk=OTHER_PROFILE).update(settings={"avatarSettings": {"mirrorChat": True}})
    shown(filled.user)
    assert _lookup("lovelace")["user"]["avatarUrl"] == f"{BASE}/api/chat/avatar/{ADA}"
    assert answers.user("lovelace").body["user"] == expected.USER


def test_an_alias_that_loses_its_profile_shows_the_main_one(filled: Filled) -> None:
    alias = Alias.objects.get(pk="LOVELACE")
    aliases.change(alias=alias, redirects=False, has_own_profile=False, by=filled.user)
    assert not Profile.objects.filter(pk=OTHER_PROFILE).exists()
    whole = expected.whole(filled.profile.pk)
    without = [{**entry, "profileId": None} for entry in expected.ALIASES]
    assert _lookup("lovelace", *INCLUDES) == {**whole, "aliases": without}
    aliases.change(alias=alias, redirects=False, has_own_profile=True, by=filled.user)
    body = _lookup("lovelace", "profile", "links")
    assert (body["profile"]["name"], body["links"], body["user"]["avatarUrl"]) == ("Lovelace", [], None)
    assert body["profile"]["profileId"] not in {OTHER_PROFILE, filled.profile.pk}
    assert list(document_checks.differences()) == []


def test_a_user_has_at_most_ten_aliases_unless_staff_add_one(operator: User) -> None:
    user = UserFactory()
    for number in range(10):
        aliases.add(user=user, name=f"Other{number}", by=user)
    with pytest.raises(ValidationError, match="10 aliases") as refused:
        aliases.add(user=user, name="Other10", by=user)
    assert refused.value.code == "limit"
    aliases.add(user=user, name="Other11", by=StaffFactory())
    assert Alias.objects.filter(name__user=user).count() == 11


def test_an_alias_gets_one_profile_from_two_tabs(operator: User) -> None:
    user = UserFactory()
    pk = aliases.add(user=user, name="Other", by=user).pk
    for tab in [Alias.objects.get(pk=pk) for _ in range(2)]:
        aliases.change(alias=tab, redirects=False, has_own_profile=True, by=user)
    assert Profile.objects.filter(user=user, is_main=False).count() == 1


def test_a_name_that_is_taken_after_the_check_is_a_validation_error(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    UserFactory(username="Taken")
    monkeypatch.setattr(aliases, "validate_available", lambda name: None)  # as before the other user took it
    with pytest.raises(ValidationError, match=r"This name is already taken\."):
        aliases.add(user=UserFactory(), name="taken", by=None)


def test_each_change_of_an_alias_is_in_the_audit_log(operator: User) -> None:
    user = UserFactory()
    alias = aliases.add(user=user, name="Other", by=user)
    aliases.change(alias=alias, redirects=False, has_own_profile=True, by=user)
    aliases.remove(alias=alias, by=None)
    events = AuditEvent.objects.filter(verb__startswith="alias:").order_by("pk").values_list("verb", "actor", "data")
    assert list(events) == [
        ("alias:added", user.pk, {"alias": "Other", "redirects": True}),
        ("alias:changed", user.pk, {"alias": "Other", "redirects": False}),
        ("alias:removed", None, {"alias": "Other"}),
    ]
    assert not Profile.objects.filter(user=user, is_main=False).exists()
