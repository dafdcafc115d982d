"""The operations on what a profile lists: their limits, their order, what they let in, and who may."""

from __future__ import annotations

import pytest
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError

from accounts.models import User
from lookup.documents import registry
from lookup.editing import content, section_entries
from lookup.models import Link, Profile, ProfileBadge
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory

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
