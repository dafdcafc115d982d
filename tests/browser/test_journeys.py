"""The main tasks of users, each from its first page to its end, with and without scripts."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from tests.browser import people
from tests.browser.axe import problems_of
from tests.browser.people import OPERATOR, USER, Site, at_a_browser
from tests.journeys.browser import TIMEOUT

pytestmark = pytest.mark.live

scripts_or_not = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
PICTURE = Path(__file__).parents[2] / "docs" / "screenshots" / "consent.png"
PLAN = "To show our members their own badges on our home page; a few calls a minute."
_DROP = """([name, type, text]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name, { type }));
    return transfer;
}"""


@scripts_or_not
def test_an_owner_registers_an_app_tries_it_resets_its_secret_and_disconnects_it(
    chrome: Browser, site: Site, scripts: bool
) -> None:
    name = f"Wren {'with' if scripts else 'without'} scripts"
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_up(page, site)
        page.goto("/dashboard/apps/new/")
        page.get_by_label("Name", exact=True).fill(name)
        page.locator("input[name^=redirect_url]").first.fill("https://app.example.org/callback")
        page.get_by_role("button", name="Register the app").click()
        first = page.locator("#copy-client-secret").inner_text()
        assert len(first) >= 40
        expect(page.locator("#copy-client-secret")).to_be_focused()
        _go_on_after_secret(page)
        _try(page)
        assert first not in page.content()

        page.goto("/dashboard/apps/")
        page.get_by_role("link", name=name).click()
        page.get_by_role("link", name="Reset the secret").click()
        page.get_by_label("Type the app's name").fill(name)
        page.get_by_role("button", name="Reset the secret").click()
        assert page.locator("#copy-client-secret").inner_text() != first

        page.goto("/accounts/connected-apps/")
        page.get_by_role("button", name=f"Disconnect {name}").click()
        expect(page.get_by_text(f"{name} is disconnected.")).to_be_visible()
        expect(page.get_by_text("No app is connected yet")).to_be_visible()


def _go_on_after_secret(page: Page) -> None:
    """Through the first of the next steps."""
    onward = page.locator("main").get_by_role("list", name="Next:").get_by_role("link", name="Try it")
    if page.get_by_label("I saved it").is_visible():
        expect(onward).to_have_attribute("aria-disabled", "true")
        page.get_by_label("I saved it").check()
    onward.click()


def _try(page: Page) -> None:
    """The whole login test on the page Try it, with consent."""
    page.get_by_role("button", name="Add it to the redirect URLs").click()
    page.get_by_role("button", name="Start the sign-in").click()
    allow = page.get_by_role("button", name="Allow")
    allow.focus()
    expect(allow).to_be_enabled()
    page.wait_for_timeout(600)  # the button is dead for half a second after it got the focus
    allow.click()
    expect(page.get_by_text("Every step succeeded.")).to_be_visible()
    expect(page.get_by_text("EdDSA").first).to_be_visible()


@scripts_or_not
def test_a_key_is_asked_for_granted_by_staff_and_used(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        person = people.sign_up(page, site)
        page.goto("/dashboard/api-keys/new/")
        page.get_by_label("Name", exact=True).fill("Badge wall")
        page.locator("input[value='lookup:user']").check()
        page.get_by_label("What do you need it for?").fill(PLAN)
        page.locator("input[name=ends][value='30']").check()
        page.get_by_role("button", name="Create the key").click()
        secret = page.locator("#copy-secret").inner_text()
    assert _lookup(site, secret, person.username).status_code == 401
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(OPERATOR))
        page.goto("/dashboard/staff/requests/")
        page.get_by_role("link", name=f"Grant lookup:user for {person.username}").click()
        page.locator("textarea[name=reason]").fill("A sound plan.")
        page.get_by_role("button", name="Grant").click()
        expect(page.get_by_role("status").get_by_text(person.username)).to_be_visible()
    answer = _lookup(site, secret, person.username)
    assert answer.status_code == 200
    assert answer.json()["user"]["username"] == person.username


def _lookup(site: Site, secret: str, username: str, **includes: str) -> requests.Response:
    return requests.get(
        f"{site.base_url}/api/lookup/user",
        params={"type": "username", "value": username, **includes},
        headers={"X-API-Key": secret},
        timeout=TIMEOUT,
    )


@scripts_or_not
def test_a_rule_sends_an_upload_into_its_folder(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_up(page, site)
        page.goto("/dashboard/imagehost/folders/")
        page.get_by_label("Name", exact=True).fill("Pictures")
        page.get_by_role("button", name="Create the folder").click()
        page.goto("/dashboard/imagehost/rules/")
        page.get_by_label("Matches").fill("png")
        page.get_by_role("button", name="Add the rule").click()
        page.goto("/dashboard/imagehost/")
        if scripts:
            data = base64.b64encode(PICTURE.read_bytes()).decode()
            transfer = page.evaluate_handle(_DROP, ["Consent page.png", "image/png", data])
            page.dispatch_event("[data-upload-zone]", "drop", {"dataTransfer": transfer})
            expect(page.locator("[data-upload-list]").get_by_text("Pictures")).to_be_visible()
        else:
            page.locator("input[type=file]").set_input_files(
                {"name": "Consent page.png", "mimeType": "image/png", "buffer": PICTURE.read_bytes()}
            )
            page.get_by_role("button", name="Upload", exact=True).click()
        page.goto("/dashboard/imagehost/folders/")
        page.get_by_role("link", name="Pictures").first.click()
        expect(page.get_by_text("Consent page.png").first).to_be_visible()


@scripts_or_not
def test_what_the_profile_editor_saves_is_what_the_lookup_tells(chrome: Browser, site: Site, scripts: bool) -> None:
    location = f"Oslo {'with' if scripts else 'without'} scripts"
    title = f"Garden {'with' if scripts else 'without'} scripts"
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(USER))
        page.goto("/dashboard/profile/")
        page.get_by_label("Location").fill(location)
        page.get_by_role("button", name="Save", exact=False).first.click()
        page.goto("/dashboard/profile/links/add/")
        page.get_by_label("Title").fill(title)
        page.get_by_label("Address").fill("https://garden.example/")
        page.get_by_role("button", name="Add", exact=False).first.click()
        expect(page.get_by_text(title).first).to_be_visible()
    key = next(key["key"] for key in site.demo["api_keys"] if "lookup:user" in key["permissions"])
    found = _lookup(site, key, site.account(USER)["username"], profile="true", links="true").json()
    assert found["profile"]["location"] == location
    assert title in [link["title"] for link in found["links"]]


@scripts_or_not
def test_a_suspended_app_signs_no_user_in_until_staff_restore_it(chrome: Browser, site: Site, scripts: bool) -> None:
    app = site.demo["app"]
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(OPERATOR))
        for act, error in (("Suspend", "client_disabled"), ("Restore", None)):
            page.goto(f"/dashboard/staff/apps/{app['client_id']}/")
            page.get_by_role("link", name=act).first.click()
            page.locator("textarea[name=reason]").fill("It was reported.")
            page.get_by_role("button", name=act).click()
            expect(page.get_by_role("link", name="Restore" if act == "Suspend" else "Suspend").first).to_be_visible()
            assert _authorization_error(site) == error


def _authorization_error(site: Site) -> str | None:
    """Return the text of the error page of the app's request, or None if it leads to login."""
    app = site.demo["app"]
    query = urlencode(
        {
            "client_id": app["client_id"],
            "redirect_uri": app["redirect_uris"][0],
            "response_type": "code",
            "scope": "openid",
            "state": "a-state",
            "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "code_challenge_method": "S256",
        }
    )
    url = f"{site.base_url}/api/auth/oauth2/authorize?{query}"
    answer = requests.get(url, headers={"Accept": "application/json"}, allow_redirects=False, timeout=TIMEOUT)
    if answer.status_code == 302:
        assert re.search("/accounts/login/", answer.headers["Location"])
        return None
    error: str = json.loads(answer.content)["error"]
    return error


@scripts_or_not
def test_staff_decide_reports_one_after_the_other_by_keyboard(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        bad = [people.sign_up(page, site).username]
    with at_a_browser(chrome, site, scripts=scripts) as page:
        bad.append(people.sign_up(page, site).username)
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(USER))
        for name in bad:
            page.goto(f"/{name}")
            page.get_by_role("link", name="Report this profile").click()
            page.locator("input[name=reason][value=SPAM]").check()
            page.get_by_role("button", name="Send report").click()
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(OPERATOR))
        page.goto("/dashboard/staff/reports/")
        first = page.get_by_role("link", name=f"Profile of {bad[0]}")
        if scripts:
            while not first.evaluate("(link) => link === document.activeElement"):
                page.keyboard.press("n")
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", level=1, name=bad[0])).to_be_visible()
            page.keyboard.press("3")
        else:
            first.click()
            page.get_by_role("link", name="Hide the profile").click()
        page.locator("textarea[name=reason]").fill("It is advertising. 1 2 n")  # typed, not pressed
        page.get_by_role("button", name="Hide the profile").click()
        expect(page.get_by_role("heading", level=1, name=bad[1])).to_be_visible()
        if scripts:
            assert problems_of(page) == []
    assert requests.get(f"{site.base_url}/{bad[0]}", timeout=TIMEOUT).status_code == 404
    assert requests.get(f"{site.base_url}/{bad[1]}", timeout=TIMEOUT).status_code == 200
