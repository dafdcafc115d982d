"""Ready code for several stacks, with the real values of an app, and its colors.

The secret is always read from the environment.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.text import slugify
from pygments import lexers, token

from dashboard.client_apps import sign_in_buttons
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


_QUOTES: dict[str, Callable[[str], str]] = {"shell": shell, "double": double, "php": php}
_PROOFS = {
    "run": "Our tests run this code as shown here, from the first request to user info.",
    "configured": "Our tests sign in with the library, configured by this code.",
    "parsed": "Our tests check its syntax; they do not run it.",
    "read": "Written after the library's documentation; our tests do not run it.",
}


@dataclass(frozen=True)
class Stack:
    """A row of stacks.toml, which says what the fields mean. `proof`: a sentence."""

    name: str
    title: str
    language: str
    fence: str
    source: str
    file: str
    quote: Callable[[str], str]
    notes: tuple[str, ...]
    proof: str
    callback_path: str = ""


_HERE = Path(__file__).parent
STACKS = tuple(
    Stack(**{**row, "quote": _QUOTES[row["quote"]], "proof": _PROOFS[row["proof"]], "notes": tuple(row["notes"])})
    for row in tomllib.loads((_HERE / "stacks.toml").read_text(encoding="utf-8"))["stack"]
)
_PLACE = re.compile(r"<<(?P<name>[a-z_]+)(?P<raw>:raw)?>>")
DEFAULT_PORT = 3000

_LANGUAGES = frozenset({"sh", "python", "js", "ts", "json", "go", "php", "java", "html", "css"})
# The first of them that a token is, decides.
_CLASSES = (
    (token.Comment, "code-comment"),
    (token.String, "code-text"),
    (token.Number, "code-value"),
    (token.Keyword.Constant, "code-value"),
    (token.Keyword, "code-word"),
    (token.Name.Tag, "code-name"),
    (token.Name.Attribute, "code-name"),
    (token.Name.Function, "code-name"),
    (token.Name.Class, "code-name"),
    (token.Name.Decorator, "code-name"),
    (token.Name.Variable, "code-name"),
)
_READER_PLACE = re.compile(r"\{\{ reader\.\w+ \}\}")  # filled in later: it must stay in one piece
_NAME = "ReaderPlaceZ"  # stands for one while the code is read: a name in every language


def colored(code: str, language: str) -> SafeString:
    """Return HTML. `language`: its name in Markdown; code of a language without colors is only escaped."""
    if language not in _LANGUAGES:
        return escape(code)
    lexer = lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    html = ""
    for name, group in itertools.groupby(
        lexer.get_tokens(_READER_PLACE.sub(_NAME, code)), lambda part: _class_of(part[0])
    ):
        text = "".join(text for _, text in group)
        html += f'<span class="{name}">{escape(text)}</span>' if name and text.strip() else escape(text)
    for place in _READER_PLACE.findall(code):
        html = html.replace(_NAME, place, 1)
    return SafeString(html)


def _class_of(kind: token._TokenType) -> str:
    return next((name for known, name in _CLASSES if token.is_token_subtype(kind, known)), "")


@dataclass(frozen=True)
class Sample:
    """`code`: whole, ready to save under `stack.file`. `callback_url`: the fixed callback of the library; None where it
    takes the chosen one. `is_callback_registered`: whether that one is."""

    stack: Stack
    code: str
    callback_url: str | None
    is_callback_registered: bool

    @property
    def colored(self) -> SafeString:
        return colored(self.code, self.stack.fence)


def sample_of(stack: Stack, application: Application, redirect_url: str) -> Sample:
    """Return the sample of the stack; `redirect_url`: one of the app's."""
    callback_url = f"{origin_of(redirect_url)}{own_callback(stack)}" if stack.callback_path else None
    own = _app_values(application.client_id, redirect_url, application.registered_scopes, stack.quote)
    is_registered = callback_url is None or application.redirect_uri_allowed(callback_url)
    return Sample(stack, _filled(stack, own), callback_url, is_registered)


def open_code(stack: Stack) -> str:
    """Return the code with `{{ reader.NAME }}` in place of each value of an app: the documentation's form."""
    names = _app_values("", "", (), stack.quote)
    places: Values = {
        name: place if type(value) is str else Verbatim(place)
        for name, value in names.items()
        for place in [f"{{{{ reader.{name} }}}}"]
    }
    return _filled(stack, places)


def reader_values(client_id: str, redirect_url: str, scopes: Sequence[str]) -> dict[str, str]:
    """Return what `open_code` leaves open. Its lists of scopes are written only in languages with double quotes."""
    return {name: str(value) for name, value in _app_values(client_id, redirect_url, scopes, double).items()}


def own_callback(stack: Stack) -> str:
    """Return the path of the library's callback; "" where it takes the app's redirect URL."""
    return stack.callback_path.format(slug=_slug())


def origin_of(redirect_url: str) -> str:
    """Return scheme, host and port; an example for a private-use scheme, which has none."""
    parts = urlsplit(redirect_url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "https://app.example.org"


def _slug() -> str:
    return slugify(settings.SITE_NAME) or "provider"


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


def _filled(stack: Stack, values: Values) -> str:
    """Return the source with a value for each place between << and >>: one of the service, or of `values`."""
    values = {
        "issuer": settings.BASE_URL,
        "site_name": settings.SITE_NAME,
        "slug": _slug(),
        "button": Verbatim(sign_in_buttons.sample()),
        **values,
    }

    def value_of(place: re.Match[str]) -> str:
        value = values[place["name"]]
        return stack.quote(value) if type(value) is str and not place["raw"] else str(value)

    return _PLACE.sub(value_of, (_HERE / "sources" / stack.source).read_text(encoding="utf-8"))
