"""A change of a profile: locked once and rendered once, however many operations it consists of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.transaction import TransactionManagementError

from lookup.documents import document_checks, registry
from lookup.editing import content, profiles, section_entries
from lookup.models import Link, Profile, ProfileDocument
from lookup.social import feedback
from tests.factories.accounts import UserFactory
from tests.factories.lookup import GameFactory, LinkFactory, SectionFactory, main_profile
from tests.lookup import statements

pytestmark = pytest.mark.django_db

LOCKS = ["SELECT lookup_profile", "SELECT lookup_profiledocument"]


@pytest.fixture
def profile() -> Profile:
    return main_profile(UserFactory(username="Ada"))


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
