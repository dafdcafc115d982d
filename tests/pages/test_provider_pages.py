"""The sign-in provider's templates, with the contexts that its views promise."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from accounts.models import User
from dashboard.client_apps.error_guide import ERRORS, PAGE, ErrorGuide
from oidc_provider.models import Application
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import parsed, problems_of_text

SIGN_IN = SimpleNamespace(label="Sign in", description="Confirms that it is you.", is_new=False, values=[])
EMAIL = SimpleNamespace(
    label="Email address", description="Your email address.", is_new=True, values=[("email", "ada@example.org")]
)


@pytest.fixture
def application(db: None) -> Application:
    return ApplicationFactory.create(name="Tidepool <Notes>", privacy_url="https://app.example.org/privacy")


def consent(user: User, application: Application, **changes: Any) -> Any:
    """The parsed page; `changes`: values of the template's context."""
    context = {
        "application": application,
        "logo_url": "",
        "user_count": 1,
        "user": user,
        "permissions": [SIGN_IN, EMAIL],
        "has_approved_before": False,
        "destination_host": "app.example.org",
        "destination_is_device": False,
        "warns_locked": False,
        "pending_id": "the-id",
    }
    return rendered("oidc_provider/consent.html", context | changes)


def rendered(template: str, context: dict[str, Any]) -> Any:
    text = render_to_string(template, context, request=RequestFactory().get("/"))
    assert problems_of_text(text) == []
    return parsed(text)


def words_of(page: Any) -> str:
    return " ".join(page.text_content().split())


def test_consent_is_one_form_with_two_equal_buttons(user: User, application: Application) -> None:
    page = consent(user, application)

    (form,) = [form for form in page.forms if form.xpath(".//button[@name='decision']")]
    assert (form.method, form.get("action")) == ("POST", "")
    assert form.xpath(".//input/@name") == ["csrfmiddlewaretoken"]
    cancel, allow = form.xpath(".//button")
    assert (cancel.get("value"), cancel.text_content()) == ("cancel", "Cancel")
    assert (allow.get("value"), allow.text_content()) == ("allow", "Allow")
    assert cancel.get("class") == allow.get("class")
    assert page.xpath("//*[@autofocus]") == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"warns_locked": True}, "This app is not verified, and it asks for personal data."),
        ({}, "1 person uses it"),
        ({"user_count": 0}, "New app"),
        ({"user_count": 10_000}, "10000 people use it"),
        ({"user_count": 10_001}, "More than 10,000 people use it"),
    ],
)
def test_consent_says(user: User, application: Application, changes: dict[str, Any], sentence: str) -> None:
    assert sentence in words_of(consent(user, application, **changes))


def test_links_of_an_app_leave_no_trace(user: User, application: Application) -> None:
    page = consent(user, application)

    (link,) = page.xpath("//a[starts-with(@href, 'https://app.example.org')]")
    assert link.text_content() == "Privacy policy"
    assert link.get("rel") == "noopener noreferrer nofollow"
    assert page.xpath("//ul[@class='link-row']/li/a/text()") == ["Privacy policy"]
    assert "not provided" not in words_of(page)


@pytest.mark.parametrize("return_url", ["", "https://app.example.org/"])
def test_an_authorization_error_shows_its_code(return_url: str) -> None:
    context = {"title": "Too late", "message": "It took too long.", "code": "invalid_request"}
    page = rendered("oidc_provider/error.html", {**context, "return_url": return_url, "application_name": "Tidepool"})

    assert "Go back to Tidepool and start again" in words_of(page)
    assert "Error code: invalid_request" in words_of(page)
    links = page.xpath("//main//a/@href")
    assert links == [
        *([return_url] if return_url else []),
        "/docs/errors/redirect#invalid-request-authorize-by-redirect-to-the-app",
    ]


ON_A_PAGE = [row for row in ERRORS if row.where == PAGE]


@pytest.mark.parametrize("row", ON_A_PAGE, ids=[row.anchor for row in ON_A_PAGE])
def test_an_authorization_error_leads_the_developer_to_its_cause(client: Client, db: None, row: ErrorGuide) -> None:
    context = {"title": "No", "message": f"{row.said} and so on", "code": row.code, "application_name": ""}
    page = rendered("oidc_provider/error.html", {**context, "return_url": ""})
    (link,) = page.xpath("//main//a")
    assert link.text_content() == "Why this happens"
    path, _, anchor = link.get("href").partition("#")
    assert anchor == row.anchor
    assert parsed(client.get(path).content.decode()).get_element_by_id(anchor) is not None


def test_an_error_without_a_guide_has_no_link() -> None:
    context = {"title": "No", "message": "No.", "code": "teapot", "application_name": "", "return_url": ""}
    assert rendered("oidc_provider/error.html", context).xpath("//main//a") == []
