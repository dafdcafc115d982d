"""The sessions page: each browser can be signed out by itself."""

from __future__ import annotations

from allauth.usersessions.models import UserSession

from accounts.models import AuditEvent, User
from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import PASSWORD, UserFactory
from tests.support.browser import Browser

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0"
LIST = "/accounts/sessions/"


def end(browser: Browser, session: UserSession) -> Browser:
    path = f"/dashboard/account/sessions/{session.pk}/end/"
    (form,) = browser.page.xpath(f"//form[@action='{path}']")
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


def session_of(browser: Browser) -> UserSession:
    return UserSession.objects.get(session_key=browser.client.session.session_key)


def test_a_session_is_named_after_its_browser_and_system(user: User) -> None:
    browser = browser_of(user)
    UserSession.objects.update(user_agent=FIREFOX)
    (row,) = browser.open(LIST).page.xpath("//li[.//span[text()='This browser']]")
    assert "Firefox 130 on Windows" in row.text_content()
    assert row.xpath(".//span[@title]/@title") == [FIREFOX]
    assert "From 127.0.0.1" in row.text_content()


def test_another_browser_is_signed_out_and_this_one_stays(browser: Browser, user: User) -> None:
    other, third = Browser().open("/accounts/login/").submit(login="Ada", password=PASSWORD), browser_of(user)
    end(browser.open(LIST), session_of(other))
    assert "Browser signed out." in browser.text
    assert [each.user() for each in (browser, other, third)] == [user, None, user]
    assert AuditEvent.objects.filter(verb="user:session_ended", actor=user).count() == 1


def test_this_browser_is_marked_and_can_sign_itself_out(browser: Browser, user: User) -> None:
    other = browser_of(user)
    browser.open(LIST)
    (row,) = browser.page.xpath("//li[.//span[text()='This browser']]")
    assert row.xpath(".//form/@action") == [f"/dashboard/account/sessions/{session_of(browser).pk}/end/"]
    end(browser, session_of(browser))
    assert browser.user() is None
    assert other.user() == user


def test_a_session_of_another_user_cannot_be_ended(browser: Browser) -> None:
    other = UserFactory()
    theirs = browser_of(other)
    path = f"/dashboard/account/sessions/{session_of(theirs).pk}/end/"
    token = browser.open(LIST).page.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    assert browser.client.get(path).status_code == 405
    assert browser.client.post(path, {"csrfmiddlewaretoken": token}).status_code == 404
    assert theirs.user() == other
