"""The form on the page of an endpoint that sends a request with the reader's own key.

A script sends it from the browser. Without one, the form leads to a page that asks for the key and calls the endpoint's
view in this process. Fields, types and the header of the key come from the OpenAPI document. A body of JSON has a field
for each of its members; a list is typed with commas.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from django import forms
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import resolve
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

from dashboard.documentation import api_errors, contents, personalization, programs, schema
from dashboard.documentation.schema import JSON
from infrastructure.requests.api_json import CONTENT_TYPE, json_text

# Headers of an answer that a reader looks at, in this order.
HEADERS = (
    "RateLimit",
    "RateLimit-Policy",
    "ETag",
    "Retry-After",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "Content-Type",
    "X-Request-Id",
)
MAX_ETAG = 200  # characters
_BLOCK = re.compile(r"^```explorer (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ERRORS = re.compile(r"^\{\{ errors ([\w ]+) \}\}$", re.MULTILINE)
_KEY_HEADERS = MappingProxyType({"apiKey": ("X-API-Key", ""), "accountKeyBearer": ("Authorization", "Bearer ")})


@dataclass(frozen=True)
class Explorer:
    """`page`: of the endpoint. `initial`: values of its fields. `places`: as `api_errors` names them."""

    operation: schema.Operation
    page: contents.Page
    initial: Mapping[str, str]
    places: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.operation.id

    @property
    def key_header(self) -> tuple[str, str]:
        """Return the header of the key, and its prefix. A key in the query would be in histories."""
        schemes = {name for each in self.operation.details["security"] for name in each}
        return next(header for scheme, header in _KEY_HEADERS.items() if scheme in schemes)

    @property
    def parameters(self) -> list[JSON]:
        return [each for each in self.operation.parameters if each["in"] != "header"] + self.operation.members

    @property
    def lists(self) -> list[str]:
        """Return the names of the fields that hold a list."""
        return [each["name"] for each in self.parameters if each["schema"].get("type") == "array"]

    @property
    def path_parameters(self) -> list[str]:
        return [each["name"] for each in self.parameters if each["in"] == "path"]

    @property
    def query_parameters(self) -> list[str]:
        return [each["name"] for each in self.parameters if each["in"] == "query"]

    def address(self, values: Mapping[str, str], encode: Callable[[str], str]) -> tuple[str, str]:
        """Return path and query, with the values that are not empty."""
        path = self.operation.path
        for name in self.path_parameters:
            path = path.replace(f"{{{name}}}", encode(values.get(name, "")))
        return path, "&".join(f"{name}={encode(values[name])}" for name in self.query_parameters if values.get(name))

    def body(self, values: Mapping[str, str]) -> str:
        """Return the JSON that is sent, with the members that are filled in; "" where there is no body."""
        found: JSON = {}
        for each in self.operation.members:
            name = each["name"]
            if value := values.get(name):
                is_switch = each["schema"].get("type") == "boolean"
                found[name] = listed(value) if name in self.lists else (is_switch or value)
        return json_text(found) if self.operation.members else ""

    def curl(self, values: Mapping[str, str], encode: Callable[[str], str]) -> str:
        header, before = self.key_header
        path, _ = self.address(values, encode)
        query = [(name, values[name]) for name in self.query_parameters if values.get(name)]
        headers = [(header, f"{before}$API_KEY")]
        method, body = self.operation.method, self.body(values)
        request = programs.Request(method, path, 200, query=query, headers=headers, json=body)
        return programs.shell(request, settings.BASE_URL)

    def initial_of(self, reader: personalization.Reader) -> dict[str, str]:
        return {name: reader.fill(value) for name, value in self.initial.items()}

    def errors(self) -> dict[str, dict[str, str]]:
        """Return, by status and `error`, the ids of the error's rows on the page of the endpoint and in the guide."""
        return {
            _name_of(row.error.status, row.error.error): {
                "row": api_errors.anchor_of(row, "Errors"),
                "guide": _guide(row),
            }
            for row in self._rows()
        }

    def row_of(self, status: int, body: str) -> api_errors.ErrorRow | None:
        """Return the row of an answer's error."""
        with contextlib.suppress(ValueError, TypeError, KeyError):
            name = _name_of(status, json.loads(body)["error"])
            return next((row for row in self._rows() if _name_of(row.error.status, row.error.error) == name), None)
        return None

    def _rows(self) -> list[api_errors.ErrorRow]:
        return [row for row in api_errors.ERRORS if row.where in self.places]


def _name_of(status: int, error: str) -> str:
    return f"{status} {error}"


def _guide(row: api_errors.ErrorRow) -> str:
    return f"{contents.pages()[row.page].path}#{api_errors.anchor_of(row)}"


@functools.cache
def explorers() -> Mapping[str, Explorer]:
    """Return explorers by operation: one for each page that has a block `explorer`."""
    found = {}
    for page in contents.pages().values():
        if block := _BLOCK.search(page.source):
            lines = [line.partition(" | ") for line in block[2].splitlines()]
            places = tuple(place for errors in _ERRORS.findall(page.source) for place in errors.split())
            initial = {name: value for name, _, value in lines}
            found[block[1]] = Explorer(schema.operation(block[1]), page, MappingProxyType(initial), places)
    return MappingProxyType(found)


def listed(value: str) -> list[str]:
    """Return the values of a field that holds a list."""
    return [piece.strip() for piece in value.split(",") if piece.strip()]


def encoded(value: str) -> str:
    """Return the typed value, encoded for a path."""
    return quote(value, safe="")


class RequestForm(forms.Form):
    """The parameters of an operation. Only what cannot be sent is refused: the endpoint says what else is wrong."""

    def __init__(self, explorer: Explorer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = "try-%s"
        for each in explorer.parameters:
            self.fields[each["name"]] = _field(each)

    @property
    def has_switches(self) -> bool:
        return any(isinstance(field, forms.BooleanField) for field in self.fields.values())

    def texts(self) -> dict[str, str]:
        """Return what to send, once the form is valid."""
        return {name: "true" if value is True else value or "" for name, value in self.cleaned_data.items()}


def _field(parameter: JSON) -> forms.Field:
    rule, name = parameter["schema"], parameter["name"]
    required = bool(parameter.get("required"))
    if rule.get("type") == "boolean":
        box = forms.CheckboxInput(attrs={"value": "true"}, check_test=lambda value: value in ("true", True))
        return forms.BooleanField(label=name, required=False, widget=box)
    if values := schema.choices(rule):
        return forms.ChoiceField(label=name, required=required, choices=[(value, value) for value in values])
    attributes = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
    if rule.get("type") == "array":
        longest = rule["maxItems"] * (rule["items"]["maxLength"] + 2)
        text = f"With commas between them, at most {rule['maxItems']}."
        widget = forms.TextInput(attributes)
        return forms.CharField(label=name, required=required, max_length=longest, widget=widget, help_text=text)
    if rule.get("type") == "integer":
        bounds = {"min": rule.get("minimum"), "max": rule.get("maximum"), "placeholder": rule.get("default")}
        attributes |= {"inputmode": "numeric"} | {key: str(value) for key, value in bounds.items() if value is not None}
        return forms.CharField(label=name, required=required, widget=forms.NumberInput(attributes))
    if parameter["in"] == "path":
        attributes["pattern"] = "[^\\/]+"
        return forms.RegexField(
            r"\A[^/]+\Z",
            label=name,
            max_length=200,
            widget=forms.TextInput(attributes),
            error_messages={"invalid": "Enter a value without a slash."},
        )
    return forms.CharField(
        label=name, required=required, max_length=rule.get("maxLength", 200), widget=forms.TextInput(attributes)
    )


@dataclass(frozen=True)
class Answer:
    """`milliseconds`: how long the view took. `headers`: of HEADERS. `row`: of its error.

    `body` is indented where it is JSON. `target`: path and query of the request.
    """

    target: str
    status: int
    milliseconds: int
    headers: tuple[tuple[str, str], ...]
    body: str
    row: api_errors.ErrorRow | None

    @property
    def title(self) -> str:
        return f"{self.status} {HTTPStatus(self.status).phrase}"

    @property
    def etag(self) -> str:
        return dict(self.headers).get("ETag", "")

    @property
    def error(self) -> dict[str, str] | None:
        """Return cause and fix as HTML, and their place in the guide."""
        row = self.row
        return {"cause": _html(row.cause), "fix": _html(row.fix), "guide": _guide(row)} if row else None


def send(explorer: Explorer, values: Mapping[str, str], key: str, *, like: HttpRequest) -> Answer:
    """Call the endpoint's view with `key`, as a request from the address of `like`. It counts as any other.

    `like` has the ETag of the answer before in `etag`, and in `etag_of` the request that it belongs to.
    """
    path, query = explorer.address(values, encoded)
    target = "?".join(filter(None, (path, query)))
    header, before = explorer.key_header
    environ: dict[str, Any] = {
        name: like.META[name]
        for name in ("SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "REMOTE_ADDR", "HTTP_HOST", "wsgi.url_scheme")
        if name in like.META
    }
    body = explorer.body(values).encode(errors="replace")
    environ |= {
        "REQUEST_METHOD": explorer.operation.method,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_TYPE": CONTENT_TYPE if body else "",
        "CONTENT_LENGTH": str(len(body)) if body else "",
        "wsgi.input": BytesIO(body),
        f"HTTP_{header.upper().replace('-', '_')}": f"{before}{key}",
    }
    if like.POST.get("etag_of") == target:
        environ["HTTP_IF_NONE_MATCH"] = like.POST.get("etag", "")[:MAX_ETAG]
    request = WSGIRequest(environ)
    match = request.resolver_match = resolve(request.path_info)
    began_at = time.perf_counter()
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    milliseconds = round((time.perf_counter() - began_at) * 1000)
    text = response.content.decode(errors="replace")
    headers = tuple((name, response.headers[name]) for name in HEADERS if name in response.headers)
    row = explorer.row_of(response.status_code, text)
    with contextlib.suppress(ValueError):
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    return Answer(target, response.status_code, milliseconds, headers, text, row)


def _html(markdown: str) -> SafeString:
    """Return HTML of our own `markdown`."""
    return SafeString(MarkdownIt("commonmark", {"html": False}).renderInline(markdown))


# --- On the pages ---


def html(name: str) -> SafeString:
    """Return the form for the page of the endpoint; values of the reader are filled in later."""
    explorer = explorers()[name]
    context = {
        "explorer": explorer,
        "form": RequestForm(explorer, initial=explorer.initial),
        "curl": explorer.curl(explorer.initial, programs.encoded),
        "origin": settings.BASE_URL,
        "errors": explorer.errors(),
    }
    return render_to_string("docs/_explorer.html", context)


def without_blocks(markdown: str) -> str:
    """Return a page's Markdown with a sentence in place of the form."""
    return _BLOCK.sub("The page for people has a form here that sends this request with a key of yours.", markdown)
