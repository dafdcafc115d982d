"""The list of teams, the page of one, its members and its activity."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.mail import EmailMessage

from accounts import bans, rate_limits
from accounts.models import AuditEvent, User
from oidc_provider.applications import applications, invitations, staging, teams
from oidc_provider.models import INVITATIONS_LAST, Application, Invitation, Role, Team, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import People, invite
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
MARKUP = "<script>alert(1)</script>"


def page_of(people: People, page: str = "") -> str:
    return f"/dashboard/teams/{people.team.pk}/{page}"


def press(browser: Browser, path: str) -> Browser:
    """Open a page that asks, and press its button."""
    browser.open(path)
    assert problems_of(browser.response) == []
    (form,) = browser.page.xpath("//main//form[not(@action)]")
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


def links_of(browser: Browser) -> set[str]:
    return set(browser.page.xpath("//main//a/@href | //main//form/@action"))


PAGES = [
    "",
    "activity/",
    "rename/",
    "invite/",
    "members/{member}/role/",
    "members/{member}/remove/",
    "leave/",
    "delete/",
]


def test_every_page_is_sound_and_never_cached(browser: Browser, people: People) -> None:
    member = people.member("viewer").pk
    transfer = f"/dashboard/apps/{people.app.client_id}/transfer/"
    paths = [page_of(people, page.format(member=member)) for page in PAGES]
    for path in (*paths, "/dashboard/teams/", "/dashboard/teams/new/", transfer):
        browser.open(path)
        assert browser.response.status_code == 200
        assert problems_of(browser.response) == [], path
        assert "no-store" in browser.response.headers["Cache-Control"]


def test_a_name_with_markup_is_text_on_every_page(browser: Browser, people: People, user: User) -> None:
    Team.objects.update(name=MARKUP)
    teams.change_role(member=people.member("viewer"), role=Role.DEVELOPER, by=user)
    member = people.member("viewer").pk
    paths = [page_of(people, page.format(member=member)) for page in PAGES]
    transfer = f"/dashboard/apps/{people.app.client_id}/transfer/"
    for path in (*paths, "/dashboard/teams/", transfer, "/dashboard/account/delete/"):
        assert "<script>alert" not in browser.open(path).response.content.decode()


def test_a_new_team_has_one_owner(browser: Browser, user: User) -> None:
    assert "You are in no team yet" in browser.open("/dashboard/teams/").text
    browser.open("/dashboard/teams/new/").submit(name="Harbour")
    assert "Harbour created. You are its owner." in browser.text
    team = Team.objects.get()
    assert [(member.user, member.role) for member in team.members.all()] == [(user, Role.OWNER)]
    assert f"/dashboard/teams/{team.pk}/" in links_of(browser)
    assert AuditEvent.objects.get(verb="team:created").actor == user


@pytest.mark.parametrize(
    "name", ["", " ", "x" * 65, "a\nBcc: b@c.example", "a\u202eb", "Official support", "\ufeff", "\x00"]
)
def test_a_name_that_cannot_be_read_or_misleads_is_refused(browser: Browser, people: People, name: str) -> None:
    client = client_of(browser)
    for path in ("/dashboard/teams/new/", page_of(people, "rename/")):
        answer = client.post(path, {"name": name})
        assert answer.status_code == 200
        assert answer.context["form"].errors["name"]
    assert Team.objects.get().name == "Harbour"


def test_the_list_shows_role_members_and_apps(browser: Browser, people: People, user: User) -> None:
    staging.create(application=people.app, by=user)
    Team.objects.create(name="Of others")
    browser.open("/dashboard/teams/")
    (row,) = [" ".join(row.text_content().split()) for row in browser.page.xpath("//li[@class='row']")]
    assert row == "Harbour Owner 3 members 1 app"


def test_an_owner_sees_every_act_and_others_none(people: People) -> None:
    found = {name: links_of(browser_of(people.by_standing[name]).open(page_of(people))) for name in people.by_standing}
    acts = {page_of(people, page) for page in ("invite/", "rename/")}
    acts |= {page_of(people, f"members/{people.member('viewer').pk}/{page}/") for page in ("role", "remove")}
    acts |= {page_of(people, f"invitations/{people.invitation.pk}/withdraw/")}
    assert acts <= found["owner"]
    assert page_of(people, "leave/") not in found["owner"]  # the last one
    for reader in ("developer", "viewer"):
        assert not acts & found[reader]
        assert page_of(people, "leave/") in found[reader]
        assert f"/dashboard/apps/{people.app.client_id}/" in found[reader]


def test_the_address_of_an_invited_person_is_for_owners_and_not_in_the_trail(people: People, user: User) -> None:
    browser = browser_of(user).open(page_of(people, "invite/"))
    form = browser.form("email")
    data = {**dict(form.form_values()), "email": "new@example.org", "role": "VIEWER"}
    browser.client.post(page_of(people, "invite/"), data)
    seen = {
        (name, page): "new@example.org" in browser_of(people.by_standing[name]).open(page_of(people, page)).text
        for name in ("owner", "developer", "viewer")
        for page in ("", "activity/")
    }
    assert [where for where, is_seen in seen.items() if is_seen] == [("owner", "")]


def test_a_role_is_changed_and_the_last_owner_stays_one(browser: Browser, people: People, user: User) -> None:
    path = page_of(people, f"members/{people.member('viewer').pk}/role/")
    assert browser.open(path).form("role").fields["role"] == "VIEWER"
    browser.submit(role="DEVELOPER")
    assert "Role of Viewer changed." in browser.text
    assert people.member("viewer").role == Role.DEVELOPER
    own = page_of(people, f"members/{people.member('owner').pk}/role/")
    browser.open(own).submit(role="VIEWER")
    assert browser.errors() == [teams.LAST_OWNER]
    teams.change_role(member=people.member("viewer"), role=Role.OWNER, by=user)
    browser.open(own).submit(role="VIEWER")
    assert people.member("owner").role == Role.VIEWER
    assert Application.objects.get().user == people.by_standing["viewer"]
    assert browser.open(own).response.status_code == 403


@pytest.mark.parametrize("role", ["", "ADMIN", "owner", "OWNER\x00"])
def test_a_role_that_there_is_not_is_refused(browser: Browser, people: People, role: str) -> None:
    client = client_of(browser)
    member = people.member("viewer").pk
    for page in (f"members/{member}/role/", "invite/"):
        answer = client.post(page_of(people, page), {"role": role, "email": "a@b.example"})
        assert (answer.status_code, "role" in answer.context["form"].errors) == (200, True)
    assert people.member("viewer").role == Role.VIEWER
    assert Invitation.objects.count() == 1


def test_a_removed_member_loses_access_and_gets_a_letter(
    browser: Browser, people: People, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    path = page_of(people, f"members/{people.member('developer').pk}/remove/")
    with django_capture_on_commit_callbacks(execute=True):
        press(browser, path)
    assert "Developer removed." in browser.text
    (letter,) = mailoutbox
    assert (letter.to, letter.subject) == (
        ["developer@example.org"],
        "Hearth: You were removed from the team Harbour",
    )
    removed = client_of(browser_of(people.by_standing["developer"]))
    assert removed.get(page_of(people)).status_code == 404
    assert removed.get(f"/dashboard/apps/{people.app.client_id}/").status_code == 404
    assert client_of(browser).post(path).status_code == 404


def test_a_member_leaves_and_the_last_owner_cannot(browser: Browser, people: People) -> None:
    developer = press(browser_of(people.by_standing["developer"]), page_of(people, "leave/"))
    assert "You left Harbour." in developer.text
    assert not TeamMember.objects.filter(user=people.by_standing["developer"]).exists()
    assert teams.LAST_OWNER in press(browser, page_of(people, "leave/")).text
    assert people.member("owner").role == Role.OWNER


def test_an_owner_who_leaves_is_followed_by_one_who_is_not_banned(browser: Browser, people: People) -> None:
    people.team.members.update(role=Role.OWNER)
    bans.ban(user=people.by_standing["developer"], by=None, reason="Spam")
    assert "You left Harbour." in press(browser, page_of(people, "leave/")).text
    people.app.refresh_from_db()
    assert (people.app.user, people.app.team) == (people.by_standing["viewer"], people.team)


def test_a_team_is_deleted_by_its_name_once_it_is_empty(browser: Browser, people: People, user: User) -> None:
    browser.open(page_of(people, "delete/")).submit(typed_name="Harbor")
    assert browser.errors() == ["This is not the team's name. Type Harbour."]
    browser.submit(typed_name="Harbour")
    assert browser.errors() == ["This team has apps. Transfer or delete them first."]
    applications.delete(application=people.app, by=user)
    browser.submit(typed_name=" Harbour ")
    assert "Harbour deleted." in browser.text
    assert not Team.objects.exists()
    assert browser.open(page_of(people)).response.status_code == 404


def test_an_act_on_a_team_that_another_tab_deleted_is_said(browser: Browser, people: People, user: User) -> None:
    browser.open(page_of(people, "rename/"))
    applications.delete(application=people.app, by=user)
    teams.delete(team=people.team, by=user)
    browser.submit(name="Pier")
    assert browser.response.status_code == 404


def test_the_activity_says_who_did_what_to_whom(browser: Browser, people: People, user: User) -> None:
    teams.rename(team=people.team, name="Pier", by=user)
    teams.change_role(member=people.member("viewer"), role=Role.DEVELOPER, by=user)
    teams.leave(team=people.team, by=people.by_standing["developer"])
    browser.open(page_of(people, "activity/"))
    rows = [" ".join(row.text_content().split()) for row in browser.page.xpath("//li[@class='row']")]
    assert rows[0].startswith("Member left Developer")
    assert "by Developer" in rows[0]
    assert rows[1].startswith("Role changed Viewer, Viewer became Developer")
    assert "by you" in rows[1]
    assert rows[2].startswith("Team renamed Harbour became Pier")


def test_staff_who_acted_are_not_named(browser: Browser, people: People) -> None:
    member = TeamMember.objects.create(team=people.team, user=people.by_standing["staff"], role=Role.OWNER)
    teams.rename(team=people.team, name="Pier", by=member.user)
    browser.open(page_of(people, "activity/"))
    assert "by the staff of Hearth" in browser.text


def cost(browser: Browser, path: str) -> list[str]:
    """The names of the statements of a page."""
    return statements.names(lambda: browser.open(path))


@pytest.mark.embedded
def test_pages_cost_the_same_for_a_few_rows_and_for_many(browser: Browser, people: People, user: User) -> None:
    paths = ["/dashboard/teams/", page_of(people), page_of(people, "activity/")]
    teams.rename(team=people.team, name="Pier", by=user)
    for path in paths:
        browser.open(path)  # the first page of a browser reads more of its session
    few = [cost(browser, path) for path in paths]
    for number in range(5):
        other = teams.create(name=f"Team {number}", by=user)
        TeamMember.objects.create(team=people.team, user=UserFactory.create(), role=Role.VIEWER)
        ApplicationFactory.create(user=user, team=people.team)
        invite(f"b{number}@example.org", by=user, team=people.team, role=Role.VIEWER)
        invite(user.email, by=user, team=other, role=Role.VIEWER)
        teams.rename(team=people.team, name=f"Harbour {number}", by=user)
    assert [cost(browser, path) for path in paths] == few


def test_the_documentation_says_how_many_there_can_be(browser: Browser) -> None:
    text = browser.open("/docs/sign-in/teams").text
    most = rate_limits.INVITATIONS.amount
    assert f"in at most {teams.MAX_TEAMS} teams and sends at most {most} invitations and offers a day" in text
    assert f"at most {teams.MAX_MEMBERS} members and {invitations.MAX_OPEN} open invitations" in text
    assert f"works once, for {INVITATIONS_LAST.days} days" in text
