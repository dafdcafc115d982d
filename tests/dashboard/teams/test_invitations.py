"""Invitations: sent by mail, answered by whoever has the link or the address, once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from accounts import bans, rate_limits
from accounts.models import AuditEvent, User
from config.observability import redaction
from infrastructure.limits import HOUR, Limit
from oidc_provider.applications import invitations, teams
from oidc_provider.models import Invitation, Role, Team, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import People, invite, link_of
from tests.factories.accounts import PASSWORD, UserFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db


def page_of(invitation: Invitation, act: str = "") -> str:
    return f"/dashboard/teams/invitations/{invitation.pk}/{act}"


def press(browser: Browser, path: str) -> Browser:
    """Press the button of the open page that leads to `path`."""
    (form,) = browser.page.xpath(f"//form[@action='{path}']")
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


def roles_of(team: Team) -> dict[str, str]:
    return {member.user.username: member.role for member in team.members.select_related("user")}


def send(browser: Browser, people: People, email: str, role: str = "DEVELOPER") -> Browser:
    return browser.open(f"/dashboard/teams/{people.team.pk}/invite/").submit(email=email, role=role)


def test_a_letter_leads_a_person_with_an_account_to_the_team(
    browser: Browser,
    people: People,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        send(browser, people, " Stranger@Example.ORG ")
    assert "Invitation sent to" in browser.text
    (letter,) = mailoutbox
    assert (letter.to, letter.subject) == (["stranger@example.org"], "Hearth: Invitation to the team Harbour")
    assert "Ada invites you to the team Harbour at Hearth, as developer." in letter.body
    guest = browser_of(people.by_standing["stranger"])
    guest.open(link_of(str(letter.body)))
    assert problems_of(guest.response) == []
    for words in ("Ada invites you to the team Harbour as a developer.", "Made for stranger@example.org"):
        assert words in guest.text
    assert "not a confirmed address of your account" not in guest.text
    invitation = Invitation.objects.get(email="stranger@example.org")
    with django_capture_on_commit_callbacks(execute=True):
        press(guest, page_of(invitation, "accept/"))
    assert "You are in the team Harbour now." in guest.text
    assert roles_of(people.team)["Stranger"] == Role.DEVELOPER
    assert mailoutbox[1].to == ["ada@example.org"]
    assert "Stranger accepted an invitation" in mailoutbox[1].body
    event = AuditEvent.objects.get(verb="team:member_joined")
    assert (event.actor, event.data["role"]) == (people.by_standing["stranger"], "Developer")


def test_the_token_is_in_the_first_address_alone_and_stored_nowhere(people: People) -> None:
    client = client_of(browser_of(people.by_standing["stranger"]))
    answer = client.get(f"/dashboard/teams/join/{people.token}/")
    assert (answer.status_code, answer["Location"]) == (302, page_of(people.invitation))
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert "no-store" in answer["Cache-Control"]
    page = client.get(answer["Location"])
    assert people.token not in page.content.decode()
    assert people.token not in str(dict(client.session))
    assert people.token not in str(Invitation.objects.values().get())
    assert redaction.redacted_path(f"/dashboard/teams/join/{people.token}/") == "/dashboard/teams/join/[redacted]/"


def test_a_person_who_must_sign_in_first_comes_back_to_the_invitation(people: People) -> None:
    visitor = Browser().open(f"/dashboard/teams/join/{people.token}/")
    assert visitor.response.request["PATH_INFO"] == "/accounts/login/"
    assert people.token not in visitor.response.request["QUERY_STRING"]
    visitor.submit(login="Stranger", password=PASSWORD)
    assert visitor.response.request["PATH_INFO"] == page_of(people.invitation)
    assert "not a confirmed address of your account" in visitor.text
    press(visitor, page_of(people.invitation, "accept/"))
    assert roles_of(people.team)["Stranger"] == Role.VIEWER


def test_a_person_who_must_sign_up_first_comes_back_to_the_invitation(
    people: People, mailoutbox: list[EmailMessage]
) -> None:
    visitor = Browser().open(f"/dashboard/teams/join/{people.token}/")
    (sign_up,) = set(visitor.page.xpath("//main//a[starts-with(@href, '/accounts/signup/?')]/@href"))
    visitor.open(sign_up).submit(email="new@example.org", username="Newcomer", password1="long enough 9")
    (code,) = re.findall(r"^([A-Z0-9-]{6,})$", str(mailoutbox[-1].body), re.MULTILINE)
    visitor.submit(code=code)
    assert visitor.response.request["PATH_INFO"] == page_of(people.invitation)
    press(visitor, page_of(people.invitation, "accept/"))
    assert roles_of(people.team)["Newcomer"] == Role.VIEWER


def test_a_confirmed_address_needs_no_link(people: People) -> None:
    guest = browser_of(people.by_standing["invited"]).open("/dashboard/teams/")
    assert page_of(people.invitation) in guest.page.xpath("//main//a/@href")
    press(guest.open(page_of(people.invitation)), page_of(people.invitation, "accept/"))
    assert roles_of(people.team)["Invited"] == Role.VIEWER
    assert not Invitation.objects.exists()


def test_an_address_that_is_not_confirmed_or_was_removed_opens_nothing(people: People) -> None:
    invited = people.by_standing["invited"]
    for is_kept in (True, False):
        EmailAddress.objects.filter(user=invited).update(verified=False)
        if not is_kept:
            EmailAddress.objects.filter(user=invited).delete()
        guest = browser_of(invited)
        assert page_of(people.invitation) not in guest.open("/dashboard/teams/").page.xpath("//main//a/@href")
        assert client_of(guest).get(page_of(people.invitation)).status_code == 404
        assert client_of(guest).post(page_of(people.invitation, "accept/")).status_code == 404
    assert "Invited" not in roles_of(people.team)


def test_the_link_of_one_invitation_opens_no_other(people: People, user: User) -> None:
    other, _ = invite("other@example.org", by=user, team=people.team, role=Role.OWNER)
    guest = client_of(browser_of(people.by_standing["stranger"]))
    guest.get(f"/dashboard/teams/join/{people.token}/")
    assert guest.post(page_of(other, "accept/")).status_code == 404
    assert guest.post(page_of(people.invitation, "accept/")).status_code == 302
    assert roles_of(people.team)["Stranger"] == Role.VIEWER


def test_two_tabs_with_two_invitations_answer_each_its_own(people: People, user: User) -> None:
    quay = teams.create(name="Quay", by=user)
    second, token = invite("other@example.org", by=user, team=quay, role=Role.DEVELOPER)
    guest = browser_of(people.by_standing["stranger"])
    guest.open(f"/dashboard/teams/join/{people.token}/")
    first_tab = guest.response
    guest.open(f"/dashboard/teams/join/{token}/")
    assert "Quay" in guest.text
    guest.response = first_tab
    press(guest, page_of(people.invitation, "accept/"))
    assert "You are in the team Harbour now." in guest.text
    assert Invitation.objects.get() == second


@pytest.mark.parametrize("answer", ["accept/", "decline/"])
def test_an_invitation_is_answered_once(people: People, answer: str) -> None:
    guest = browser_of(people.by_standing["invited"]).open(page_of(people.invitation))
    form = dict(guest.page.xpath(f"//form[@action='{page_of(people.invitation, answer)}']")[0].form_values())
    first = guest.client.post(page_of(people.invitation, answer), form)
    assert first.status_code == 302
    for again in ("accept/", "decline/"):
        assert guest.client.post(page_of(people.invitation, again), form).status_code == 404
    assert guest.client.get(page_of(people.invitation)).status_code == 404
    assert guest.client.get(f"/dashboard/teams/join/{people.token}/").status_code == 404
    assert ("Invited" in roles_of(people.team)) is (answer == "accept/")
    verbs = AuditEvent.objects.filter(object_type="oidc_provider.team").values_list("verb", flat=True)
    assert list(verbs) == ["team:member_joined" if answer == "accept/" else "team:declined"]


def test_an_invitation_works_for_7_days(people: People) -> None:
    guest = client_of(browser_of(people.by_standing["invited"]))
    with time_machine.travel(people.invitation.expires_at - timedelta(seconds=1), tick=False):
        assert guest.get(page_of(people.invitation)).status_code == 200
    with time_machine.travel(people.invitation.expires_at, tick=False):
        for path in (page_of(people.invitation), f"/dashboard/teams/join/{people.token}/"):
            assert guest.get(path).status_code == 404
        assert guest.post(page_of(people.invitation, "accept/")).status_code == 404
        assert "Invitations for you" not in guest.get("/dashboard/teams/").content.decode()
    assert "Invited" not in roles_of(people.team)


def test_one_page_answers_for_all_that_does_not_work(people: People) -> None:
    guest = client_of(browser_of(people.by_standing["stranger"]))
    pages = [guest.get(path) for path in ("/dashboard/teams/join/wrong/", page_of(people.invitation))]
    pages.append(guest.get(f"/dashboard/teams/join/{'x' * 5_000}/"))
    pages.append(Client().get("/dashboard/teams/join/wrong/"))
    assert [page.status_code for page in pages] == [404] * 4
    assert len({page.content for page in pages[:3]}) == 1
    assert problems_of(pages[0]) == []
    assert problems_of(pages[3]) == []


def test_a_withdrawn_invitation_does_not_work(browser: Browser, people: People) -> None:
    guest = browser_of(people.by_standing["invited"]).open(page_of(people.invitation))
    path = f"/dashboard/teams/{people.team.pk}/invitations/{people.invitation.pk}/withdraw/"
    browser.open(f"/dashboard/teams/{people.team.pk}/")
    assert "Invitation withdrawn." in press(browser, path).text
    press(guest, page_of(people.invitation, "accept/"))
    assert guest.response.status_code == 404
    assert "Invited" not in roles_of(people.team)
    assert client_of(browser).post(path).status_code == 404


def test_an_invitation_ends_when_its_sender_is_no_longer_an_owner(people: People, user: User) -> None:
    teams.change_role(member=people.member("developer"), role=Role.OWNER, by=user)
    guest = browser_of(people.by_standing["invited"]).open(page_of(people.invitation))
    bans.ban(user=user, by=None, reason="Spam")
    press(guest, page_of(people.invitation, "accept/"))
    assert invitations.ENDED in guest.text
    assert "Invited" not in roles_of(people.team)


@pytest.mark.parametrize(
    ("email", "message"),
    [
        ("Ada@example.org", "This is your own address, and you are a member of this team already."),
        ("viewer@example.org", "The person with this address is a member of this team already."),
    ],
)
def test_the_address_of_a_member_is_refused_once_it_is_confirmed(
    browser: Browser, people: People, email: str, message: str
) -> None:
    send(browser, people, email)
    assert browser.errors() == [message]
    assert set(Invitation.objects.values_list("email", flat=True)) == {"invited@example.org"}
    EmailAddress.objects.filter(email=email.lower()).update(verified=False)
    send(browser, people, email)
    assert f"Invitation sent to {email}" in browser.text


def test_a_member_who_is_invited_at_another_address_is_told_so(browser: Browser, people: People) -> None:
    send(browser, people, "other@example.org", "OWNER")
    invitation = Invitation.objects.get(email="other@example.org")
    EmailAddress.objects.create(user=people.by_standing["viewer"], email="other@example.org", verified=True)
    guest = browser_of(people.by_standing["viewer"]).open(page_of(invitation))
    press(guest, page_of(invitation, "accept/"))
    assert "You are a member of this team already." in guest.text
    assert roles_of(people.team)["Viewer"] == Role.VIEWER


def test_an_answer_about_the_address_does_not_tell_whether_it_has_an_account(browser: Browser, people: People) -> None:
    teams.create(name="Quay", by=people.by_standing["stranger"])
    texts = [
        send(browser, people, email).text.replace(email, "")
        for email in ("stranger@example.org", "nobody-at-all@example.org")
    ]
    sent = [re.findall("Invitation sent to.{20}", text) for text in texts]
    assert sent[0] == sent[1] != []


@pytest.mark.parametrize(
    "email",
    ["", "no address", "a@b", f"{'a' * 250}@example.org", "a@example.org\nBcc: c@example.org", "a@b.example\x00"],
)
def test_what_is_no_address_gets_no_letter(
    browser: Browser, people: People, email: str, mailoutbox: list[EmailMessage]
) -> None:
    path = f"/dashboard/teams/{people.team.pk}/invite/"
    answer = client_of(browser).post(path, {"email": email, "role": "VIEWER"})
    assert (answer.status_code, list(answer.context["form"].errors)) == (200, ["email"])
    assert mailoutbox == []


def test_a_person_sends_only_so_many_invitations(
    browser: Browser, people: People, user: User, monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS", Limit(f"test-invitations-{user.pk}", 1, "", window=HOUR))
    send(browser, people, "one@example.org")
    send(browser, people, "two@example.org")
    assert browser.errors()[0].startswith("You can send 1 invitations a day.")
    path = f"/dashboard/apps/{people.app.client_id}/transfer/"
    data = {"to": "person", "email": "three@example.org", "is_sure": "True"}
    assert "You can send 1 invitations a day." in client_of(browser).post(path, data).content.decode()
    assert set(Invitation.objects.values_list("email", flat=True)) == {"invited@example.org", "one@example.org"}


def test_get_where_a_login_in_between_leads_to_goes_to_the_page(people: People) -> None:
    guest = browser_of(people.by_standing["invited"])
    for answer in ("accept/", "decline/"):
        assert guest.open(page_of(people.invitation, answer)).response.request["PATH_INFO"] == page_of(
            people.invitation
        )
    assert Invitation.objects.exists()
    assert not TeamMember.objects.filter(user=people.by_standing["invited"]).exists()


def test_a_session_remembers_only_the_latest_links(people: People, user: User) -> None:
    guest = client_of(browser_of(UserFactory.create()))
    sent = [invite(f"a{number}@example.org", by=user, team=people.team, role=Role.VIEWER) for number in range(22)]
    for _, token in sent:
        guest.get(f"/dashboard/teams/join/{token}/")
    assert [guest.get(page_of(invitation)).status_code for invitation, _ in sent] == [404, 404] + [200] * 20
    assert timezone.now() < sent[0][0].expires_at
