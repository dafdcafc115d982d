"""Redacts secrets in texts that leave the service: log lines, tracebacks, events for Sentry.

Imports nothing of ours.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "[redacted]"

# Names whose values are secrets, also as the end of a longer name (`DATABASE_PASSWORD`, `X-Amz-Signature`).
NAMES = (
    r"key|code|code[_-]verifier|token|id[_-]token[_-]hint|secret|(?:old|new)?password[12]?|passwd|passphrase|api[_-]?key|api[_-]?sig|"
    r"signature|credential|credentials|assertion|sessionid|session[_-]key|csrftoken|csrfmiddlewaretoken|otp|"
    r"secret[_-]key[_-]fallbacks|encryption[_-]keys|(?:client|api|access|refresh|bot)(?:secret|key|token)"
)
# A quote, also one that is escaped inside a JSON text.
_QUOTE = r"\\*[\"']"
# Between a name and its value: `name=value`, `name: value`, `"name": "value"`, `(b'name', b'value')`, `name%3Dvalue`,
# and `Key (name)=(value)` of PostgreSQL.
_BETWEEN = rf"(?:{_QUOTE})?\s*(?:=>|[=:]|%3[dD])\s*|{_QUOTE}\s*,\s*(?=b?{_QUOTE})|\)=\("
# A quoted value ends at its quote, another one at what ends a parameter, a cookie, a list or a sentence's word.
_VALUE = rf"b?(?P<quote>{_QUOTE})(?P<quoted>(?:\\.|(?!(?P=quote)).)*)|(?P<bare>(?:(?!%26)[^&\s\"',;}}\])\\])+)"
# A name begins after a letter's or digit's end, or after an encoded character such as `%3F`.
_NAME = rf"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]*(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))(?:{NAMES})"
_SECRET = re.compile(rf"(?i)(?P<name>{_NAME})(?P<between>{_BETWEEN})(?:{_VALUE})")

# The whole value of a header, where it may hold several secrets; a scheme such as Bearer stays.
_HEADER = re.compile(
    rf"(?i)(?P<name>\b(?:proxy-|http_)?authorization|\b(?:set-|http_)?cookies?)(?P<between>{_BETWEEN})"
    rf"(?P<scheme>(?:b?{_QUOTE})?(?:(?:bearer|basic|bot|digest|token)\s+)?)(?P<value>[^\"'\r\n\\]+)"
)
_CREDENTIALS = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}|\b(bot)\s+[\w-]+\.[\w-]+\.[\w-]+")
_URL_PASSWORD = re.compile(r"(?P<before>[A-Za-z0-9]://[^\s/:@\"']{0,200}):[^\s/\"']+@")

# The last part of such a path is a secret: it deletes a file, confirms an address, sets a password, answers a sign-in,
# or opens an invitation.
_LINK = re.compile(
    r"(/files/[^/\s]+/delete/|/accounts/confirm-email/|/accounts/password/reset/key/|/consent/|"
    r"/3rdparty/scrobbler/callback/|/accounts/new-browser/|/dashboard/teams/join/)(?!done/)[^\s\"'?&/,;)]+"
)
# What is a secret under any name: our API keys, whose first part is public, and signed tokens.
_API_KEY = re.compile(r"\b(ik_[A-Za-z0-9]+_)[A-Za-z0-9]+")
# The beginning is found by itself, too: a search that began again inside it would take the square of its length.
_SIGNED = re.compile(r"\beyJ[\w-]+(?P<rest>\.[\w-]+\.[\w-]*)?")
_NAMED = re.compile(rf"(?i)(?:[a-z0-9]*[_-])*(?:{NAMES}|(?:proxy-|http_)?authorization|(?:set-|http_)?cookies?)")


def redacted(text: str) -> str:
    """Return `text` with the values of secrets replaced."""
    text = _LINK.sub(rf"\1{MASK}", text)
    text = _URL_PASSWORD.sub(rf"\g<before>:{MASK}@", text)
    text = _HEADER.sub(rf"\g<name>\g<between>\g<scheme>{MASK}", text)
    text = _SECRET.sub(_masked_value, text)
    text = _CREDENTIALS.sub(rf"\1\2 {MASK}", text)
    return _SIGNED.sub(lambda found: MASK if found["rest"] else found[0], _API_KEY.sub(rf"\1{MASK}", text))


def redacted_path(path: str) -> str:
    """Redact a path without its query, or an id: quicker where it holds no name with a value."""
    if _PLAIN.fullmatch(path):
        return _LINK.sub(rf"\1{MASK}", path)
    return redacted(path)


# Neither a name with a value nor what is a secret under any name.
_PLAIN = re.compile(r"(?!.*(?:ik_|eyJ))[A-Za-z0-9/._-]*")


def redacted_value(value: Any) -> Any:
    """Redact every text in nested lists, tuples and mappings. Values under a secret's name are replaced whole.

    `value`: any JSON; other objects become texts.
    """
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, bytes):
        return redacted(value.decode("utf-8", "replace"))
    if isinstance(value, dict):
        return {
            name: MASK if _is_secret(name) and member not in (None, "") else redacted_value(member)
            for name, member in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redacted_value(member) for member in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return redacted(str(value))


def _is_secret(name: Any) -> bool:
    return isinstance(name, str) and _NAMED.fullmatch(name) is not None


def _masked_value(found: re.Match[str]) -> str:
    name = f"{found['name']}{found['between']}"
    if found["quote"] is None:
        return f"{name}{MASK}"
    before = found[0][len(name) :].partition(found["quote"])[0]
    return f"{name}{before}{found['quote']}{MASK}"
