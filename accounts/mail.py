"""Sends all emails: with the headers of automatic mail, and few to one address.

An address gets at most 5 emails an hour and 20 a day, of all kinds together. Pages answer alike whether an email
was sent or held back: what an address has received says whether it has an account.
"""

from __future__ import annotations

import logging
from email.utils import make_msgid
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage

from accounts import rate_limits
from infrastructure import limits
from infrastructure.hashing import digest
from infrastructure.limits import LimitsUnavailable

logger = logging.getLogger(__name__)


def send(message: EmailMessage, *, is_notice: bool) -> bool:
    """Send an email to its addresses that have not had too many; False: to none.

    `is_notice`: a visitor who is not signed in cannot cause it. Over the limit, notices have places of their own, so
    that five requests for a new password do not hide that the password was changed. SMTPException, OSError: it was not
    sent. LimitsUnavailable, of other mail.
    """
    for address in list(message.to):
        if _is_over_limit(digest(address.lower()), is_notice=is_notice):
            logger.warning("An email was held back: its address has had too many.")
            message.to.remove(address)
    if not message.to:
        return False
    message.extra_headers |= {
        "Auto-Submitted": "auto-generated",  # RFC 3834: no robot answers it
        "Message-ID": make_msgid(domain=urlsplit(settings.BASE_URL).hostname),
    }
    message.send()
    return True


def _is_over_limit(address: str, *, is_notice: bool) -> bool:
    try:
        if not limits.hit(rate_limits.MAILS.of(address), rate_limits.MAILS_OF_A_DAY.of(address)):
            return False
        return not is_notice or bool(
            limits.hit(rate_limits.NOTICES.of(address), rate_limits.NOTICES_OF_A_DAY.of(address))
        )
    except LimitsUnavailable:
        if is_notice:  # signed-in pages need no store of limits
            return False
        raise
