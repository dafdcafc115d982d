"""The set-ups for programs, as a browser gets them."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from tests.pages.markup import page_of

PAGE = "/dashboard/imagehost/uploaders/"
KEY = r"ik_[A-Za-z0-9]{8}_[A-Za-z0-9]{40}"


def get(browser: Client, kind: str) -> Any:
    """Any: the test client's answer."""
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
