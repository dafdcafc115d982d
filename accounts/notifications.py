"""Mail to the owner of something, sent after the transaction; an email that cannot be sent is logged."""

from __future__ import annotations

import functools
import logging
import smtplib
import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string

from accounts import mail
from accounts.models import User
from infrastructure.limits import LimitsUnavailable

logger = logging.getLogger(__name__)


def send_after_commit(
    *, to: User, subject: str, template: str, context: dict[str, Any], in_background: bool = False
) -> None:
    """Send an email; a user without an address gets none. `template`, a text, gets `context` with `user`, `site_name`
    and `base_url`. `in_background`: a thread sends it, for a caller that cannot wait for the mail server."""
    if not to.email:
        return
    names = {"user": to, "site_name": settings.SITE_NAME, "base_url": mail.ours(settings.BASE_URL)}
    text = render_to_string(template, {**names, **context})
    send = functools.partial(_send, to.email, f"{settings.SITE_NAME}: {subject}", text, is_notice=True)
    # No daemon: the end of the process waits for it.
    transaction.on_commit(threading.Thread(target=send, name="mail").start if in_background else send)


def send_to_address_after_commit(*, address: str, subject: str, template: str, context: dict[str, Any]) -> None:
    """Send an email to an address that need not be of a user. It is no notice: many users can cause it for one address.
    `template` gets `context` with `site_name` and `base_url`."""
    names = {"site_name": settings.SITE_NAME, "base_url": mail.ours(settings.BASE_URL)}
    text = render_to_string(template, {**names, **context})
    transaction.on_commit(lambda: _send(address, f"{settings.SITE_NAME}: {subject}", text, is_notice=False))


def _send(address: str, subject: str, text: str, *, is_notice: bool) -> None:
    log_failure(lambda: mail.send(EmailMessage(subject, text, to=[address]), is_notice=is_notice))


def log_failure(send: Callable[[], object]) -> None:
    """Call `send`, which sends an email; log where it cannot be sent."""
    try:
        send()
    except (smtplib.SMTPException, OSError, LimitsUnavailable):  # the pages show the same
        logger.exception("An email could not be sent.")
