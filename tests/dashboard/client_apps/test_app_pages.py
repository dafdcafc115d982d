"""The pages of an app: whose they are, what they show, what they cost."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from accounts import audit
from accounts.http import SignedInRequest
from accounts.models import AuditEvent, User
from dashboard import access, versions
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from oidc_provider.applications import applications, staging
from oidc_provider.models import AccessToken, Application, Role
from tests.admin.test_pages import access_token
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

PAGES = ["", "settings/", "redirects/", "activity/", "reset-secret/", "add-secret/", "create-staging/"]
PAGES += ["revoke-tokens/", "delete/"]
POSTED = ["settings/", "preview/", "redirects/", "reset-secret/", "add-secret/", "secrets/1/remove/", "revoke-tokens/"]
POSTED += ["create-staging/", "copy-settings/", "delete/"]


def test_every_page_is_sound_and_changes_nothing_by_being_read(browser: Browser, app: Application) -> None:
    before = Application.objects.values().get()
    for page in PAGES:
        browser.open(f"/dashboard/apps/{app.client_id}/{page}")
        assert browser.response.status_code == 200
        assert problems_of(browser.response) == []
        assert "no-store" in browser.response.headers["Cache-Control"]
    assert Application.objects.values().get() == before
    assert not AuditEvent.objects.filter(verb__startswith="application:").exists()


def test_a_name_with_markup_is_text_on_every_page(browser: Browser, app: Application, user: User) -> None:
    applications.change_details(application=app, by=user, name="<script>alert(1)</script>")
    for page in PAGES:
        assert "<script>alert" not in browser.open(f"/dashboard/apps/{app.client_id}/{page}").response.content.decode()


def test_an_app_of_another_user_does_not_exist(user: User) -> None:
    foreign = ApplicationFactory.create(name="Theirs")
    before = Application.objects.values().get()
    client = client_of(browser_of(user))
    data = {"typed_name": "Theirs", "name": "Mine", "url": "x"}
    for page in PAGES:
        assert client.get(f"/dashboard/apps/{foreign.client_id}/{page}").status_code == 404, page
    for page in POSTED:
        assert client.post(f"/dashboard/apps/{foreign.client_id}/{page}", data).status_code == 404, page
    assert Application.objects.values().get() == before


def test_what_is_posted_alone_is_not_read(browser: Browser) -> None:
    for path in ("/dashboard/apps/preview/", "/dashboard/apps/check-redirects/"):
        assert browser.open(path).response.status_code == 405


@pytest.mark.parametrize(("number", "is_full"), [(49, False), (50, True)])
def test_the_list_offers_a_new_app_while_there_is_a_place_left(
    browser: Browser, user: User, number: int, is_full: bool
) -> None:
    Application.objects.bulk_create(ApplicationFactory.build_batch(number, user=user))
    page = browser.open("/dashboard/apps/").page
    assert (page.xpath("//main//a[@href='/dashboard/apps/new/']") == []) is is_full


def test_the_list_shows_ones_own_apps_and_how_they_stand(browser: Browser, app: Application, user: User) -> None:
    ApprovalFactory.create_batch(2, application=app)
    applications.verify(application=app, by=None)
    closed = ApplicationFactory.create(user=user, name="Closed")
    applications.suspend(application=closed, by=None, reason="")
    ApplicationFactory.create(name="Foreign")
    browser.open("/dashboard/apps/")
    assert problems_of(browser.response) == []
    rows = [" ".join(row.text_content().split()) for row in browser.page.xpath("//li[@class='row']")]
    assert len(rows) == 2
    assert "Closed Suspended 0 people use it Never used" in rows[0]
    assert "Ada's app Active Verified 2 people use it Never used" in rows[1]


def test_a_staging_app_stands_below_its_live_app(browser: Browser, app: Application, user: User) -> None:
    ApplicationFactory.create(user=user, name="Newer")
    staging.create(application=app, by=user)
    browser.open("/dashboard/apps/")
    rows = browser.page.xpath("//li[contains(@class, 'row')]")
    assert [(row.get("class"), row.xpath(".//a")[0].text_content()) for row in rows] == [
        ("row", "Newer"),
        ("row", app.name),
        ("row row--part", app.name),
    ]


@pytest.mark.embedded
def test_the_list_costs_the_same_for_one_app_and_for_ten(browser: Browser, app: Application, user: User) -> None:
    browser.open("/dashboard/apps/")  # the first page of a browser reads more of its session
    one = statements.names(lambda: browser.open("/dashboard/apps/"))
    for made in ApplicationFactory.create_batch(9, user=user):
        ApprovalFactory.create(application=made)
    ten = statements.names(lambda: browser.open("/dashboard/apps/"))
    assert len(browser.page.xpath("//li[@class='row']")) == 10
    assert ten == one


def test_a_suspension_stands_on_every_page_with_its_reason_and_the_contact(
    browser: Browser, app: Application, settings: Settings
) -> None:
    settings.SUPPORT_EMAIL = "help@hearth.example"
    applications.suspend(application=app, by=None, reason="It asked for <b>passwords</b>.")
    for page in PAGES:
        browser.open(f"/dashboard/apps/{app.client_id}/{page}")
        assert "Suspended since" in browser.text
        assert "Reason: It asked for <b>passwords</b>." in browser.text
        assert browser.page.xpath("//div[contains(@class, 'notice')]//a/@href")[0] == "mailto:help@hearth.example"
        assert problems_of(browser.response) == []


def test_the_trail_tells_who_did_what_and_why(browser: Browser, app: Application, user: User) -> None:
    staff = StaffFactory.create(username="Keeper")
    applications.change_details(application=app, by=user, name="New name")
    applications.change_scopes(application=app, by=user, scopes=["openid", "offline_access"])
    applications.suspend(application=app, by=staff, reason="It broke the rules.")
    applications.restore(application=app, by=None)
    browser.open(f"/dashboard/apps/{app.client_id}/activity/")
    rows = [" ".join(row.text_content().split()) for row in browser.page.xpath("//li[@class='row']")]
    assert rows[0].startswith("Restored")
    assert "by the system" in rows[0]
    assert rows[1].startswith("Suspended")
    assert "by the staff of Hearth" in rows[1]
    assert "Reason: It broke the rules." in rows[1]
    assert "Keeper" not in browser.text
    assert rows[2].endswith("Scopes removed identify added offline_access")
    assert rows[3].endswith("Name Ada's app became New name")
    assert "by you" in rows[3]


def test_addresses_are_shown_for_ones_own_acts_alone(browser: Browser, app: Application, user: User) -> None:
    for actor, address in ((user, "192.0.2.1"), (StaffFactory.create(), "192.0.2.2")):
        token = request_context.current.set(RequestContext(address=address))
        applications.verify(application=app, by=actor)
        applications.unverify(application=app, by=actor)
        request_context.current.reset(token)
    browser.open(f"/dashboard/apps/{app.client_id}/activity/")
    assert "192.0.2.1" in browser.text
    assert "192.0.2.2" not in browser.text


def test_what_users_did_with_their_own_account_is_not_in_the_trail(browser: Browser, app: Application) -> None:
    somebody = UserFactory.create(username="Somebody")
    audit.record("approval:withdrawn", by=somebody, on=app, user_id=somebody.pk)
    browser.open(f"/dashboard/apps/{app.client_id}/activity/")
    assert "Somebody" not in browser.text
    assert not browser.page.xpath("//li[@class='row']")


def test_the_trail_has_pages_of_25_and_costs_the_same(browser: Browser, app: Application, user: User) -> None:
    path = f"/dashboard/apps/{app.client_id}/activity/"
    applications.verify(application=app, by=user)
    one = statements.names(lambda: browser.open(path))
    kind = "oidc_provider.application"
    AuditEvent.objects.bulk_create(
        AuditEvent(verb="application:unverified", actor_kind="USER", object_type=kind, object_id=str(app.pk))
        for _ in range(30)
    )
    many = statements.names(lambda: browser.open(path))
    assert len(browser.page.xpath("//li[@class='row']")) == 25
    assert many == one
    assert len(browser.open(f"{path}?page=2").page.xpath("//li[@class='row']")) == 6


def test_all_tokens_are_revoked(browser: Browser, app: Application, user: User) -> None:
    token = access_token()
    token.application = app
    token.save()
    path = f"/dashboard/apps/{app.client_id}/revoke-tokens/"
    csrf = browser.open(path).page.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    browser.response = browser.client.post(path, {"csrfmiddlewaretoken": csrf}, follow=True)
    assert "All tokens of the app revoked." in browser.text
    assert not AccessToken.objects.exists()
    assert AuditEvent.objects.get(verb="application:tokens_revoked").actor == user


def test_an_app_is_deleted_by_its_name(browser: Browser, app: Application, user: User) -> None:
    browser.open(f"/dashboard/apps/{app.client_id}/delete/").submit(typed_name="Another app")
    assert browser.errors() == ["This is not the app's name. Type Ada's app."]
    assert Application.objects.filter(pk=app.pk).exists()
    applications.change_details(application=app, by=user, name="Two  gaps\u00a0here")
    browser.submit(typed_name="Two gaps here")  # as a page shows it
    assert browser.response.request["PATH_INFO"] == "/dashboard/apps/"
    assert not Application.objects.exists()
    assert AuditEvent.objects.get(verb="application:deleted").actor == user


@pytest.mark.parametrize("page", ["delete/", "reset-secret/", "add-secret/", "secrets/1/remove/", "create-staging/"])
def test_an_app_that_goes_while_the_page_is_served_is_404(
    browser: Browser, app: Application, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    """Another tab deletes it after it was found, and before it is locked."""
    find = access.application_of

    def find_and_lose(request: SignedInRequest, client_id: str, role: Role) -> Application:
        found = find(request, client_id, role)
        applications.delete(application=found, by=None)
        return found

    token = browser.open("/dashboard/apps/new/").form("ticket").fields["csrfmiddlewaretoken"]
    data = {"csrfmiddlewaretoken": token, "typed_name": "Ada's app", "version": versions.of(app.secret_changed_at)}
    monkeypatch.setattr(access, "application_of", find_and_lose)
    assert browser.client.post(f"/dashboard/apps/{app.client_id}/{page}", data).status_code == 404
