"""Which redirect URLs an app may register, and which one a request may name (docs/spec/sign-in.md, "An app").

URLs compare as strings: another case, an explicit default port or a trailing slash make a different URL.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv6Address
from urllib.parse import parse_qsl, urlsplit

MAX_URLS = 10
MAX_LENGTH = 250
ANSWERS = frozenset({"code", "state", "iss", "error", "error_description"})  # parameters of the answer to the app
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost"})

_WEB_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<rest>[/?].*)?\Z", re.DOTALL)
_HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:(?P<port>[0-9]{1,5}))?\Z")
# RFC 8252 §7.1: a private-use scheme is a domain name in reverse, and one slash follows it.
_PRIVATE_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<rest>.*)\Z", re.DOTALL)
_REVERSE_DOMAIN = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+\Z")
_LOOPBACK = re.compile(r"http://127\.0\.0\.1(:(?P<port>[0-9]{1,5}))?(?=[/?]|\Z)")
_PRINTABLE = re.compile(r"[\x21-\x7e]+\Z")
# RFC 3986 §3.3 and §3.4: what a path and a query do not hold unescaped.
_UNESCAPED = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]|%(?![0-9A-Fa-f]{2})")


def problem_of(url: str) -> str | None:
    """Return why `url` cannot be registered and how to fix it, or None."""
    if not url:
        return "Enter a URL."
    if len(url) > MAX_LENGTH:
        return f"The URL has {len(url)} characters; at most {MAX_LENGTH} are allowed."
    if not _PRINTABLE.match(url) or "\\" in url:
        return "The URL contains white space, a backslash or a character outside ASCII; percent-encode it."
    if "*" in url:
        return "Wildcards (*) are not allowed; register each URL in full."
    if "#" in url:
        return "Remove the fragment (everything from # on)."
    ours = ANSWERS.intersection(name for name, _ in parse_qsl(url.partition("?")[2], keep_blank_values=True))
    if ours:
        return f"Remove {', '.join(sorted(ours))} from the query; the service adds it to the URL itself."
    web = _WEB_URL.match(url)
    if web:
        return _problem_of_web_url(web["scheme"], web["authority"]) or _problem_of_rest(web["rest"] or "")
    return _problem_of_private_scheme(url)


def _problem_of_web_url(scheme: str, authority: str) -> str | None:
    if "@" in authority:
        return "Remove the user name or password before the host."
    parts = _HOST_AND_PORT.match(authority)
    if parts is None:
        return "The host or the port cannot be read; write https://host/path or https://host:port/path."
    if parts["port"] is not None and not 1 <= int(parts["port"]) <= 65535:
        return "The port must be between 1 and 65535."
    if not _is_host(parts["host"]):
        return "The host is not a valid name or address."
    if scheme == "http" and parts["host"] not in LOOPBACK_HOSTS:
        return "Use https; plain http is allowed for the hosts 127.0.0.1 and localhost only."
    return None


def _is_host(host: str) -> bool:
    if not host.startswith("["):
        return ".." not in host and not host.startswith((".", "-"))
    try:
        return bool(IPv6Address(host[1:-1]))
    except ValueError:
        return False


def _problem_of_private_scheme(url: str) -> str | None:
    parts = _PRIVATE_SCHEME.match(url)
    if parts is None:
        return "Write the whole URL, beginning with https://."
    scheme, rest = parts["scheme"], parts["rest"]
    if scheme.lower() in {"http", "https"}:
        return "Write the URL as https://host/path, with the scheme in lower case."
    if "." not in scheme:
        return (
            "A private-use scheme must be a domain name in reverse with a dot in it, such as com.example.app:/callback."
        )
    if not _REVERSE_DOMAIN.match(scheme):
        return "A private-use scheme is written in lower-case letters, digits, hyphens and dots, as com.example.app."
    if not rest.startswith("/") or rest.startswith("//"):
        return "After a private-use scheme comes one slash: com.example.app:/callback."
    return _problem_of_rest(rest)


def _problem_of_rest(rest: str) -> str | None:
    """Return what is wrong with `rest`, path and query; None: nothing."""
    found = _UNESCAPED.search(rest)
    return found and f"The URL contains {found[0]} after the host; percent-encode it as %{ord(found[0]):02X}."


def problems_of_all(urls: Sequence[str]) -> list[str]:
    """Return the problems of an app's list of URLs."""
    problems = [f"{url}: {problem}" for url in urls if (problem := problem_of(url))]
    if not urls:
        problems.append("Register at least one redirect URL.")
    if len(urls) > MAX_URLS:
        problems.append(f"There are {len(urls)} redirect URLs; an app can have at most {MAX_URLS}.")
    problems += [f"{url}: This URL is listed twice." for url in sorted({url for url in urls if urls.count(url) > 1})]
    return problems


def is_registered(url: str, registered: Sequence[str]) -> bool:
    """Whether `url` is registered: exact match; only for http://127.0.0.1 the port is ignored (RFC 8252 §7.3)."""
    if url in registered:
        return True
    if _loopback_origin(url) is None:
        return False
    return _without_port(url) in {_without_port(known) for known in registered}


def _loopback_origin(url: str) -> str | None:
    """Return scheme, host and port of a URL whose port is ignored; None for another URL or an invalid port."""
    found = _LOOPBACK.match(url)
    return found[0] if found and 1 <= int(found["port"] or 80) <= 65535 else None


def _without_port(url: str) -> str:
    return _LOOPBACK.sub("http://127.0.0.1", url)


def at_port_of(registered: str, url: str) -> str:
    """Return `registered` with the port of `url` if the port is ignored, so that only relevant differences remain."""
    wanted = _loopback_origin(url)
    return _LOOPBACK.sub(wanted, registered) if wanted else registered


def destination(url: str) -> tuple[str, bool]:
    """Return the host and port of `url` for display, and whether it is the user's own device."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        return f"{parts.scheme}:", True
    return parts.netloc, parts.hostname in LOOPBACK_HOSTS


def form_action(url: str) -> str:
    """Return the Content-Security-Policy sources that let a form's answer redirect to `url` and onward.

    Browsers apply form-action to every redirect after the POST, and an app's callback may redirect to another host.
    """
    parts = urlsplit(url)
    if parts.scheme == "https":
        return f"{parts.scheme}://{parts.netloc} https:"
    if parts.scheme == "http":
        return f"{parts.scheme}://{parts.netloc} http://127.0.0.1:* http://localhost:* https:"
    return f"{parts.scheme}:"
