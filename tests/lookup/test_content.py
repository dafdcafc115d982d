"""The lists of a profile, and changes of it: locked and rendered once, also by several requests at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db.transaction import TransactionManagementError

from accounts.models import User
from lookup.documents import document_checks, registry
from lookup.editing import content, profiles, section_entries
from lookup.models import Asset, Link, Profile, ProfileBadge, ProfileDocument
from lookup.social import feedback
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, AudioFactory, GameFactory, LinkFactory, SectionFactory, main_profile
from tests.lookup import statements
from tests.support.threads import together

pytestmark = pytest.mark.django_db

LINK = {"title": "A", "url": "https://a.example/"}


@pytest.fixture
def profile(db: None) -> Profile:
    return make.main_profile(UserFactory(username="Ada"))


def orders(profile: Profile) -> list[int]:
    return [row.order for row in registry.LINKS.rows_of(profile.pk)]


def add(profile: Profile, **values: object) -> Link:
    row: Link = content.add(content=registry.LINKS, profile=profile, values={**LINK, **values}, by=profile.user)
    return row


def change(profile: Profile, row: Link, *, title: str, expected_version: str) -> None:
    values = {"title": title}
    content.change(
        content=registry.LINKS,
        profile=profile,
        pk=row.pk,
        values=values,
        expected_version=expected_version,
        by=profile.user,
    )


def test_a_new_row_comes_last_whatever_numbers_an_import_brought(profile: Profile) -> None:
    for order in (7, content.LAST_PLACE, 7):
        make.LinkFactory(profile=profile, order=order)
    row = add(profile)
    assert orders(profile) == [0, 1, 2, 3]
    assert registry.LINKS.rows_of(profile.pk)[-1].pk == row.pk


def test_rows_that_share_a_number_get_their_own_when_one_moves(profile: Profile) -> None:
    for _ in range(3):
        make.LinkFactory(profile=profile, order=5)
    first, second, third = (row.pk for row in registry.LINKS.rows_of(profile.pk))
    content.move(content=registry.LINKS, profile=profile, pk=third, places=-1, by=profile.user)
    assert [row.pk for row in registry.LINKS.rows_of(profile.pk)] == [first, third, second]
    assert orders(profile) == [0, 1, 2]


def test_some_rows_are_put_in_order_among_themselves(profile: Profile) -> None:
    a, b, c, d = (add(profile, title=title).pk for title in "abcd")
    content.reorder(content=registry.LINKS, profile=profile, pks=[d, a], by=profile.user)
    assert [row.pk for row in registry.LINKS.rows_of(profile.pk)] == [d, b, c, a]


def test_a_row_that_is_gone_cannot_be_put_in_order(profile: Profile) -> None:
    with pytest.raises(ValidationError, match="has changed meanwhile"):
        content.reorder(content=registry.LINKS, profile=profile, pks=[add(profile).pk, "0" * 32], by=profile.user)


def test_another_version_is_refused_and_clicks_make_none(profile: Profile) -> None:
    row = add(profile)
    expected_version = content.version_of(row)
    Link.objects.filter(pk=row.pk).update(clicks=5, order=9, is_active=False)
    change(profile, row, title="B", expected_version=expected_version)
    with pytest.raises(content.StaleVersion):
        change(profile, row, title="C", expected_version=expected_version)
    row.refresh_from_db()
    assert (row.title, row.clicks) == ("B", 5)


def test_a_file_of_somebody_else_is_refused(profile: Profile) -> None:
    with pytest.raises(ValidationError, match="This file belongs to another user"):
        add(profile, icon=make.AssetFactory())
    assert not profile.links.exists()


def test_the_rules_of_the_columns_hold_without_a_form(profile: Profile) -> None:
    for values in ({"url": "javascript:x"}, {"color": "red"}, {"icon_svg": "<b/>"}, {"title": "a" * 129}):
        with pytest.raises(ValidationError):
            add(profile, **values)
    badge = make.ProfileBadgeFactory(profile=profile, badge=make.BadgeTierFactory(badge=make.BadgeFactory()).badge)
    with pytest.raises(ValidationError, match="unlocked"):
        content.change(
            content=registry.BADGES, profile=profile, pk=badge.pk, values={"selected_tier": 1}, by=profile.user
        )
    assert ProfileBadge.objects.get(pk=badge.pk).selected_tier is None
    with pytest.raises(ValidationError):
        games = {"type": "GAMES", "config": {"gameIds": ["x"]}}
        content.add(content=registry.SECTIONS, profile=profile, values=games, by=profile.user)


def test_what_no_longer_follows_the_rules_can_be_switched_off(profile: Profile) -> None:
    row = make.SectionFactory(profile=profile, config={"unknown": 1})
    content.switch(content=registry.SECTIONS, profile=profile, pk=row.pk, is_on=False, by=profile.user)
    row.refresh_from_db()
    assert not row.is_enabled


def test_files_go_with_the_last_row_that_shows_them(profile: Profile) -> None:
    asset = make.AssetFactory(owner=profile.user, size=10, path="kept/a.mp3", mime="audio/mpeg")
    one, two = (make.AudioFactory(profile=profile, audio=asset, order=order) for order in range(2))
    foreign = make.AudioFactory(profile=profile, order=2)  # on another CDN: no file of ours
    for row, is_left in ((one, True), (two, False), (foreign, False)):
        content.delete(content=registry.AUDIOS, profile=profile, pk=row.pk, by=profile.user)
        assert type(asset).objects.filter(pk=asset.pk).exists() is is_left
    assert type(asset).objects.filter(pk=foreign.audio_id).exists()


def test_only_the_owner_and_staff_may(profile: Profile) -> None:
    profile.user.is_staff = True
    profile.user.save()
    row, somebody = make.LinkFactory(profile=profile), UserFactory(is_staff=True)
    for act in (
        lambda: content.add(content=registry.LINKS, profile=profile, values=LINK, by=somebody),
        lambda: content.delete(content=registry.LINKS, profile=profile, pk=row.pk, by=somebody),
        lambda: content.move(content=registry.LINKS, profile=profile, pk=row.pk, places=1, by=somebody),
    ):
        with pytest.raises(PermissionDenied):
            act()
    assert profile.links.get() == row


def test_a_profile_that_was_deleted_meanwhile(profile: Profile) -> None:
    row = make.LinkFactory(profile=profile)
    owner = User.objects.get(pk=profile.user_id)
    Profile.objects.filter(pk=profile.pk).delete()
    with pytest.raises(ObjectDoesNotExist):
        content.add(content=registry.LINKS, profile=profile, values=LINK, by=owner)
    with pytest.raises(ObjectDoesNotExist):
        content.delete(content=registry.LINKS, profile=profile, pk=row.pk, by=owner)


def test_an_entry_of_a_section_of_another_type_is_not_there(profile: Profile) -> None:
    section = make.SectionFactory(profile=profile, type="AUDIO_PLAYER", config={})
    for act in (section_entries.add_row, section_entries.remove):
        with pytest.raises(ObjectDoesNotExist):
            act(profile=profile, pk=section.pk, key="1", by=profile.user)
    about = make.SectionFactory(profile=profile, type="ABOUT_ME", config={})
    with pytest.raises(ObjectDoesNotExist):
        section_entries.add_row(profile=profile, pk=about.pk, key="1", by=profile.user)


def test_the_first_entry_of_a_section_stays_first_when_it_moves_up_and_the_last_one_last(profile: Profile) -> None:
    games = {"gameIds": [make.GameFactory(id=number).pk for number in (7, 8, 9)]}
    section = make.SectionFactory(profile=profile, type="GAMES", config=games)
    for key, places, order in (("7", -1, [7, 8, 9]), ("9", 1, [7, 8, 9]), ("9", -1, [7, 9, 8]), ("7", 1, [9, 7, 8])):
        section_entries.move(profile=profile, pk=section.pk, key=key, places=places, by=profile.user)
        section.refresh_from_db()
        assert section.config == {"gameIds": order}


def test_a_picture_moves_among_those_of_its_section(profile: Profile) -> None:
    one, two = (make.SectionFactory(profile=profile, type="GALLERY", config={}) for _ in range(2))
    rows = [
        make.GalleryItemFactory(profile=profile, section=of, order=order) for order, of in enumerate((one, two, one))
    ]
    content.move(content=registry.GALLERY, profile=profile, pk=rows[2].pk, places=-1, by=profile.user)
    assert [row.pk for row in registry.GALLERY.rows_of(profile.pk)] == [rows[2].pk, rows[1].pk, rows[0].pk]


@pytest.mark.embedded
def test_rows_of_each_list_are_read_in_at_most_three_queries(
    profile: Profile, django_assert_max_num_queries: object
) -> None:
    make.WidgetFactory(profile=profile)
    make.ProfileBadgeFactory(profile=profile)
    for one in registry.LISTS.values():
        with django_assert_max_num_queries(3):  # type: ignore[operator]  # pytest-django's fixture
            one.rows_of(profile.pk)


THREADS = 4
LIMIT = registry.LINKS.limit


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
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


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
def test_new_rows_stand_one_behind_the_other(profile: Profile) -> None:
    def add(number: int) -> str:
        own = again(profile)
        values = {"title": f"Link {number}", "url": "https://a.example/"}
        row: Link = content.add(content=registry.LINKS, profile=own, values=values, by=own.user)
        return row.pk

    assert set(together(THREADS, add)) == set(check(profile))


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
def test_of_several_orders_one_holds_whole(profile: Profile) -> None:
    pks = [row.pk for row in LinkFactory.create_batch(6, profile=profile)]
    orders = [pks[turn:] + pks[:turn] for turn in range(1, THREADS + 1)]

    def reorder(number: int) -> None:
        own = again(profile)
        content.reorder(content=registry.LINKS, profile=own, pks=orders[number], by=own.user)

    together(THREADS, reorder)
    assert check(profile) in orders


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
def test_moves_of_the_same_row_add_up(profile: Profile) -> None:
    pks = [row.pk for row in LinkFactory.create_batch(6, profile=profile)]

    def move(number: int) -> None:
        own = again(profile)
        content.move(content=registry.LINKS, profile=own, pk=pks[0], places=1, by=own.user)

    together(THREADS, move)
    assert check(profile) == [*pks[1 : THREADS + 1], pks[0], *pks[THREADS + 1 :]]


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
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


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
def test_a_file_goes_with_the_last_of_its_rows_whoever_is_last(profile: Profile) -> None:
    asset = AssetFactory(owner=profile.user, size=10, path="kept/a.mp3", mime="audio/mpeg")
    pks = [AudioFactory(profile=profile, audio=asset, order=order).pk for order in range(THREADS)]

    def delete(number: int) -> None:
        own = again(profile)
        content.delete(content=registry.AUDIOS, profile=own, pk=pks[number], by=own.user)

    together(THREADS, delete)
    assert not Asset.objects.filter(pk=asset.pk).exists()


LOCKS = ["SELECT lookup_profile", "SELECT lookup_profiledocument"]


def locked_and_rendered(act: Callable[[], object]) -> tuple[list[str], int]:
    """The rows that `act` locks, and how often it writes documents of profiles."""
    sent = statements.of(act)
    locks = [one.name for one in sent if "FOR NO KEY UPDATE" in one.sql]
    return locks, [one.name for one in sent].count("UPDATE lookup_profiledocument")


def test_each_operation_locks_the_profile_once_and_its_own_row(profile: Profile) -> None:
    link, game = LinkFactory(profile=profile), GameFactory()
    section = SectionFactory(profile=profile, type="GAMES", config={})
    by, links = profile.user, registry.LINKS
    assert locked_and_rendered(lambda: profiles.change(profile=profile, values={"location": "Oslo"}, by=by)) == (
        LOCKS,
        1,
    )
    assert locked_and_rendered(lambda: feedback.switch(part="votes", is_on=False, by=by)) == (LOCKS, 1)
    changed = locked_and_rendered(
        lambda: content.change(content=links, profile=profile, pk=link.pk, values={"title": "After"}, by=by)
    )
    assert changed == ([*LOCKS, "SELECT lookup_link"], 1)
    added = locked_and_rendered(
        lambda: section_entries.add_row(profile=profile, pk=section.pk, key=str(game.pk), by=by)
    )
    assert added == ([*LOCKS, "SELECT lookup_section"], 1)
    assert list(document_checks.differences()) == []


def test_operations_inside_one_block_lock_and_render_once(profile: Profile) -> None:
    def change() -> None:
        with profiles.changing(profile.pk, by=profile.user):
            profiles.change(profile=profile, values={"location": "Oslo"}, by=profile.user)
            profiles.change(profile=profile, values={"theme": "dusk"}, by=profile.user)
            values = {"title": "New", "url": "https://a.example/"}
            content.add(content=registry.LINKS, profile=profile, values=values, by=profile.user)

    assert locked_and_rendered(change) == (LOCKS, 1)
    assert list(document_checks.differences()) == []
    assert (profile.links.count(), Profile.objects.get(pk=profile.pk).theme) == (1, "dusk")


def test_a_block_that_changes_nothing_renders_nothing(profile: Profile) -> None:
    def look() -> None:
        with profiles.changing(profile.pk) as block:
            profiles.change(profile=block.profile, values={"location": block.profile.location}, by=None)

    assert locked_and_rendered(look) == (LOCKS, 0)
    assert Profile.objects.get(pk=profile.pk).updated_at == profile.updated_at


def test_a_missing_document_is_rendered_with_the_next_change(profile: Profile) -> None:
    ProfileDocument.objects.filter(pk=profile.pk).delete()
    profiles.change(profile=profile, values={"location": "Oslo"}, by=None)
    assert list(document_checks.differences()) == []


def test_an_inner_block_cannot_lock_another_profile(profile: Profile) -> None:
    other = main_profile(UserFactory())
    with pytest.raises(profiles.NotLocked), profiles.changing(profile.pk):
        profiles.touch(other.pk)
    with pytest.raises(profiles.NotLocked), profiles.changing(profile.pk), profiles.changing(all_of=[profile.user_id]):
        pass
    with profiles.changing(all_of=[profile.user_id]):
        profiles.touch(profile.pk)


def test_an_error_of_an_inner_block_ends_the_outer_one(profile: Profile) -> None:
    with pytest.raises(TransactionManagementError), profiles.changing(profile.pk):
        with pytest.raises(ValidationError):
            content.add(content=registry.LINKS, profile=profile, values={"url": "no address"}, by=profile.user)
        Link.objects.count()
    assert not Link.objects.exists()


def test_staff_accounts_are_changed_by_superusers_only(profile: Profile) -> None:
    staff = main_profile(UserFactory(is_staff=True))
    with pytest.raises(PermissionDenied), profiles.changing(staff.pk, by=profile.user):
        pass
    with profiles.changing(staff.pk, by=UserFactory(is_staff=True, is_superuser=True)) as block:
        assert block.profile == staff
