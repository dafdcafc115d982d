"""Staff and users at the same time: no deadlock, no server error, and what is stored stays true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db.models import Model

from accounts import users
from accounts.models import User
from lookup.documents import document_checks, documents
from lookup.editing import aliases, badge_tiers, profiles
from lookup.models import Alias, Badge, Comment, CommentLike, FeedbackVote, Link, Profile, ProfileBadge, UserDocument
from lookup.visits import database_store
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.admin_forms import page, sent, superuser
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

THREADS = 4
ROUNDS = 2


@pytest.fixture
def ada(db: None) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def people(db: None) -> list[User]:
    return UserFactory.create_batch(THREADS)


def saving(model: type[Model], pk: object = "", **changes: Any) -> Callable[[], int]:
    """Opens the form now; the status of each later call is that of saving it; any: what a browser sends."""
    browser = superuser()
    url = f"{page(model)}{f'{pk}/change' if pk else 'add'}/"
    opened = browser.get(url)
    assert opened.status_code == 200
    fields = {**sent(opened), **changes}
    return lambda: browser.post(url, fields).status_code


def deleting(model: type[Model], pks: Sequence[object]) -> Callable[[], int]:
    """The list's action."""
    browser = superuser()
    fields = {"action": "delete_selected", "_selected_action": list(pks), "post": "yes"}
    return lambda: browser.post(page(model), fields).status_code


def in_turn(*acts: Callable[[], object]) -> None:
    """In as many threads as there are acts, a few times."""

    def act(number: int) -> None:
        for _ in range(ROUNDS):
            acts[number]()

    together(len(acts), act)


def test_clicks_are_folded_while_staff_change_the_links(ada: User) -> None:
    profile = make.main_profile(ada)
    links = make.LinkFactory.create_batch(2, profile=profile)
    clicks = {link.pk: 1 for link in links}
    in_turn(
        *(saving(Link, link.pk, title="After") for link in links),
        *[lambda: database_store.add_clicks(clicks)] * 2,
        lambda: profiles.touch(profile.pk),
        lambda: documents.rebuild_of(ada.pk),
    )
    assert set(Link.objects.values_list("title", "clicks")) == {("After", 2 * ROUNDS)}
    assert list(document_checks.differences()) == []


def test_badges_are_unlocked_while_staff_change_those_that_people_have(people: list[User]) -> None:
    badge = make.BadgeFactory(rule="VIEWS")
    make.BadgeTierFactory(badge=badge, threshold=1)
    held = [make.ProfileBadgeFactory(profile=make.main_profile(user), badge=badge) for user in people]
    ids = [row.profile_id for row in held]

    def unlock() -> None:
        UserDocument.objects.filter(user=people[0]).update(views=1, unlock_due=True)
        badge_tiers.unlock()

    UserDocument.objects.update(views=1, unlock_due=True)
    in_turn(
        *(saving(ProfileBadge, row.pk, color="#abcdef", unlocked_tiers="[]") for row in held[:2]),
        saving(Badge, badge.pk, name="After"),
        *[unlock] * 2,
        lambda: profiles.touch(*ids),
        lambda: database_store.add_views({user.pk: 1 for user in reversed(people)}),
    )
    assert Badge.objects.get().name == "After"
    assert list(document_checks.differences()) == []


def test_one_user_gets_and_loses_aliases_in_many_tabs(ada: User) -> None:
    """Each with a profile of its own, which is rendered meanwhile."""

    def act(number: int) -> None:
        for turn in range(2):
            alias = aliases.add(user=ada, name=f"ada-{number}-{turn}", has_own_profile=True, by=None)
            aliases.change(alias=alias, redirects=False, has_own_profile=turn == 0, by=None)
            profiles.touch(*Profile.objects.filter(user=ada).values_list("pk", flat=True))
            aliases.remove(alias=alias, by=None)

    together(THREADS, act)
    assert Alias.objects.count() == 0
    assert Profile.objects.filter(user=ada).count() == 1
    assert list(document_checks.differences()) == []


def test_accounts_are_deleted_while_their_profiles_change(people: list[User]) -> None:
    ids = [make.main_profile(user).pk for user in people]
    for pk in ids:
        make.LinkFactory(profile_id=pk)

    def act(number: int) -> None:
        if number % 2:
            users.delete(user=people[number], by=None)
        elif number % 4:
            profiles.touch(*ids)
        else:
            documents.rebuild(*ids)

    together(THREADS, act)
    assert Profile.objects.filter(pk__in=ids).count() == THREADS // 2
    assert list(document_checks.differences()) == []


@pytest.mark.parametrize("what", ["alias", "vote", "like", "badge"])
def test_the_same_row_added_in_many_tabs_is_there_once(ada: User, people: list[User], what: str) -> None:
    """The later requests get an error message, in the form or after it."""
    comment, badge = make.CommentFactory(user=ada), make.BadgeFactory()
    model, fields = {
        "alias": (Alias, {"user": ada.pk, "alias": "Countess", "has_own_profile": "on"}),
        "vote": (FeedbackVote, {"user": ada.pk, "voter": people[0].pk, "is_like": "on"}),
        "like": (CommentLike, {"comment": comment.pk, "user": people[0].pk}),
        "badge": (ProfileBadge, {"profile": make.main_profile(ada).pk, "badge": badge.pk}),
    }[what]
    acts = [saving(model, **fields) for _ in range(THREADS)]
    assert set(together(THREADS, lambda number: acts[number]())) <= {200, 302}
    assert model._default_manager.count() == 1
    make.shown(ada)
    assert list(document_checks.differences()) == []


def test_what_is_deleted_while_staff_have_the_form_open_stays_deleted(ada: User, people: list[User]) -> None:
    links = make.LinkFactory.create_batch(THREADS, profile=make.main_profile(ada))
    acts = [saving(Link, link.pk, title="After") for link in links]
    delete = deleting(Link, [link.pk for link in links])
    assert set(together(THREADS, lambda number: delete() if number == 0 else acts[number]())) == {302}
    assert Link.objects.count() == 0
    assert list(document_checks.differences()) == []


def test_a_badge_is_deleted_while_it_is_given(people: list[User]) -> None:
    """One of the two comes too late."""
    badge = make.BadgeFactory(rule="VIEWS")
    make.BadgeTierFactory(badge=badge, threshold=1)
    UserDocument.objects.filter(user=people[0]).update(views=1, unlock_due=True)
    give = saving(ProfileBadge, profile=make.main_profile(people[1]).pk, badge=badge.pk)
    browser = superuser()
    delete = f"{page(Badge)}{badge.pk}/delete/"
    acts: list[Callable[[], Any]] = [lambda: browser.post(delete, {"post": "yes"}).status_code, give]
    assert set(together(2, lambda number: acts[number]())) <= {200, 302}
    assert ProfileBadge.objects.exists() == Badge.objects.exists()
    assert list(document_checks.differences()) == []


def test_comments_go_while_staff_write_under_them(ada: User, people: list[User]) -> None:
    parents = [make.CommentFactory(user=ada) for _ in range(3)]
    make.shown(ada)
    ids = [comment.pk for comment in parents]
    replies = [
        saving(Comment, user=ada.pk, author=people[number].pk, content="Late", parent=ids[number % 3])
        for number in range(4)
    ]
    likes = [saving(CommentLike, user=people[number].pk, comment=ids[number]) for number in range(3)]
    acts = [deleting(Comment, ids), *replies, *likes]
    assert set(together(len(acts), lambda number: acts[number]())) <= {200, 302}
    assert Comment.objects.count() == CommentLike.objects.count() == 0
    assert list(document_checks.differences()) == []
