"""What the account pages need besides allauth's own tags."""

from __future__ import annotations

import re
import time
from typing import Any

from allauth.account import app_settings
from allauth.account.internal.flows.email_verification_by_code import EMAIL_VERIFICATION_CODE_SESSION_KEY
from allauth.account.utils import passthrough_next_redirect_url
from django import template
from django.urls import reverse

from accounts.sign_up import address_change

register = template.Library()

# The browsers and systems that nearly all people use. Edge and Opera also say Chrome, and Chrome also says Safari.
_BROWSERS = (
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/(\d+)")),
    ("Opera", re.compile(r"\b(?:OPR|OPiOS)/(\d+)")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/(\d+)")),
    ("Chrome", re.compile(r"\b(?:Chrome|CriOS)/(\d+)")),
    ("Safari", re.compile(r"\bVersion/(\d+)[.\d]{0,20} (?:Mobile/\w{1,20} )?Safari/")),
)
# Android also says Linux, and phones of Apple also say Mac OS X.
_SYSTEMS = (
    ("iOS", re.compile(r"\b(?:iPhone|iPad|iPod)\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows NT\b")),
    ("macOS", re.compile(r"\bMacintosh\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)
UNKNOWN = "Unknown browser"
SHOWN = 40  # characters of the words of a program that is no known browser


@register.filter
def browser_name(user_agent: str) -> str:
    """Return what a User-Agent header names, such as `Firefox 130 on Windows`; of another program, its first word."""
    first = user_agent.split(maxsplit=1)[:1]
    is_named = first and not first[0].startswith("Mozilla/")
    return _named(user_agent, otherwise=first[0][:SHOWN] if is_named else UNKNOWN)


@register.filter
def known_browser_name(user_agent: str) -> str:
    """Return the same for an email, without any word of the header: mail programs make links of words."""
    return _named(user_agent, otherwise=UNKNOWN)


def _named(user_agent: str, *, otherwise: str) -> str:
    browser = next(
        (f"{name} {found[1]}" for name, words in _BROWSERS if (found := words.search(user_agent))), otherwise
    )
    system = next((name for name, words in _SYSTEMS if words.search(user_agent)), "")
    return f"{browser} on {system}" if system else browser


@register.simple_tag(takes_context=True)
def code_minutes_left(context: dict[str, Any]) -> int:
    """Return for how many whole minutes the mailed code works. A new code does not prolong the time."""
    state = context["request"].session.get(EMAIL_VERIFICATION_CODE_SESSION_KEY) or {"at": 0}
    seconds = state["at"] + app_settings.EMAIL_VERIFICATION_BY_CODE_TIMEOUT - time.time()
    return max(int(seconds // 60), 0)


@register.simple_tag(takes_context=True)
def change_address_url(context: dict[str, Any]) -> str:
    """Return the page that changes the address of a sign-up; empty where it may not be changed."""
    request = context["request"]
    if address_change.pending(request) is None:
        return ""
    return str(passthrough_next_redirect_url(request, reverse("change_sign_up_address"), "next"))
