"""Whoever deletes their account says who takes their apps and teams; the job then deletes what is left, come what
may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.utils import timezone

from accounts import deletions, users
from accounts.models import AccountDeletion, User
from oidc_provider.applications import applications, staging, teams, transfers
from oidc_provider.models import Application, Approval, Role, Team, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
DELETE = "/dashboard/account/delete/"


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory.create(username="Bob")


@pytest.fixture
def eve(db: None) -> User:
    return UserFactory.create(username="Eve")


@pytest.fixture
def app(user: User) -> Application:
    return ApplicationFactory.create(user=user, name="Tidepool", registered_scopes=["openid"])


def team(name: str, **members: User) -> Team:
    """A team of members by role: owner=…, developer=…, viewer=…."""
    made = Team.objects.create(name=name)
    for role, member in members.items():
        TeamMember.objects.create(team=made, user=member, role=role.upper().rstrip("2"))
    return made


def key(model: Team | Application) -> str:
    return f"{'team' if isinstance(model, Team) else 'app'}_{model.pk}"


def ask(browser: Browser, **chosen: str) -> Browser:
    """Send the form of the page with these choices."""
    return browser.open(DELETE).submit(username="Ada", **chosen)


def carry_out(user: User) -> bool:
    return deletions.carry_out(user.pk, now=timezone.now() + users.DELETION_GRACE)


def choices(browser: Browser, model: Team | Application) -> list[str]:
    values: list[str] = browser.page.xpath(f"//select[@name='{key(model)}']/option/@value")
    return values


def test_the_page_lists_what_would_be_deleted(browser: Browser, user: User, app: Application, bob: User) -> None:
    held, lonely = team("Harbour", owner=user, developer=bob), team("Islet", owner=user)
    kept, closed = team("Quay", owner=user, owner2=bob), team("Reef", owner=user, viewer=UserFactory(is_active=False))
    for where in (held, lonely, kept, closed):
        ApplicationFactory.create(user=user, team=where, name=f"App of {where}")
    browser.open(DELETE)
    assert problems_of(browser.response) == []
    for words in ("App Tidepool", "Team Harbour with App of Harbour Team Islet"):
        assert words in browser.text
    for name in ("Islet", "Reef"):
        assert f"Team {name} with App of {name} (no other member can become its owner)" in browser.text
    assert "App of Quay" not in browser.text
    assert choices(browser, held) == ["", str(held.members.get(user=bob).pk)]
    assert choices(browser, app) == ["", str(held.pk), str(kept.pk)]


def test_by_default_apps_and_lonely_teams_are_deleted_with_the_account(
    browser: Browser, user: User, app: Application, bob: User
) -> None:
    held = team("Harbour", owner=user, developer=bob)
    ApplicationFactory.create(user=user, team=held)
    ask(browser)
    assert AccountDeletion.objects.get().user == user
    assert Application.objects.count() == 2
    assert carry_out(user)
    assert not Application.objects.exists()
    assert not Team.objects.exists()
    assert User.objects.get() == bob


def test_a_team_takes_an_app_at_once_and_keeps_it(
    browser: Browser,
    user: User,
    app: Application,
    bob: User,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    quay = team("Quay", owner=user, owner2=bob)
    beside = staging.create(application=app, by=user).application
    ApprovalFactory(application=app)
    before = Application.objects.values_list("client_id", "client_secret").get(pk=app.pk)
    with django_capture_on_commit_callbacks(execute=True):
        ask(browser, **{key(app): str(quay.pk)})
    assert [(letter.to[0], letter.subject) for letter in mailoutbox] == [
        ("ada@example.org", "Hearth: Tidepool was transferred"),
        ("bob@example.org", "Hearth: Tidepool was transferred"),
        ("ada@example.org", "Hearth: Your account will be deleted"),
    ]
    app.refresh_from_db()
    assert (app.team, app.user) == (quay, user)
    assert carry_out(user)
    for each in (app, beside):
        each.refresh_from_db()
        assert (each.team, each.user) == (quay, bob)
    assert Application.objects.values_list("client_id", "client_secret").get(pk=app.pk) == before
    assert Approval.objects.count() == 1


def test_a_member_becomes_an_owner_and_the_team_takes_another_app_in_one_form(
    browser: Browser,
    user: User,
    app: Application,
    bob: User,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    held = team("Harbour", owner=user, viewer=bob)
    heir = str(held.members.get(user=bob).pk)
    with django_capture_on_commit_callbacks(execute=True):
        ask(browser, **{key(held): heir, key(app): str(held.pk)})
    assert held.members.get(user=bob).role == Role.OWNER
    assert "Hearth: You are an owner of the team Harbour" in [letter.subject for letter in mailoutbox]
    assert carry_out(user)
    app.refresh_from_db()
    assert (app.team, app.user) == (held, bob)


def test_a_team_that_would_be_deleted_takes_no_app(browser: Browser, user: User, app: Application, bob: User) -> None:
    held = team("Harbour", owner=user, viewer=bob)
    ask(browser, **{key(app): str(held.pk)})
    assert browser.errors() == ["Harbour needs another owner first. Choose one above."]
    assert not AccountDeletion.objects.exists()
    app.refresh_from_db()
    assert app.team is None


def test_what_is_chosen_is_refused_as_a_whole(browser: Browser, user: User, app: Application, bob: User) -> None:
    """The member leaves between the page and its form."""
    held, quay = team("Harbour", owner=user, viewer=bob), team("Quay", owner=user, owner2=bob)
    heir = str(held.members.get(user=bob).pk)
    browser.open(DELETE)
    teams.leave(team=held, by=bob)
    browser.submit(username="Ada", **{key(held): heir, key(app): str(quay.pk)})
    assert browser.errors() == ["Your apps or teams changed after you opened this page. Choose again."]
    assert not AccountDeletion.objects.exists()
    app.refresh_from_db()
    assert app.team is None


@pytest.mark.parametrize("value", ["0", "x", "-1", "9" * 40, "\x00"])
def test_a_choice_that_the_page_does_not_offer_is_refused(
    browser: Browser, user: User, app: Application, bob: User, eve: User, value: str
) -> None:
    foreign, held = team("Foreign", owner=eve), team("Harbour", owner=user, viewer=bob)
    for name in (key(app), key(held)):
        for chosen in (value, str(foreign.pk), str(foreign.members.get().pk)):
            answer = client_of(browser).post(DELETE, {"username": "Ada", name: chosen})
            assert (answer.status_code, list(answer.context["form"].errors)) == (200, [name])
    assert not AccountDeletion.objects.exists()


def test_a_wrong_username_hands_nothing_over(browser: Browser, user: User, app: Application, bob: User) -> None:
    quay = team("Quay", owner=user, owner2=bob)
    browser.open(DELETE).submit(username="Bob", **{key(app): str(quay.pk)})
    assert len(browser.errors()) == 1
    app.refresh_from_db()
    assert app.team is None


def test_what_was_handed_over_stays_when_the_account_is_kept(
    browser: Browser, user: User, app: Application, bob: User
) -> None:
    quay = team("Quay", owner=user, owner2=bob)
    ask(browser, **{key(app): str(quay.pk)})
    assert deletions.stop(user=user, by=user)
    app.refresh_from_db()
    assert (app.team, app.user) == (quay, user)


def _other_owner_is_deleted_on_the_same_day(user: User, bob: User, quay: Team) -> None:
    AccountDeletion.objects.create(user=bob, asked_at=timezone.now(), due_at=timezone.now() + timedelta(days=7))


def _other_owner_is_banned(user: User, bob: User, quay: Team) -> None:
    User.objects.filter(pk=bob.pk).update(is_active=False, banned_at=timezone.now())


def _other_owner_is_deleted_first(user: User, bob: User, quay: Team) -> None:
    AccountDeletion.objects.create(user=bob, asked_at=timezone.now(), due_at=timezone.now() + timedelta(days=1))
    assert carry_out(bob)


def _person_is_removed(user: User, bob: User, quay: Team) -> None:
    teams.remove_member(member=quay.members.get(user=user), by=bob)


def _app_is_deleted(user: User, bob: User, quay: Team) -> None:
    applications.delete(application=Application.objects.get(), by=bob)
    teams.delete(team=quay, by=bob)


def _app_comes_back(user: User, bob: User, quay: Team) -> None:
    transfers.transfer(application=Application.objects.get(), team=None, by=user)


@pytest.mark.parametrize(
    ("happen", "apps"),
    [
        (_other_owner_is_deleted_on_the_same_day, 1),
        (_other_owner_is_banned, 1),
        (_other_owner_is_deleted_first, 0),
        (_person_is_removed, 1),
        (_app_is_deleted, 0),
        (_app_comes_back, 0),
    ],
)
def test_the_job_deletes_the_account_whatever_happened_in_the_7_days(
    browser: Browser, user: User, app: Application, bob: User, happen: Any, apps: int
) -> None:
    quay = team("Quay", owner=user, owner2=bob)
    ask(browser, **{key(app): str(quay.pk)})
    happen(user, bob, quay)
    assert carry_out(user)
    assert not User.objects.filter(pk=user.pk).exists()
    assert Application.objects.count() == apps
    assert not Team.objects.filter(members=None).exists()


def test_an_owner_who_deletes_the_account_too_leaves_nobody_the_team(
    browser: Browser, user: User, bob: User, eve: User
) -> None:
    quay = team("Quay", owner=user, owner2=bob, viewer=eve)
    deletions.ask(user=bob, by=bob)
    browser.open(DELETE)
    assert "Team Quay" in browser.text
    assert choices(browser, quay) == ["", str(quay.members.get(user=eve).pk)]
    deletions.stop(user=bob, by=bob)
    assert "Team Quay" not in browser.open(DELETE).text


def test_an_old_sign_in_hands_nothing_over(user: User, app: Application, bob: User) -> None:
    quay = team("Quay", owner=user, owner2=bob)
    old = client_of(browser_of(user, password_age=301))
    answer = old.post(DELETE, {"username": "Ada", key(app): str(quay.pk)})
    assert answer["Location"].startswith("/accounts/reauthenticate/")
    app.refresh_from_db()
    assert app.team is None
