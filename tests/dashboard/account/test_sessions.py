"""The sessions page: each browser can be signed out by itself."""

from __future__ import annotations

import pytest
from allauth.usersessions.models import UserSession

from accounts.models import AuditEvent, User
from tests.support.browser import Browser
from tests.factories.accounts import PASSWORD, UserFactory

LIST = "/accounts/sessions/"


def signed_in(user: User) -> Browser:
    return Browser().open("/accounts/login/").submit(login=user.username, password=PASSWORD)


def end(browser: Browser, session: UserSession) -> Browser:
    path = f"/dashboard/account/sessions/{session.pk}/end/"
    (form,) = browser.page.xpath(f"//form[@action='{path}']")
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


def session_of(browser: Browser) -> UserSession:
    return UserSession.objects.get(session_key=browser.client.session.session_key)


def test_another_browser_is_signed_out_and_this_one_stays(browser: Browser, user: User) -> None:
    other, third = signed_in(user), signed_in(user)
    end(browser.open(LIST), session_of(other))
    assert "That browser is signed out." in browser.text
    assert [who.user() for who in (browser, other, third)] == [user, None, user]
    assert AuditEvent.objects.filter(verb="user:session_ended", actor=user).count() == 1


def test_this_browser_is_marked_and_can_sign_itself_out(browser: Browser, user: User) -> None:
    other = signed_in(user)
    browser.open(LIST)
    (row,) = browser.page.xpath("//li[.//span[text()='This browser']]")
    assert row.xpath(".//form/@action") == [f"/dashboard/account/sessions/{session_of(browser).pk}/end/"]
    end(browser, session_of(browser))
    assert browser.user() is None
    assert other.user() == user


def test_all_others_are_signed_out_at_once(browser: Browser, user: User) -> None:
    others = [signed_in(user), signed_in(user)]
    browser.open(LIST)
    (button,) = browser.page.xpath("//button[text()='Sign out all others']")
    (form,) = button.iterancestors("form")
    browser.client.post(LIST, dict(form.form_values()))
    assert [who.user() for who in (browser, *others)] == [user, None, None]


@pytest.mark.parametrize("method", ["get", "post"])
def test_nobody_ends_the_session_of_somebody_else(browser: Browser, method: str) -> None:
    other = UserFactory()
    theirs = signed_in(other)
    path = f"/dashboard/account/sessions/{session_of(theirs).pk}/end/"
    token = browser.open(LIST).page.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    answer = getattr(browser.client, method)(path, {"csrfmiddlewaretoken": token})
    assert answer.status_code in {404, 405}
    assert theirs.user() == other
