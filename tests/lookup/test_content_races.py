"""The lists of a profile, changed by several requests at the same time."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from django.core.exceptions import ObjectDoesNotExist, ValidationError

from lookup.documents import document_checks, registry
from lookup.editing import content
from lookup.models import Asset, Link, Profile, ProfileDocument
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, AudioFactory, LinkFactory, main_profile
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

THREADS = 4
LIMIT = registry.LINKS.limit


@pytest.fixture
def profile(db: None) -> Profile:
    return main_profile(UserFactory(username="Ada"))


def again(profile: Profile) -> Profile:
    """As another request reads it."""
    return Profile.objects.select_related("user").get(pk=profile.pk)


def shown(profile: Profile) -> list[str]:
    """The ids of the links that lookups serve, in order."""
    return [link["id"] for link in json.loads(ProfileDocument.objects.get(pk=profile.pk).links)]


def check(profile: Profile) -> list[str]:
    """What is stored and what is served agree, and each row has a place of its own; the ids in order."""
    rows = registry.LINKS.rows_of(profile.pk)
    assert max(Counter(row.order for row in rows).values()) == 1
    assert shown(profile) == [row.pk for row in rows]
    assert list(document_checks.differences()) == []
    return [row.pk for row in rows]


def test_one_alone_gets_the_last_place_of_a_list(profile: Profile) -> None:
    LinkFactory.create_batch(LIMIT - 1, profile=profile)

    def add(number: int) -> bool:
        own = again(profile)
        values = {"title": f"Link {number}", "url": "https://a.example/"}
        try:
            content.add(content=registry.LINKS, profile=own, values=values, by=own.user)
        except ValidationError:
            return False
        return True

    assert sorted(together(THREADS, add)) == [False, False, False, True]
    assert profile.links.count() == LIMIT


def test_new_rows_stand_one_behind_the_other(profile: Profile) -> None:
    def add(number: int) -> str:
        own = again(profile)
        values = {"title": f"Link {number}", "url": "https://a.example/"}
        row: Link = content.add(content=registry.LINKS, profile=own, values=values, by=own.user)
        return row.pk

    assert set(together(THREADS, add)) == set(check(profile))


def test_of_several_orders_one_holds_whole(profile: Profile) -> None:
    pks = [row.pk for row in LinkFactory.create_batch(6, profile=profile)]
    orders = [pks[turn:] + pks[:turn] for turn in range(1, THREADS + 1)]

    def reorder(number: int) -> None:
        own = again(profile)
        content.reorder(content=registry.LINKS, profile=own, pks=orders[number], by=own.user)

    together(THREADS, reorder)
    assert check(profile) in orders


def test_moves_of_the_same_row_add_up(profile: Profile) -> None:
    pks = [row.pk for row in LinkFactory.create_batch(6, profile=profile)]

    def move(number: int) -> None:
        own = again(profile)
        content.move(content=registry.LINKS, profile=own, pk=pks[0], places=1, by=own.user)

    together(THREADS, move)
    assert check(profile) == [*pks[1 : THREADS + 1], pks[0], *pks[THREADS + 1 :]]


def test_a_row_is_deleted_once_and_a_late_change_finds_none(profile: Profile) -> None:
    row, other = LinkFactory.create_batch(2, profile=profile)

    def act(number: int) -> bool:
        own = again(profile)
        try:
            if number % 2:
                content.switch(content=registry.LINKS, profile=own, pk=row.pk, is_on=False, by=own.user)
            else:
                content.delete(content=registry.LINKS, profile=own, pk=row.pk, by=own.user)
        except ObjectDoesNotExist:
            return False
        return True

    done = together(THREADS, act)
    assert [done[0], done[2]].count(True) == 1
    assert check(profile) == [other.pk]


def test_a_file_goes_with_the_last_of_its_rows_whoever_is_last(profile: Profile) -> None:
    asset = AssetFactory(owner=profile.user, size=10, path="kept/a.mp3", mime="audio/mpeg")
    pks = [AudioFactory(profile=profile, audio=asset, order=order).pk for order in range(THREADS)]

    def delete(number: int) -> None:
        own = again(profile)
        content.delete(content=registry.AUDIOS, profile=own, pk=pks[number], by=own.user)

    together(THREADS, delete)
    assert not Asset.objects.filter(pk=asset.pk).exists()
