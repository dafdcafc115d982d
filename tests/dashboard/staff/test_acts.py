"""Every act of staff: its page, its right, its reason, its trace, and what it says of what is so already."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import AuditEvent, User
from tests.support.browser import Browser
from tests.dashboard.staff.pages import ACTS, FOR_SUPERUSERS, Act, named
from tests.factories.accounts import UserFactory
from tests.pages.markup import problems_of

pytestmark = pytest.mark.django_db
every_act = pytest.mark.parametrize("act", ACTS, ids=named)
SignIn = Callable[..., Browser]


@every_act
def test_an_act_says_what_will_happen_asks_for_a_reason_and_is_recorded(
    staff: Browser, superuser: User, act: Act
) -> None:
    subject = act.make()
    path = act.path(subject)
    assert f'href="{path}"' in staff.open(act.page(subject)).response.content.decode()
    staff.open(path)
    assert problems_of(staff.response) == []
    assert staff.response.context["effects"]
    assert not AuditEvent.objects.exists()

    assert staff.submit(reason="  ").errors() == ["This field is required."]
    assert problems_of(staff.response) == []
    too_long = "Ensure this value has at most 2000 characters (it has 2001)."
    assert staff.submit(reason="x" * 2001).errors() == [too_long]
    assert not AuditEvent.objects.exists()

    staff.submit(reason="Because <b>")
    assert staff.response.redirect_chain == [(act.page(subject), 302)]
    assert act.done in staff.text
    event = AuditEvent.objects.get(verb=act.verb)
    assert (event.actor, event.actor_kind, event.reason) == (superuser, "STAFF", "Because <b>")
    assert problems_of(staff.response) == []
    assert "Because <b>" not in staff.response.content.decode()


@every_act
def test_an_act_needs_its_right(sign_in: SignIn, act: Act) -> None:
    subject = act.make()
    path = act.path(subject)
    without = sign_in(*({other.permission for other in ACTS} - {act.permission}))
    outsider = sign_in(act.permission, is_staff=False)
    for browser in (without, outsider):
        assert browser.client.get(path).status_code == 403
        token = _with_token(browser)
        assert browser.client.post(path, {**token, "reason": "Because"}).status_code == 403
    assert f'href="{path}"' not in without.open(_visible(act, subject)).response.content.decode()
    assert not AuditEvent.objects.exists()

    allowed = sign_in(act.permission)
    assert f'href="{path}"' in allowed.open(act.page(subject)).response.content.decode()
    assert act.done in allowed.open(path).submit(reason="Because").text
    assert AuditEvent.objects.filter(verb=act.verb).exists()


def _visible(act: Act, subject: object) -> str:
    """A page that staff without the act's right may see: the queue is closed to them, so another one."""
    return "/dashboard/staff/people/" if act.name.endswith("-request") else act.page(subject)


def _with_token(browser: Browser) -> dict[str, str]:
    """A CSRF token, from a page with a form that anybody may open."""
    browser.open("/dashboard/")
    form = browser.form("csrfmiddlewaretoken")
    return {"csrfmiddlewaretoken": str(form.fields["csrfmiddlewaretoken"])}


@every_act
def test_an_act_is_behind_login(client: Client, act: Act) -> None:
    path = act.path(act.make())
    for answer in (client.get(path), client.post(path, {"reason": "Because"})):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/accounts/login/")
    assert not AuditEvent.objects.exists()


@every_act
def test_an_act_that_somebody_else_has_done_says_so(staff: Browser, sign_in: SignIn, act: Act) -> None:
    subject = act.make()
    path = act.path(subject)
    late = sign_in(superuser=True).open(path)
    staff.open(path).submit(reason="The first")
    late.submit(reason="The second")
    assert act.again in late.text or "has been decided or withdrawn" in late.text
    assert act.done not in late.text
    assert act.again in staff.open(path).text
    assert list(AuditEvent.objects.filter(verb=act.verb).values_list("reason", flat=True)) == ["The first"]


@pytest.mark.parametrize("act", FOR_SUPERUSERS, ids=named)
def test_accounts_of_staff_are_for_superusers_alone(staff: Browser, sign_in: SignIn, act: Act) -> None:
    subject = act.make(is_staff=True)
    path = act.path(subject)
    helper = sign_in(act.permission)
    refused = helper.open(path).submit(reason="Because").text
    assert "Only a superuser may do this to a staff account." in refused
    assert act.done not in refused
    assert not AuditEvent.objects.exists()
    assert act.done in staff.open(path).submit(reason="Because").text


def test_nobody_bans_themselves(staff: Browser, superuser: User) -> None:
    path = f"/dashboard/staff/people/{superuser.pk}/ban/"
    assert "You cannot ban yourself." in staff.open(path).submit(reason="Because").text
    superuser.refresh_from_db()
    assert not superuser.is_banned


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/staff/requests/1/grant/",
        f"/dashboard/staff/requests/{'9' * 40}/grant/",
        "/dashboard/staff/apps/nobody/",
        "/dashboard/staff/apps/nobody/suspend/",
        "/dashboard/staff/people/nobody/",
        "/dashboard/staff/people/nobody/ban/",
        "/dashboard/staff/people/{pk}/promote/",
        "/dashboard/staff/people/{pk}/scopes/openid/unlock/",
        "/dashboard/staff/people/{pk}/scopes/email/grant/",
        "/dashboard/staff/people/{pk}/keys/ik_none/lookup:user/grant/",
        "/dashboard/staff/people/{pk}/keys/ik_none/nonsense/grant/",
    ],
)
def test_there_is_no_such_page(staff: Browser, path: str) -> None:
    assert staff.client.get(path.format(pk=UserFactory().pk)).status_code == 404


def test_a_key_is_reached_through_its_owner_alone(staff: Browser) -> None:
    act = next(act for act in ACTS if act.name == "grant-permission")
    key, other = act.make(), UserFactory()
    path = act.path(key).replace(key.owner.pk, other.pk)
    assert staff.client.get(path).status_code == 404
