"""The pages of one app and of one person: what they show, to whom, at what cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.utils import timezone

from accounts import audit
from accounts.models import AccountDeletion, User
from tests.admin.test_pages import access_token, refresh_token
from tests.dashboard.staff.pages import APPS, PEOPLE, QUEUE, app_page, cost_of, person_page
from tests.factories.accounts import AliasFactory, ApiKeyFactory, LinkedAccountFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory, DeniedRequestFactory, PermissionRequestFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory, SuspendedApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]


def facts(browser: Browser) -> dict[str, str]:
    """The terms and descriptions of the page."""
    terms, texts = browser.page.xpath("//dl/dt"), browser.page.xpath("//dl/dd")
    words = [[" ".join(element.text_content().split()) for element in found] for found in (terms, texts)]
    return dict(zip(*words, strict=True))


def test_an_app_is_shown_with_its_owner_its_urls_and_its_tokens(staff: Browser) -> None:
    app = SuspendedApplicationFactory(
        name="Notes <b>",
        user=UserFactory(username="Ada"),
        registered_scopes=["openid", "email"],
        redirect_urls=["https://one.example/", "https://two.example/"],
        homepage_url="https://notes.example/",
    )
    ApprovalFactory(application=app)
    for token in (access_token(), refresh_token()):
        token.application = app
        token.save()
    text = staff.open(app_page(app)).text
    shown = facts(staff)
    assert shown["Client id"] == app.client_id
    assert shown["Owner"].startswith("Ada uid")
    assert shown["Users"] == "1 allowed it"
    assert shown["Active tokens"] == "1 access token, 1 refresh token"
    assert (shown["Website"], shown["Privacy"]) == ("https://notes.example/", "Not provided")
    for words in ("https://one.example/", "https://two.example/", "openid: Sign in", "email: Email address"):
        assert words in text
    assert "Suspended on" in text
    assert "It broke the rules." in text
    assert app.client_secret not in staff.response.content.decode()
    assert problems_of(staff.response) == []


def test_a_person_is_shown_with_everything_staff_need(staff: Browser) -> None:
    ada = UserFactory(
        username="Ada", display_name="Ada <b>", email="ada@example.org", plan="PREMIUM", unlocked_scopes=["connections"]
    )
    AliasFactory(user=ada, name="Countess")
    LinkedAccountFactory(user=ada, external_id="80351110224678912", name="chatter")
    ApplicationFactory(user=ada, name="Notes", registered_scopes=["openid"])
    ApiKeyFactory(owner=ada, prefix="ik_one", revoked_at=timezone.now())
    ApiKeyFactory(owner=ada, prefix="ik_two", is_enabled=False)
    DeniedRequestFactory(user=ada)
    waiting = AccessRequestFactory(user=ada, reason="Receipts")
    text = staff.open(person_page(ada)).text
    assert {
        "uid": str(ada.uid),
        "Id": ada.pk,
        "Display name": "Ada <b>",
        "Aliases": "Countess",
        "Email": "ada@example.org",
        "Linked accounts": "Chat platform: chatter (80351110224678912)",
        "Plan": "Premium",
        "Last sign-in": "Never",
    }.items() <= facts(staff).items()
    for words in (
        "email Email address Locked Unlock",
        "connections Connected accounts Unlocked Lock again",
        "ik_one A key Revoked",
        "ik_two A key Disabled",
        "Notes openid",
        "email Waits for staff Receipts Grant Deny",
        "email Denied To send receipts. Answer: Tell us who you are first.",
    ):
        assert words in text, words
    assert f"/dashboard/staff/requests/{waiting.pk}/grant/" in staff.response.content.decode()
    assert problems_of(staff.response) == []


def test_the_page_of_a_person_says_when_the_account_will_be_deleted(staff: Browser) -> None:
    ada, ben = UserFactory(), UserFactory(is_active=False, banned_at=timezone.now())
    day = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for person in (ada, ben):
        AccountDeletion.objects.create(user=person, asked_at=day - timedelta(days=7), due_at=day)
    for person, words in ((ada, ""), (ben, ", but not while banned")):
        staff.open(person_page(person))
        assert facts(staff)["To be deleted"] == f"1 March 2026, 12:00 UTC{words}"
    assert "To be deleted" not in facts(staff.open(person_page(UserFactory())))


def test_what_happened_is_shown_with_its_reason(staff: Browser, superuser: User) -> None:
    app = ApplicationFactory()
    audit.record("application:suspended", by=superuser, on=app, reason="Because <i>")
    audit.record("user:scope_unlocked", by=superuser, on=app.user, reason="Known", scope="email")
    audit.record("user:changed", by=None, on=app.user)
    assert f"Application suspended {superuser} Staff Because <i>" in staff.open(app_page(app)).text
    assert f"User scope unlocked email {superuser} Staff Known" in staff.open(person_page(app.user)).text
    assert "User changed The system" in staff.text


def test_a_page_costs_the_same_for_one_row_of_each_kind_and_for_ten(staff: Browser) -> None:
    ada = UserFactory()
    app = ApplicationFactory(user=ada)

    def add() -> None:
        ApplicationFactory(user=ada)
        ApiKeyFactory(owner=ada)
        AliasFactory(user=ada)
        PermissionRequestFactory(user=ada)
        DeniedRequestFactory(user=ada)
        ApprovalFactory(application=app)
        audit.record("user:changed", by=ada, on=ada)
        audit.record("application:registered", by=ada, on=app)

    add()
    pages = (person_page(ada), app_page(app))
    before = [(cost_of(staff, page), cost_of(staff, page))[1] for page in pages]
    for _ in range(9):
        add()
    assert [cost_of(staff, page) for page in pages] == before


def test_links_lead_only_where_the_reader_may_go(sign_in: SignIn) -> None:
    app = ApplicationFactory()
    apps_only, people_only = sign_in("oidc_provider.verify_application"), sign_in("accounts.change_apikey")
    for path in (APPS, app_page(app)):
        shown = apps_only.open(path)
        assert shown.response.status_code == 200
        assert PEOPLE not in shown.response.content.decode()
        assert f"/admin/oidc_provider/application/{app.pk}/" not in shown.response.content.decode()
        assert people_only.client.get(path).status_code == 403
    for path in (PEOPLE, person_page(app.user)):
        shown = people_only.open(path)
        assert shown.response.status_code == 200
        assert APPS not in shown.response.content.decode()
        assert f"/admin/accounts/user/{app.user.pk}/" not in shown.response.content.decode()
        assert apps_only.client.get(path).status_code == 403


def test_staff_see_whose_account_only_a_superuser_may_touch(sign_in: SignIn) -> None:
    page = person_page(UserFactory(is_staff=True))
    notice = "only a superuser can ban it"
    assert notice in sign_in("accounts.ban_user").open(page).text
    assert notice not in sign_in(superuser=True).open(page).text
    assert notice not in sign_in("accounts.ban_user").open(person_page(UserFactory())).text


def test_staff_without_a_second_factor_see_a_notice(staff: Browser, superuser: User) -> None:
    warning = "Your account has no second factor"
    for path in (QUEUE, APPS, PEOPLE):
        assert warning in staff.open(path).text
        assert problems_of(staff.response) == []
    Authenticator.objects.create(user=superuser, type=Authenticator.Type.TOTP, data={})
    assert warning not in staff.open(QUEUE).text
