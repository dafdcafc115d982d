"""A sign-in in one tab makes the forms of others expire; an app that waits there is still reached."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.models import User
from oidc_provider.models import Grant
from tests.factories.accounts import PASSWORD, UserFactory
from tests.oidc_provider.protocol import AUTHORIZE, App, authorization_query
from tests.pages.markup import problems_of
from tests.support import second_factors
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db


def tab_of(first: Browser) -> Browser:
    """Another tab of the same browser."""
    tab = Browser()
    tab.client = first.client
    return tab


def waits(tab: Browser, app: App, **changes: Any) -> Browser:
    return tab.open(f"{AUTHORIZE}?{authorization_query(app.application, **changes)}")


def path_of(tab: Browser) -> str:
    return str(tab.response.request["PATH_INFO"])


def target_of(answer: Any) -> str:
    return str(answer.headers["Location"]).partition("?")[0]


def allow(tab: Browser) -> Browser:
    """Press Allow on the page that the tab shows."""
    [form] = [form for form in tab.page.forms if form.xpath(".//button[@value='allow']")]
    tab.response = tab.client.post(path_of(tab), {**dict(form.form_values()), "decision": "allow"})
    return tab


def state_at_the_app(tab: Browser) -> str:
    """What the app gets back, with a code."""
    assert tab.response.status_code == 303, tab.text
    answer = parse_qs(urlsplit(tab.response["Location"]).query)
    assert len(answer["code"]) == 1
    return str(answer["state"][0])


def opens_the_page_again(tab: Browser) -> Browser:
    """Follow the link of the page that says that the form has expired."""
    assert (tab.response.status_code, "This form has expired" in tab.text) == (403, True)
    [link] = tab.page.xpath("//main//a[text()='Open the page again']/@href")
    return tab.open(link)


@pytest.fixture
def tabs(app: App) -> tuple[Browser, Browser]:
    """Both at the login page, each for a request of its own."""
    UserFactory(username="Zoe")
    first = waits(Browser(), app, state="first")
    return first, waits(tab_of(first), app, state="second")


def test_after_a_login_in_another_tab_the_login_form_leads_to_its_own_app(tabs: tuple[Browser, Browser]) -> None:
    first, second = tabs
    waiting = first.form("login").fields["next"]
    second.submit(login="Zoe", password=PASSWORD)
    first.submit(login="Zoe", password="wrong horse")
    assert path_of(first) == waiting != path_of(second)
    assert [state_at_the_app(allow(tab)) for tab in (second, first)] == ["second", "first"]


def test_so_does_the_form_of_a_sign_up(tabs: tuple[Browser, Browser]) -> None:
    first, second = tabs
    waiting = first.form("login").fields["next"]
    first.open(f"/accounts/signup/?next={waiting}")
    second.submit(login="Zoe", password=PASSWORD)
    first.submit(username="Yan", email="yan@example.org", password1=PASSWORD)
    assert path_of(first) == waiting
    assert not User.objects.filter(username="Yan").exists()
    assert state_at_the_app(allow(first)) == "first"


def test_so_does_the_form_that_asks_for_the_password_again(app: App) -> None:
    UserFactory(username="Zoe")
    first = Browser().open("/accounts/login/").submit(login="Zoe", password=PASSWORD)
    waits(first, app, state="first", prompt="login")
    assert path_of(first) == "/accounts/reauthenticate/"
    second = tab_of(first).open("/")
    del second.client.cookies["sessionid"]
    second.open("/accounts/login/").submit(login="Zoe", password=PASSWORD)
    first.submit(password=PASSWORD)
    assert state_at_the_app(allow(first)) == "first"


def test_allow_after_another_login_is_asked_once_more(tabs: tuple[Browser, Browser]) -> None:
    first, second = tabs
    UserFactory(username="Yan")
    first.submit(login="Zoe", password=PASSWORD)
    del second.client.cookies["sessionid"]
    second.open("/accounts/login/").submit(login="Yan", password=PASSWORD)
    assert Grant.objects.count() == 0
    opens_the_page_again(allow(first))
    assert "Signed in as Yan" in first.text
    assert Grant.objects.count() == 0
    assert state_at_the_app(allow(first)) == "first"
    assert Grant.objects.get().user.username == "Yan"


def test_a_code_of_an_authenticator_app_that_comes_too_late_is_no_dead_end(tabs: tuple[Browser, Browser]) -> None:
    first, second = tabs
    secret = second_factors.with_app(User.objects.get(username="Zoe"))
    waiting = first.form("login").fields["next"]
    first.submit(login="Zoe", password=PASSWORD)
    assert path_of(first) == "/accounts/2fa/authenticate/"
    second.open(first.response.request["PATH_INFO"]).submit(code=second_factors.code_of(secret))
    assert second.user() is not None
    first.submit(code=second_factors.code_of(secret))
    assert path_of(first) == waiting
    assert state_at_the_app(allow(first)) == "first"


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", "/\\evil.example", "http://[", ""])
def test_a_stale_form_leads_to_pages_of_this_site_only(tabs: tuple[Browser, Browser], wanted: str) -> None:
    first, second = tabs
    second.submit(login="Zoe", password=PASSWORD)
    answer = first.client.post("/accounts/login/", {"login": "Zoe", "password": PASSWORD, "next": wanted})
    assert (answer.status_code, target_of(answer)) == (302, "/dashboard/")


@pytest.mark.parametrize(
    ("referrer", "link"),
    [
        ("http://testserver/accounts/email/?a=1&b=%22", "/accounts/email/?a=1&b=%22"),
        ("http://testserver//evil.example/x", "/evil.example/x"),
        ("https://evil.example/", "/accounts/logout/?a=1"),
        ("http://[", "/accounts/logout/?a=1"),
        ("", "/accounts/logout/?a=1"),
    ],
)
def test_an_expired_form_links_back_to_its_page(db: None, referrer: str, link: str) -> None:
    tab = Browser()
    tab.response = tab.client.post("/accounts/logout/?a=1", headers={"referer": referrer})
    assert tab.response.status_code == 403
    assert tab.page.xpath("//main//a/@href") == [link, "/"]
    assert problems_of(tab.response) == []
