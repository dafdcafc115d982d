"""Browsers of users who are signed in, without the login page."""

from __future__ import annotations

import time

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY as METHODS
from allauth.account.internal.userkit import user_id_to_str
from allauth.usersessions.models import UserSession
from django.test import Client

from accounts.models import User
from tests.support.browser import Browser


def client_of(browser: Browser) -> Client:
    """The same session without CSRF checks, for forms that a page would not send."""
    client = Client()
    client.cookies = browser.client.cookies
    return client


def browser_of(user: User, *, password_age: float = 0) -> Browser:
    """A browser in which `user` typed the password `password_age` seconds ago."""
    browser = Browser()
    browser.client.force_login(user)
    session = browser.client.session
    session[METHODS] = [{"method": "password", "at": time.time() - password_age, "username": user.username}]
    session[f"{METHODS}_user"] = user_id_to_str(user)
    session.save()
    UserSession.objects.create(user=user, session_key=session.session_key, ip="127.0.0.1", user_agent="")
    return browser
