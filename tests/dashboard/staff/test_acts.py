"""Every act of staff: its page, its right, its reason, its trace, and what it says of what is so already."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError

from accounts.models import AuditEvent, User
from accounts.staff_actions import USER_ACTIONS
from dashboard.staff import actions as staff_actions
from dashboard.staff.forms import ReasonForm
from oidc_provider.models import Application
from oidc_provider.staff_actions import APPLICATION_ACTIONS
from tests.dashboard.signing_in import client_of
from tests.dashboard.staff.pages import ACTS, FOR_SUPERUSERS, Act, named, person_page
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
every_act = pytest.mark.parametrize("act", ACTS, ids=named)
SignIn = Callable[..., Browser]
SAID = {  # of an act on each kind of object: when it is done, and when it is so already
    "suspend": ("Notes is suspended.", "This app is suspended already."),
    "ban": ("Ada is banned.", "This account is banned already."),
    "grant-permission": ("The key ik_one has lookup:user.", "This key has lookup:user already."),
    "deny-request": ("lookup:user for Ada: denied.", "This request is decided or withdrawn already."),
}


def sent(browser: Browser, path: str, reason: str = "Because") -> str:
    """What the page says to which the form with the reason leads."""
    browser.response = client_of(browser).post(path, {"reason": reason}, follow=True)
    return browser.text


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

    if act.name != "grant-request":  # which needs no reason
        has_presets = "preset" in staff.response.context["form"].fields
        needs = "Choose a reason, or write one." if has_presets else "This field is required."
        assert staff.submit(reason="  ").errors() == [needs]
    assert not AuditEvent.objects.exists()
    staff.submit(reason="Because <b>")
    assert staff.response.redirect_chain == [(act.page(subject), 302)]
    event = AuditEvent.objects.get(verb=act.verb)
    assert (event.actor, event.actor_kind, event.reason) == (superuser, "STAFF", "Because <b>")
    assert "Because <b>" not in staff.response.content.decode()


@every_act
def test_an_act_needs_its_right(sign_in: SignIn, act: Act) -> None:
    subject = act.make()
    path = act.path(subject)
    without = sign_in(*({other.permission for other in ACTS} - {act.permission}))
    outsider = sign_in(act.permission, is_staff=False)
    for browser in (without, outsider):
        client = client_of(browser)
        assert client.get(path).status_code == 403
        assert client.post(path, {"reason": "Because"}).status_code == 403
    if not act.name.endswith("-request"):  # the queue is closed to staff who may not answer
        assert f'href="{path}"' not in without.open(act.page(subject)).response.content.decode()
    assert not AuditEvent.objects.exists()
    sent(sign_in(act.permission), path)
    assert AuditEvent.objects.filter(verb=act.verb).exists()


@pytest.mark.parametrize("act", [act for act in ACTS if act.name != "warn"], ids=named)
def test_an_act_that_is_done_already_says_so(staff: Browser, act: Act) -> None:
    subject = act.make()
    path = act.path(subject)
    first, second = sent(staff, path, "The first"), sent(staff, path, "The second")
    done, again = SAID.get(act.name, ("", ""))
    assert done in first
    assert again in second
    assert list(AuditEvent.objects.filter(verb=act.verb).values_list("reason", flat=True)) == ["The first"]


@pytest.mark.parametrize("act", ["suspend", "verify"])
def test_an_act_looks_again_at_the_locked_row(superuser: User, act: str) -> None:
    chosen, stale = next(action for action in APPLICATION_ACTIONS if action.name == act), ApplicationFactory()
    staff_actions.perform(chosen, Application.objects.get(), by=superuser, reason="The first")
    with pytest.raises(ValidationError) as refusal:
        staff_actions.perform(chosen, stale, by=superuser, reason="The second")
    assert refusal.value.messages == [chosen.refusal(Application.objects.get())]
    Application.objects.all().delete()
    with pytest.raises(ValidationError, match=r"It was deleted in the meantime\."):
        staff_actions.perform(chosen, stale, by=superuser, reason="The third")


@pytest.mark.parametrize(
    ("preset", "text", "reason"),
    [(0, "", "{}"), (1, "See the log.", "{} See the log."), (None, "My own.", "My own.")],
)
def test_a_reason_is_a_preset_or_free_text_or_both(preset: int | None, text: str, reason: str, staff: Browser) -> None:
    app = ApplicationFactory.create()
    (page,) = (action.page for action in APPLICATION_ACTIONS if action.name == "suspend")
    assert page is not None
    chosen = "" if preset is None else page.presets[preset]
    staff.open(f"/dashboard/staff/apps/{app.client_id}/suspend/")
    staff.submit(reason=text, **({"preset": chosen} if chosen else {}))
    app.refresh_from_db()
    assert app.suspension_reason == reason.format(chosen)


def test_a_reason_is_no_other_preset_and_has_2000_characters_with_one_too() -> None:
    presets = ("Spam.",)
    assert ReasonForm({"preset": "Ham.", "reason": "x"}, hint="", presets=presets).errors == {
        "preset": ["Select a valid choice. Ham. is not one of the available choices."]
    }
    assert "reason" in ReasonForm({"preset": "Spam.", "reason": "x" * 1995}, hint="", presets=presets).errors
    assert ReasonForm({"preset": "Spam.", "reason": "x" * 1994}, hint="", presets=presets).is_valid()
    assert ReasonForm({}, hint="", is_required=False, presets=presets).is_valid()
    assert ReasonForm({"reason": "x" * 2000}, hint="").is_valid()
    assert not ReasonForm({"reason": "x" * 2001}, hint="").is_valid()


@pytest.mark.parametrize("act", FOR_SUPERUSERS, ids=named)
def test_accounts_of_staff_are_for_superusers_alone(staff: Browser, sign_in: SignIn, act: Act) -> None:
    subject = act.make(is_staff=True)
    path = act.path(subject)
    helper = sign_in(act.permission, "accounts.view_user")
    for page in {act.page(subject), person_page(act.owner(subject))}:
        assert f'href="{path}"' not in helper.open(page).response.content.decode()
    refused = sent(helper, path)
    assert "Only a superuser may do this to a staff account." in refused
    assert not AuditEvent.objects.exists()
    assert f'href="{path}"' in staff.open(act.page(subject)).response.content.decode()
    sent(staff, path)
    assert AuditEvent.objects.filter(verb=act.verb).exists()


def test_a_ban_of_oneself_is_refused(staff: Browser, superuser: User) -> None:
    path = f"/dashboard/staff/people/{superuser.pk}/ban/"
    assert "You cannot ban yourself." in sent(staff, path)
    superuser.refresh_from_db()
    assert not superuser.is_banned


def test_there_is_no_such_page_and_a_key_is_reached_through_its_owner_alone(staff: Browser) -> None:
    person = f"/dashboard/staff/people/{UserFactory().pk}"
    for path in (
        f"/dashboard/staff/requests/{'9' * 40}/grant/",
        "/dashboard/staff/apps/nobody/suspend/",
        "/dashboard/staff/people/nobody/",
        "/dashboard/staff/people/nobody/ban/",
        f"{person}/promote/",
        f"{person}/scopes/openid/unlock/",
        f"{person}/scopes/email/grant/",
        f"{person}/keys/ik_none/lookup:user/grant/",
        f"{person}/keys/ik_none/nonsense/grant/",
    ):
        assert staff.client.get(path).status_code == 404, path
    act = next(act for act in ACTS if act.name == "grant-permission")
    key, other = act.make(), UserFactory()
    path = act.path(key).replace(key.owner.pk, other.pk)
    assert staff.client.get(path).status_code == 404


def test_actions_that_only_the_admin_has_are_no_pages_of_a_person(staff: Browser) -> None:
    ada = UserFactory(username="Ada")
    assert [action.name for action in USER_ACTIONS] == ["warn", "ban", "lift_ban", "reset_password", "delete"]
    for act in ("unlock", "relock", "reset-second-factor"):
        assert staff.open(f"{person_page(ada)}{act}/").response.status_code == 404
