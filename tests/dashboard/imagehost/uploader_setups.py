"""The set-ups for programs, as a browser gets them."""

from __future__ import annotations

import re
import time
from typing import Any

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY as METHODS
from django.test import Client

from tests.pages.markup import page_of

PAGE = "/dashboard/imagehost/uploaders/"
KEY = r"ik_[A-Za-z0-9]{8}_[A-Za-z0-9]{40}"


def confirm(browser: Client, *, age: float = 0) -> None:
    """Sign in as one whose user typed the password `age` seconds ago."""
    session = browser.session
    session[METHODS] = [{"method": "password", "at": time.time() - age}]
    session[f"{METHODS}_user"] = session["_auth_user_id"]
    session.save()


def get(browser: Client, kind: str) -> Any:
    """Any: the test client's answer."""
    confirm(browser)
    answer = browser.post(f"{PAGE}{kind}/")
    assert (answer.status_code, "no-store" in answer.headers["Cache-Control"]) == (200, True)
    return answer


def text_of(answer: Any) -> str:
    """The lines of the set-up, wherever they stand; any: the test client's answer."""
    if answer.headers["Content-Type"].startswith("text/html"):
        return str(page_of(answer).xpath("string(//pre)"))
    return str(answer.content.decode())


def key_in(text: str) -> str:
    [secret] = set(re.findall(KEY, text))
    return str(secret)
