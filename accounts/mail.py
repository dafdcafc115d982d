"""Sends all emails: as text and the same in HTML, with the headers of automatic mail, and few to one address.

An address gets at most 5 emails an hour and 20 a day, in all its spellings, and as many notices beyond these. Pages
answer alike whether an email was sent or held back: what an address has received says whether it has an account.
"""

from __future__ import annotations

import itertools
import logging
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import make_msgid
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.message import sanitize_address
from django.template.loader import render_to_string
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from accounts import rate_limits
from infrastructure import limits
from infrastructure.hashing import digest
from infrastructure.limits import LimitsUnavailable

logger = logging.getLogger(__name__)
_QUOTE = ">"  # begins each line of a quotation
_OURS = (
    secrets.token_hex()
)  # stands before our links and codes until `send`; random, so that no text of a user holds it
_WRAPPED = 72  # characters: a line of a template that has as many goes on in the next one
_LINK = '<a href="{0}" style="overflow-wrap:anywhere">{0}</a>'
_CODE = (
    '<strong style="display:inline-block;padding:12px 20px;border:1px solid #7d8882;border-radius:8px;'
    'font:bold 24px monospace;letter-spacing:2px">{}</strong>'
)


def ours(value: str) -> str:
    """Return a link or a code of ours, marked so that `send` shows it as one in HTML. Texts of users hold no mark, so
    an address in them becomes no link."""
    return f"{_OURS}{value}"


def check_spelling(address: str) -> None:
    """Raise ValidationError for a valid address to which mail is sent in another spelling: with quotation marks, or in
    a domain that IDNA 2003 changes, maybe to another person's domain."""
    local, _, domain = address.lower().rpartition("@")
    if local.startswith('"'):
        raise ValidationError("Write the address without quotation marks.")
    try:
        encoded = domain.encode("idna")
        written = domain if domain.isascii() else encoded.decode("idna")
    except UnicodeError as error:
        raise ValidationError("Enter a valid email address.") from error
    if written != domain:
        raise ValidationError(
            f"Mail to this domain goes to {written}. Write that, or the form of your domain that begins with xn--."
        )


def send(message: EmailMessage, *, is_notice: bool) -> bool:
    """Send an email to its addresses that have not had too many; False: to none. Its text is sent in HTML, too.

    `is_notice`: a visitor who is not signed in cannot cause it. Over the limit, notices have places of their own, so
    that five requests for a new password do not hide that the password was changed. SMTPException, OSError: it was not
    sent. LimitsUnavailable, of other mail.
    """
    for address in list(message.to):
        if _is_over_limit(digest(sanitize_address(address.lower(), "utf-8")), is_notice=is_notice):
            logger.warning("An email was held back: its address has had too many.")
            message.to.remove(address)
    if not message.to:
        return False
    text = str(message.body)
    both = EmailMultiAlternatives(message.subject, text.replace(_OURS, ""), message.from_email, message.to)
    both.attach_alternative(_html_of(str(message.subject), text), "text/html")
    both.extra_headers = message.extra_headers | {
        "Auto-Submitted": "auto-generated",  # RFC 3834: no robot answers it
        "Message-ID": make_msgid(domain=urlsplit(settings.BASE_URL).hostname),
    }
    both.send()
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


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of the HTML, or one of a quotation."""

    html: SafeString
    is_quote: bool


def _html_of(subject: str, text: str) -> str:
    context = {
        "subject": subject,
        "paragraphs": [_paragraph(lines) for lines in _paragraphs_of(text)],
        "site_name": settings.SITE_NAME,
        "base_url": settings.BASE_URL,
    }
    return render_to_string("email.html", context)


def _paragraphs_of(text: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph: they end at an empty line, and where a quotation begins or ends."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if lines and (not line.strip() or line.startswith(_QUOTE) != lines[-1].startswith(_QUOTE)):
            yield lines
            lines = []
        if line.strip():
            lines.append(line)


def _paragraph(lines: list[str]) -> Paragraph:
    is_quote = lines[0].startswith(_QUOTE)
    html = _line(lines[0])
    for before, line in itertools.pairwise(lines):
        is_whole = is_quote or _OURS in before or line.startswith((" ", "- ", _OURS))
        goes_on = len(before) >= _WRAPPED and not is_whole
        html += mark_safe("\n" if goes_on else "<br>\n") + _line(line)  # noqa: S308  # ours
    return Paragraph(html, is_quote)


def _line(line: str) -> SafeString:
    """Return the line in HTML, with its links and codes. A link ends at a space; what closes a sentence or a bracket
    behind it is not of it."""
    text, *marked = line.removeprefix(f"{_QUOTE} ").removeprefix(_QUOTE).split(_OURS)
    html = escape(text)
    for part in marked:
        word = re.split(r"\s", part, maxsplit=1)[0]
        value = word if line == f"{_OURS}{word}" else word.rstrip(".,;:)")
        html += format_html(_LINK if value.startswith("http") else _CODE, value) + escape(part[len(value) :])
    return html
