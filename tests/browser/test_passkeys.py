"""An account with a passkey and no password in Chromium, whose authenticator is in software."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.browser.axe import problems_of
from tests.browser.people import PATIENCE, Site, at_a_browser
from tests.browser.test_consent import APP
from tests.journeys import people, post_office
from tests.journeys.people import Person
from tests.journeys.post_office import LogPostOffice

pytestmark = pytest.mark.live

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.fixture
def local(site: Site) -> Site:
    """The service under a name: browsers know no passkeys of an IP address."""
    base_url = f"http://localhost:{urlsplit(site.base_url).port}"
    return dataclasses.replace(site, server=dataclasses.replace(site.server, base_url=base_url))


def _with_authenticator(page: Page) -> tuple[CDPSession, str]:
    """Add an authenticator to the page. The session and the authenticator's id."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    added = session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return session, added["authenticatorId"]


def _sign_up(page: Page, site: Site, person: Person) -> None:
    """From the page of sign-up to the last step; every page is looked at."""
    page.get_by_role("link", name="Sign up with a passkey").click()
    assert problems_of(page) == []
    page.locator("input[name=email]").fill(person.email)
    page.locator("input[name=username]").fill(person.username)
    page.get_by_role("button", name="Continue", exact=True).click()
    page.locator("input[name=code]").fill(post_office.code_for(LogPostOffice(site.server.log), person.email))
    page.get_by_role("button", name="Confirm", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^Create your passkey"))).to_be_visible()


def _authorize_path(site: Site) -> str:
    query = {
        "client_id": site.demo["app"]["client_id"],
        "redirect_uri": f"{APP}/callback",
        "response_type": "code",
        "scope": "openid",
        "state": "a state",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    return f"/api/auth/oauth2/authorize?{urlencode(query)}"


def _allows(page: Page) -> None:
    allow = page.get_by_role("button", name="Allow")
    expect(allow).not_to_have_attribute("aria-disabled", "true")
    with page.expect_request(f"{APP}/callback?*") as request:
        allow.click()
    assert "code=" in request.value.url
    expect(page).not_to_have_url(re.compile("localhost"))  # the app does not answer


def _sign_out(page: Page) -> None:
    page.context.clear_cookies(name="sessionid")


def _gets_in_again(page: Page, site: Site, person: Person) -> None:
    """Choose a password by the mailed link, and sign in with it."""
    _sign_out(page)
    page.goto("/accounts/password/reset/")
    page.locator("input[name=email]").fill(person.email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading")).to_be_visible()
    mail = next(text for text in reversed(LogPostOffice(site.server.log).letters()) if "/reset/key/" in text)
    page.goto(urlsplit(re.findall(r"\S+/password/reset/key/\S+", mail)[0]).path)
    expect(page.get_by_text("its passkeys count as lost")).to_be_visible()
    for name in ("password1", "password2"):
        page.locator(f"input[name={name}]").fill(person.password)
    page.get_by_role("button", name="Change password").click()
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(person.username)
    page.locator("input[name=password]").fill(person.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/dashboard/")


def test_a_person_lives_without_a_password(chrome: Browser, local: Site, tmp_path: Path) -> None:
    """Signs up for an app, signs in, exports, loses the passkey, gets in again, and deletes the account."""
    person = people.stranger()
    with contextlib.closing(
        chrome.new_context(base_url=local.base_url, reduced_motion="reduce")
    ) as context:  # it asks the app's host, too
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        session, authenticator = _with_authenticator(page)
        page.goto(_authorize_path(local))
        page.get_by_role("link", name="Create an account").click()
        _sign_up(page, local, person)
        assert problems_of(page) == []
        page.get_by_role("button", name="Create the passkey").click()
        _allows(page)

        _sign_out(page)
        page.goto("/accounts/login/")
        page.wait_for_url("**/dashboard/")  # the authenticator answers the offer in the name field at once
        page.goto("/dashboard/account/data/")
        with page.expect_download() as download:
            page.get_by_role("link", name="Download your data").click()
        download.value.save_as(tmp_path / "copy.json")
        copy = json.loads((tmp_path / "copy.json").read_text())
        assert [row["type"] for row in copy["second_factors"]] == ["webauthn"]
        assert all(row["name"] for row in copy["second_factors"])

        session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": authenticator})
        _gets_in_again(page, local, person)

        page.goto("/dashboard/account/delete/")
        page.get_by_label("Type your username").fill(person.username)
        page.get_by_role("button", name="Delete my account").click()
        expect(page.get_by_role("button", name="Keep my account")).to_be_visible()


def test_the_passkey_confirms_who_it_is_and_a_refusal_is_said(chrome: Browser, local: Site) -> None:
    with at_a_browser(chrome, local) as page:
        session, authenticator = _with_authenticator(page)
        page.goto("/accounts/signup/")
        _sign_up(page, local, people.stranger())
        session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
        page.get_by_role("button", name="Create the passkey").click()
        expect(page.get_by_role("alert").filter(has_text="The request was canceled or timed out")).to_be_visible()
        session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": True})
        page.get_by_role("button", name="Create the passkey").click()
        page.wait_for_url("**/dashboard/")
        page.goto("/accounts/2fa/webauthn/reauthenticate/?next=/accounts/email/")
        assert problems_of(page) == []
        page.get_by_role("button", name="Use your passkey or security key").click()
        page.wait_for_url("**/accounts/email/")


def test_without_scripts_the_page_leads_to_a_password(chrome: Browser, local: Site) -> None:
    with at_a_browser(chrome, local, scripts=False) as page:
        page.goto("/accounts/signup/passkey/?next=/accounts/email/")
        assert "Passkeys need JavaScript. Without it, sign up with a password." in page.content()
        page.get_by_role("link", name="Sign up with a password").click()
        assert parse_qs(urlsplit(page.url).query) == {"next": ["/accounts/email/"]}
        expect(page.locator("input[name=password1]")).to_be_visible()
