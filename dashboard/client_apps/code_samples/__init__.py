"""Ready code for several stacks, with the real values of an app. The secret is always read from the environment."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.safestring import SafeString
from django.utils.text import slugify

from dashboard.client_apps import sign_in_buttons
from dashboard.client_apps.code_colours import coloured
from oidc_provider.models import Application


class Verbatim(str):
    """A value that is inserted without quotes."""

    __slots__ = ()


Values = dict[str, str | int | Verbatim]


def shell(text: str) -> str:
    return shlex.quote(text)


def double(text: str) -> str:
    """Quote for JavaScript, Python, Go, Java, YAML."""
    return json.dumps(text)


def php(text: str) -> str:
    """Quote for PHP, in single quotes: nothing is replaced inside them."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


RUN = "Our tests run this code as shown here, from the first request to user info."
CONFIGURED = "Our tests sign in with the library, configured by this code."
PARSED = "Our tests check its syntax; they do not run it."
READ = "Written after the library's documentation; our tests do not run it."


@dataclass(frozen=True)
class Stack:
    """`source`: a file of `sources/`; `file`: the name to save it under; `callback_path`: where a library has its own.

    `notes`: common problems. `proof`: how the tests check it. `fence`: the language's name in Markdown.
    """

    name: str
    title: str
    language: str
    source: str
    file: str
    quote: Callable[[str], str]
    notes: tuple[str, ...]
    proof: str
    callback_path: str = ""

    @property
    def fence(self) -> str:
        return _FENCES[self.language]


_FENCES = {
    "Shell": "sh",
    "JavaScript": "js",
    "TypeScript": "ts",
    "Python": "python",
    "Go": "go",
    "PHP": "php",
    "Java": "java",
}


STACKS = (
    Stack(
        "curl",
        "curl",
        "Shell",
        "curl.sh.txt",
        "sign-in.sh",
        shell,
        (
            "Shows every request of a sign-in, without a library.",
            "It does not verify the id_token: for a test, not for an app.",
        ),
        RUN,
    ),
    Stack(
        "openid-client",
        "openid-client (Node.js)",
        "JavaScript",
        "openid_client.mjs.txt",
        "app.mjs",
        double,
        (
            "Name EdDSA: the library expects RS256 and refuses the id_token otherwise.",
            "Pass PKCE yourself: code_challenge here, pkceCodeVerifier at the exchange.",
        ),
        RUN,
    ),
    Stack(
        "authjs",
        "Auth.js (Next.js)",
        "TypeScript",
        "authjs.ts.txt",
        "auth.ts",
        double,
        (
            "Set the scope by hand: the default asks for profile, which does not exist here.",
            "Auth.js has its own callback; register it as shown below.",
        ),
        PARSED,
        callback_path="/api/auth/callback/{slug}",
    ),
    Stack(
        "authlib",
        "Authlib (Flask)",
        "Python",
        "authlib_flask.py.txt",
        "app.py",
        double,
        ("Without code_challenge_method Authlib leaves PKCE off, and the request fails with invalid_request.",),
        RUN,
    ),
    Stack(
        "django-allauth",
        "django-allauth",
        "Python",
        "django_allauth.py.txt",
        "settings.py",
        double,
        (
            "PKCE is off and the scope holds profile unless you say otherwise, as here.",
            "allauth has its own callback; register it as shown below.",
        ),
        CONFIGURED,
        callback_path="/accounts/oidc/{slug}/login/callback/",
    ),
    Stack(
        "requests-oauthlib",
        "requests-oauthlib",
        "Python",
        "requests_oauthlib.py.txt",
        "sign_in.py",
        double,
        ('PKCE needs version 2 or newer and pkce="S256".', "It does not verify the id_token: read user info instead."),
        RUN,
    ),
    Stack(
        "go-oidc",
        "go-oidc",
        "Go",
        "go_oidc.go.txt",
        "main.go",
        double,
        ('oauth2.GenerateVerifier needs golang.org/x/oauth2 0.13 or newer, the route "/{$}" Go 1.22.',),
        PARSED,
    ),
    Stack(
        "php",
        "league/oauth2-client (PHP)",
        "PHP",
        "league.php.txt",
        "index.php",
        php,
        (
            "pkceMethod needs version 2.7 or newer.",
            "The separator of scopes is a comma unless you set a space: the request fails with invalid_scope.",
        ),
        PARSED,
    ),
    Stack(
        "spring",
        "Spring Security",
        "Java",
        "spring.java.txt",
        "SignIn.java",
        double,
        (
            "Spring leaves PKCE off for apps with a secret.",
            "Its id_token decoder does not support EdDSA; the second bean replaces it.",
        ),
        READ,
    ),
)


_SOURCES = Path(__file__).parent / "sources"
_PLACE = re.compile(r"<<(?P<name>[a-z_]+)(?P<raw>:raw)?>>")
DEFAULT_PORT = 3000


@dataclass(frozen=True)
class Sample:
    """`code`: whole, ready to save under `stack.file`. `callback_url`: the fixed callback of the library; None where it
    takes the chosen one. `is_callback_registered`: whether that one is."""

    stack: Stack
    code: str
    callback_url: str | None
    is_callback_registered: bool

    @property
    def coloured(self) -> SafeString:
        return coloured(self.code, self.stack.fence)


def samples_of(application: Application, redirect_url: str) -> list[Sample]:
    """Return a sample for each stack; `redirect_url`: one of the app's."""
    return [_sample(stack, application, redirect_url) for stack in STACKS]


def open_code(stack: Stack) -> str:
    """Return the code with `{{ reader.NAME }}` in place of each value of an app: the documentation's form."""
    names = _app_values("", "", (), stack.quote)
    places = {
        name: place if type(value) is str else Verbatim(place)
        for name, value in names.items()
        for place in [f"{{{{ reader.{name} }}}}"]
    }
    return _filled(_source(stack.source), {**_service_values(), **places}, stack.quote)


def reader_values(client_id: str, redirect_url: str, scopes: Sequence[str]) -> dict[str, str]:
    """Return what `open_code` leaves open. Its lists of scopes are written only in languages with double quotes."""
    return {name: str(value) for name, value in _app_values(client_id, redirect_url, scopes, double).items()}


def own_callback(stack: Stack) -> str:
    """Return the path of the library's callback; "" where it takes the app's redirect URL."""
    return stack.callback_path.format(slug=_slug())


def _sample(stack: Stack, application: Application, redirect_url: str) -> Sample:
    callback_url = f"{origin_of(redirect_url)}{own_callback(stack)}" if stack.callback_path else None
    own = _app_values(application.client_id, redirect_url, application.registered_scopes, stack.quote)
    return Sample(
        stack,
        _filled(_source(stack.source), {**_service_values(), **own}, stack.quote),
        callback_url,
        is_callback_registered=callback_url is None or application.redirect_uri_allowed(callback_url),
    )


def origin_of(redirect_url: str) -> str:
    """Return scheme, host and port; an example for a private-use scheme, which has none."""
    parts = urlsplit(redirect_url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "https://app.example.org"


def _slug() -> str:
    return slugify(settings.SITE_NAME) or "provider"


def _service_values() -> Values:
    """Return the values of the placeholders between << and >>, which do not depend on the app."""
    button = Verbatim(sign_in_buttons.sample())
    return {"issuer": settings.BASE_URL, "site_name": settings.SITE_NAME, "slug": _slug(), "button": button}


def _app_values(client_id: str, redirect_url: str, scopes: Sequence[str], quote: Callable[[str], str]) -> Values:
    items = ", ".join(quote(name) for name in scopes)
    return {
        "client_id": client_id,
        "redirect_url": redirect_url,
        "redirect_path": urlsplit(redirect_url).path or "/",
        "port": _port(redirect_url),
        "scope": " ".join(scopes),
        "scope_commas": Verbatim(", ".join(scopes)),
        "scope_items": Verbatim(items),
        "scope_list": Verbatim(f"[{items}]"),
    }


def _port(redirect_url: str) -> int:
    """Return the port for a local program: of a loopback URL, else one that is usually free."""
    parts = urlsplit(redirect_url)
    is_local = parts.hostname in {"127.0.0.1", "localhost"}
    return parts.port or DEFAULT_PORT if is_local else DEFAULT_PORT


def _filled(source: str, values: Values, quote: Callable[[str], str]) -> str:
    def value_of(place: re.Match[str]) -> str:
        value = values[place["name"]]
        return quote(value) if type(value) is str and not place["raw"] else str(value)

    return _PLACE.sub(value_of, source)


@cache
def _source(name: str) -> str:
    return (_SOURCES / name).read_text(encoding="utf-8")
