"""What the account pages need besides allauth's own tags."""

from __future__ import annotations

import time
from typing import Any

from allauth.account import app_settings
from allauth.account.internal.flows.email_verification_by_code import EMAIL_VERIFICATION_CODE_SESSION_KEY
from allauth.account.utils import passthrough_next_redirect_url
from django import template
from django.urls import reverse

from accounts.sign_up import address_change
from infrastructure.requests import user_agents

register = template.Library()
register.filter("browser_name", user_agents.named)


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
