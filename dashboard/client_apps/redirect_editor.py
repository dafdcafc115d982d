"""The redirect URL editor: the rows with their problems, and why a URL that an app sent matches none. Pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from oidc_provider import redirects

_LOCALHOST = (
    "Some systems reach localhost by another address than 127.0.0.1, and its port must match exactly. For an app on "
    "the person's own device register http://127.0.0.1 instead: there any port matches."
)


@dataclass(frozen=True)
class RedirectRow:
    """`problem` refuses the row; `advice` does not. Both are sentences, empty where there is nothing to say."""

    number: int
    url: str
    problem: str = ""
    advice: str = ""

    @property
    def length(self) -> int:
        return len(self.url)


def rows_of(urls: Sequence[str], *, is_staging: bool = False) -> list[RedirectRow]:
    """Return one row for each of `urls`, which may be empty: an empty row is no mistake. A staging app on a developer's
    device gets no advice about localhost."""
    rows = []
    for number, url in enumerate(urls, start=1):
        problem = redirects.problem_of(url) if url else ""
        first = urls.index(url) + 1
        if url and not problem and first < number:
            problem = f"This URL is in row {first} already; remove one of the two."
        advice = _advice(url, urls, is_staging=is_staging) if url and not problem else ""
        rows.append(RedirectRow(number, url, problem or "", advice))
    return rows


def blank(rows: Sequence[RedirectRow]) -> list[RedirectRow]:
    """Return `rows`, and empty ones up to as many as an app may have."""
    numbers = range(len(rows) + 1, redirects.MAX_URLS + 1)
    return [*rows, *(RedirectRow(number, "") for number in numbers)]


def slash_pairs(urls: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of `urls` that differ only by a slash at the end: without it, with it."""
    known = set(urls)
    return [(url, f"{url}/") for url in urls if f"{url}/" in known]


def _advice(url: str, urls: Sequence[str], *, is_staging: bool) -> str:
    other = url[:-1] if url.endswith("/") else f"{url}/"
    if other in urls:
        return f"{other} is in the list too. They are two different URLs; keep the one that your app really sends."
    return _LOCALHOST if urlsplit(url).hostname == "localhost" and not is_staging else ""


_DEFAULT_PORTS = {"http": "80", "https": "443"}
_AUTHORIZE_PATH = "/oauth2/authorize"


@dataclass(frozen=True)
class Difference:
    """`sent` and `registered` are equal for the first `position` characters. `reasons`: in sentences."""

    sent: str
    registered: str
    position: int
    reasons: list[str]

    @property
    def number(self) -> int:
        """Return the number of the first character that differs, counted from 1."""
        return self.position + 1

    @property
    def same(self) -> str:
        return self.sent[: self.position]

    @property
    def sent_from_there(self) -> tuple[str, str]:
        """Return the first character that differs, and what follows it."""
        return self.sent[self.position : self.position + 1], self.sent[self.position + 1 :]

    @property
    def registered_from_there(self) -> tuple[str, str]:
        return self.registered[self.position : self.position + 1], self.registered[self.position + 1 :]


def sent_url(pasted: str) -> str:
    """Return the redirect URL in what a person pasted: the URL itself, or the authorization request around it."""
    pasted = pasted.strip()
    try:
        parts = urlsplit(pasted)
    except ValueError:  # an opened [ without its end
        return pasted
    named = parse_qs(parts.query).get("redirect_uri", []) if parts.path.endswith(_AUTHORIZE_PATH) else []
    return named[0] if named else pasted


def explain(sent: str, registered: Sequence[str]) -> Difference | None:
    """Return how `sent` differs from the nearest of `registered`; None where it matches one of them."""
    if not registered or redirects.is_registered(sent, registered):
        return None
    comparable = [redirects.at_port_of(url, sent) for url in registered]
    beginning = sent[: redirects.MAX_LENGTH].casefold()  # the comparison takes the product of the lengths
    nearest = max(comparable, key=lambda url: SequenceMatcher(None, beginning, url.casefold(), autojunk=False).ratio())
    differing = (at for at, (a, b) in enumerate(zip(sent, nearest, strict=False)) if a != b)
    at = next(differing, min(len(sent), len(nearest)))
    return Difference(sent, nearest, at, _reasons(sent, nearest))


def _reasons(sent: str, registered: str) -> list[str]:
    problem = redirects.problem_of(sent)
    refused = [f"This URL could not be registered as it is. {problem}"] if problem else []
    whole = _whole_url_reason(sent, registered)
    if whole:
        return [whole, *refused]
    try:
        found = _part_reasons(urlsplit(sent), urlsplit(registered))
    except ValueError:  # a port that is no number, an opened [ without its end
        found = []
    return (found or ["They are two different URLs."]) + refused


def _whole_url_reason(sent: str, registered: str) -> str:
    """Return a reason that explains the whole difference, or the empty string."""
    if sent.strip() == registered:
        return "There is white space around the URL that was sent."
    if unquote(sent) == registered or unquote(unquote(sent)) == registered:
        return "The URL that was sent is percent-encoded once too often; encode it once, as a parameter."
    if unquote(sent) == unquote(registered):
        return "They are percent-encoded in different ways. URLs compare as written: %2F is not /, %7e is not %7E."
    if sent.rstrip("/") == registered.rstrip("/"):
        longer = "sent" if len(sent) > len(registered) else "registered"
        return f"The {longer} URL ends with a slash, the other one does not. They are two different URLs."
    if sent.casefold() == registered.casefold():
        return "They differ in upper and lower case. URLs compare letter by letter, the scheme and the host too."
    return ""


def _part_reasons(sent: SplitResult, registered: SplitResult) -> list[str]:
    reasons = []
    if sent.scheme != registered.scheme:
        reasons.append(f"The scheme differs: {sent.scheme or 'none'} was sent, {registered.scheme} is registered.")
    reasons += _host_reasons(sent, registered)
    if sent.path != registered.path:
        reasons.append(_path_reason(sent.path, registered.path))
    if sent.query != registered.query:
        reasons.append(_query_reason(sent.query, registered.query))
    if sent.fragment:
        reasons.append("A fragment (everything from # on) was sent; a redirect URL has none.")
    return reasons


def _host_reasons(sent: SplitResult, registered: SplitResult) -> list[str]:
    hosts = {sent.hostname, registered.hostname}
    reasons = []
    if hosts == redirects.LOOPBACK_HOSTS:
        reasons.append(
            f"{sent.hostname} was sent, {registered.hostname} is registered. Both mean this device, but they are two "
            "different hosts here."
        )
    elif len(hosts) > 1:
        reasons.append(
            f"The host differs: {sent.hostname or 'none'} was sent, {registered.hostname or 'none'} is registered."
        )
    elif sent.netloc.casefold() == registered.netloc.casefold() and sent.netloc != registered.netloc:
        reasons.append("The host differs in upper and lower case; write it as it is registered.")
    if sent.port != registered.port:
        reasons.append(_port_reason(sent, registered))
    if "@" in sent.netloc:
        reasons.append("The URL that was sent has a user name or password before the host.")
    return reasons


def _port_reason(sent: SplitResult, registered: SplitResult) -> str:
    here, there = ("no port" if parts.port is None else f"port {parts.port}" for parts in (sent, registered))
    reason = f"The port differs: {here} was sent, {there} is registered."
    default = _DEFAULT_PORTS.get(sent.scheme)
    if {str(sent.port or default), str(registered.port or default)} == {default}:
        return f"{reason} {default} is the default port, but a port that is spelt out makes a different URL."
    if sent.hostname == "localhost":
        return f"{reason} For localhost the port must match; for http://127.0.0.1 any port does."
    return reason


def _path_reason(sent: str, registered: str) -> str:
    if sent.rstrip("/") == registered.rstrip("/"):
        longer = "sent" if len(sent) > len(registered) else "registered"
        return f"The {longer} path ends with a slash, the other one does not."
    if sent.casefold() == registered.casefold():
        return "The paths differ in upper and lower case."
    if unquote(sent) == unquote(registered):
        return "The paths are percent-encoded in different ways."
    return f"The path differs: {sent or 'none'} was sent, {registered or 'none'} is registered."


def _query_reason(sent: str, registered: str) -> str:
    if not registered:
        return f"A query (?{sent}) was sent; the registered URL has none. Put what your app must remember into state."
    if not sent:
        return f"The registered URL has a query (?{registered}); none was sent."
    return f"The query differs: ?{sent} was sent, ?{registered} is registered."
