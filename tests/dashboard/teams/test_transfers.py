"""Transfer of an app: to a team, out of it, to another person; what stays and what does not."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.utils import timezone

from accounts.models import AuditEvent, User
from oidc_provider.applications import applications, staging, teams
from oidc_provider.models import Application, Approval, Invitation, Role, Team, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import People, invite, link_of
from tests.dashboard.teams.test_invitations import page_of as page_of_invitation
from tests.dashboard.teams.test_invitations import press
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
KEPT = ("client_id", "client_secret", "redirect_uris", "name", "registered_scopes", "secret_changed_at", "suspended_at")


def path_of(app: Application) -> str:
    return f"/dashboard/apps/{app.client_id}/transfer/"


def kept(app: Application) -> Any:
    """The columns of KEPT."""
    return Application.objects.values_list(*KEPT).get(pk=app.pk)


def whose(app: Application) -> tuple[str, str]:
    found = Application.objects.select_related("user", "team").get(pk=app.pk)
    return found.user.username, str(found.team or "")


def transfer(browser: Browser, app: Application, to: str, email: str = "") -> Browser:
    """Choose, read what it means, and confirm."""
    browser.open(path_of(app)).submit(to=to, email=email)
    assert problems_of(browser.response) == []
    if "is_sure" in browser.response.context["form"].fields and browser.response.context.get("effects"):
        (form,) = browser.page.xpath("//main//form[not(@action)]")
        browser.response = browser.client.post(path_of(app), dict(form.form_values()), follow=True)
    return browser


@pytest.fixture
def own(user: User) -> Application:
    return ApplicationFactory.create(user=user, name="Own app", registered_scopes=["openid", "identify"])


def test_an_app_goes_to_a_team_with_all_that_it_has(
    browser: Browser,
    people: People,
    user: User,
    own: Application,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    ApprovalFactory(application=own)
    beside = staging.create(application=own, by=user).application
    before, approvals = (kept(own), kept(beside)), list(Approval.objects.values())
    browser.open(path_of(own)).submit(to=str(people.team.pk))
    for words in ("Client id, secrets, redirect URLs, approvals and tokens stay", "Its staging app goes along."):
        assert words in browser.text
    assert whose(own) == ("Ada", "")
    with django_capture_on_commit_callbacks(execute=True):
        transfer(browser, own, str(people.team.pk))
    assert "Own app belongs to the team Harbour now." in browser.text
    assert (whose(own), whose(beside)) == (("Ada", "Harbour"), ("Ada", "Harbour"))
    assert (kept(own), kept(beside)) == before
    assert list(Approval.objects.values()) == approvals
    assert [letter.to for letter in mailoutbox] == [["ada@example.org"]]
    assert "Before: Ada\nNow: the team Harbour" in mailoutbox[0].body
    assert AuditEvent.objects.filter(verb="application:transferred", actor=user).count() == 2


def test_an_app_comes_back_to_its_owner(browser: Browser, people: People) -> None:
    before = kept(people.app)
    transfer(browser, people.app, "me")
    assert "Tidepool belongs to you alone now." in browser.text
    assert (whose(people.app), kept(people.app)) == (("Ada", ""), before)
    developer = client_of(browser_of(people.by_standing["developer"]))
    assert developer.get(path_of(people.app)).status_code == 404


def test_only_teams_of_which_one_is_an_owner_are_offered(browser: Browser, people: People, user: User) -> None:
    quay = Team.objects.create(name="Quay")
    TeamMember.objects.create(team=quay, user=user, role=Role.DEVELOPER)
    foreign = Team.objects.create(name="Foreign")
    browser.open(path_of(people.app))
    assert browser.page.xpath("//input[@name='to']/@value") == ["me", "person"]
    for key in (quay.pk, foreign.pk, people.team.pk, "0", "", "you alone"):
        data = {"to": str(key), "is_sure": "True"}
        assert client_of(browser).post(path_of(people.app), data).context["form"].errors["to"]
    assert whose(people.app) == ("Ada", "Harbour")


def test_another_person_takes_the_app_over(
    browser: Browser,
    people: People,
    own: Application,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    before = kept(own)
    with django_capture_on_commit_callbacks(execute=True):
        transfer(browser, own, "person", "Stranger@example.org")
    assert "Offer sent to stranger@example.org." in browser.text
    assert "The app is offered to stranger@example.org" in browser.open(path_of(own)).text
    assert whose(own) == ("Ada", "")
    guest = browser_of(people.by_standing["stranger"]).open(link_of(str(mailoutbox[0].body)))
    assert problems_of(guest.response) == []
    assert "Ada wants to give you the app Own app." in guest.text
    invitation = Invitation.objects.get(application=own)
    with django_capture_on_commit_callbacks(execute=True):
        press(guest, page_of_invitation(invitation, "accept/"))
    assert "Own app is yours now." in guest.text
    assert (whose(own), kept(own)) == (("Stranger", ""), before)
    assert guest.open(f"/dashboard/apps/{own.client_id}/").response.status_code == 200
    assert browser.open(f"/dashboard/apps/{own.client_id}/").response.status_code == 404
    assert mailoutbox[1].to == ["ada@example.org"]
    assert "Stranger accepted an offer and took over the app Own app." in mailoutbox[1].body


def test_the_page_of_the_app_shows_an_open_offer_to_who_may_withdraw_it(people: People, user: User) -> None:
    page = f"/dashboard/apps/{people.app.client_id}/"
    owner, developer, viewer = (browser_of(people.by_standing[name]) for name in ("owner", "developer", "viewer"))
    assert "is offered to" not in owner.open(page).text
    offer, _ = invite("heir@example.org", by=user, application=people.app)
    assert "The app is offered to heir@example.org until" in owner.open(page).text
    assert problems_of(owner.response) == []
    assert path_of(people.app) in owner.page.xpath("//main//p[contains(@class, 'notice')]/a/@href")
    for member in (developer, viewer):
        assert "heir@example.org" not in member.open(page).text
    Invitation.objects.filter(pk=offer.pk).update(expires_at=timezone.now())
    assert "is offered to" not in owner.open(page).text


def test_an_offer_is_withdrawn_or_declined(browser: Browser, people: People, own: Application) -> None:
    transfer(browser, own, "person", "stranger@example.org")
    first = Invitation.objects.get(application=own)
    browser.open(path_of(own))
    press(browser, f"{path_of(own)}withdraw/")
    assert "Offer withdrawn." in browser.text
    assert client_of(browser).post(f"{path_of(own)}withdraw/").status_code == 404
    guest = browser_of(people.by_standing["stranger"])
    assert client_of(guest).post(page_of_invitation(first, "accept/")).status_code == 404
    transfer(browser, own, "person", "stranger@example.org")
    second = Invitation.objects.get(application=own)
    press(guest.open(page_of_invitation(second)), page_of_invitation(second, "decline/"))
    assert "Invitation declined." in guest.text
    assert whose(own) == ("Ada", "")


def test_an_offer_ends_when_the_app_goes_elsewhere(browser: Browser, people: People, own: Application) -> None:
    transfer(browser, own, "person", "stranger@example.org")
    invitation = Invitation.objects.get(application=own)
    guest = browser_of(people.by_standing["stranger"]).open(page_of_invitation(invitation))
    transfer(browser, own, str(people.team.pk))
    press(guest, page_of_invitation(invitation, "accept/"))
    assert guest.response.status_code == 404
    assert whose(own) == ("Ada", "Harbour")


def test_a_person_needs_an_address(browser: Browser, own: Application) -> None:
    for email in ("", "no address"):
        browser.open(path_of(own)).submit(to="person", email=email)
        assert len(browser.errors()) == 1
    assert not Invitation.objects.exists()


def test_a_staging_app_leads_to_the_transfer_of_its_live_one(browser: Browser, own: Application, user: User) -> None:
    beside = staging.create(application=own, by=user).application
    assert browser.open(path_of(beside)).response.request["PATH_INFO"] == path_of(own)


def test_the_page_says_which_locked_scopes_are_lost(browser: Browser, people: People, own: Application) -> None:
    Application.objects.update(registered_scopes=["openid", "email"])
    browser.open(path_of(own)).submit(to=str(people.team.pk))
    assert "It loses email, which nobody there has unlocked." in browser.text
    applications.unlock_scope(owner=people.by_standing["viewer"], scope="email", by=None, reason="")
    browser.open(path_of(own)).submit(to=str(people.team.pk))
    assert "It loses email" not in browser.text
    browser.open(path_of(own)).submit(to="person", email="a@b.example")
    assert "It loses email if staff have not unlocked that for the person." in browser.text


def test_a_transfer_in_an_old_tab_is_refused(browser: Browser, people: People, own: Application, user: User) -> None:
    browser.open(path_of(own)).submit(to=str(people.team.pk))
    (form,) = browser.page.xpath("//main//form[not(@action)]")
    data = dict(form.form_values())
    teams.change_role(member=people.member("developer"), role=Role.OWNER, by=user)
    teams.leave(team=people.team, by=user)
    browser.response = browser.client.post(path_of(own), data, follow=True)
    assert browser.response.context["form"].errors["to"]
    assert whose(own) == ("Ada", "")
