"""One request of a page, written down once, as a program for the shell, in Python and in JavaScript.

A page's block `request` holds what is sent, line by line:

    POST /api/imagehost/folders 201
    bearer $API_KEY
    json {"folderName": "Screenshots"}

The program reads `$NAME` from the environment; `{{ reader.name }}` is filled in later, by `personalization`. After the
path comes the status of a good answer. Further lines: `header NAME: VALUE`, `query NAME=VALUE`, `form NAME=VALUE` (a
form's field), `part NAME=VALUE` and `file NAME=PATH` (of multipart/form-data), `basic ID:SECRET`, and `shows` with
`json` (the default), `status`, `location` or `lines`. The tests run the programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import quote

_PIECES = re.compile(r"(\$[A-Z_]+|\{\{ reader\.\w+ \}\})")


@dataclass
class Request:
    """As the block says; `status`: of the good answer."""

    method: str
    path: str
    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    query: list[tuple[str, str]] = field(default_factory=list)
    form: list[tuple[str, str]] = field(default_factory=list)
    parts: list[tuple[str, str]] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    basic: tuple[str, str] | None = None
    json: str = ""
    shows: str = "json"

    @property
    def is_multipart(self) -> bool:
        return bool(self.parts or self.files)


def parse(block: str) -> Request:
    """Return the request. Raises ValueError for an unknown line."""
    first, *lines = block.strip().splitlines()
    method, _, rest = first.partition(" ")
    path, _, status = rest.rpartition(" ")  # a place for the reader's id has spaces
    request = Request(method, path, int(status))
    pairs = {"query": request.query, "form": request.form, "part": request.parts, "file": request.files}
    separators = dict.fromkeys(pairs, "=") | {"header": ": ", "basic": ":"}
    for line in lines:
        kind, _, rest = line.partition(" ")
        name, _, value = rest.partition(separators.get(kind, "\n"))
        if kind in pairs:
            pairs[kind].append((name, value))
        elif kind == "header":
            request.headers.append((name, value))
        elif kind == "bearer":
            request.headers.append(("Authorization", f"Bearer {rest}"))
        elif kind == "basic":
            request.basic = (name, value)
        elif kind == "json":
            request.json = rest
        elif kind == "shows":
            request.shows = rest
        else:
            raise ValueError(f"Unknown line of a request: {kind} {rest}")
    return request


def is_variable(piece: str) -> bool:
    return piece.startswith("$")


def pieces(text: str) -> list[str]:
    """Return literal text, `$NAME` and `{{ reader.name }}` as separate pieces."""
    return [piece for piece in _PIECES.split(text) if piece]


def encoded(text: str) -> str:
    """Encode for a URL's query. What is put in later needs no encoding: ids, names, keys hold letters, digits, ._-"""
    return "".join(piece if _PIECES.fullmatch(piece) else quote(piece, safe="") for piece in pieces(text))


def url_of(request: Request, base_url: str, *, with_query: bool) -> str:
    if not (with_query and request.query):
        return f"{base_url}{request.path}"
    return f"{base_url}{request.path}?{'&'.join(f'{name}={encoded(value)}' for name, value in request.query)}"


_WIDE = 70  # characters; longer dictionaries take a line for each item
_BARE = re.compile(r"[A-Za-z_]\w*\Z")


def shell(request: Request, base_url: str) -> str:
    """Return a call of curl, 7.76 or newer."""
    is_spread = request.method == "GET" and bool(request.query)  # a line for each parameter
    url = _shell_text(url_of(request, base_url, with_query=not is_spread))
    options = [f"--data-urlencode {_shell_text(f'{name}={value}')}" for name, value in request.query * is_spread]
    options.append(_SHELL_MODES.get(request.shows, "--fail-with-body"))
    has_body = request.form or request.json or request.is_multipart
    if request.method not in ("GET", "POST") or (request.method == "POST" and not has_body):
        options.append(f"--request {request.method}")
    if request.basic:
        options.append(f"--user {_shell_text(':'.join(request.basic))}")
    options += [f"--header {_shell_text(f'{name}: {value}')}" for name, value in request.headers]
    options += [f"--data-urlencode {_shell_text(f'{name}={value}')}" for name, value in request.form]
    options += [f"--form-string {_shell_text(f'{name}={value}')}" for name, value in request.parts]
    options += [f"--form {_shell_text(f'{name}=@{value}')}" for name, value in request.files]
    if request.json:
        quoted = request.json.replace("'", r"'\''")
        options += ['--header "Content-Type: application/json"', f"--data '{quoted}'"]
    return " \\\n  ".join([f"curl {'--get ' * is_spread}{url}", *options])


def python(request: Request, base_url: str) -> str:
    """Return a program for the library requests."""
    arguments = [_python_text(url_of(request, base_url, with_query=False))]
    arguments += _python_pairs("params", request.query) + _python_pairs("headers", request.headers)
    arguments += _python_pairs("data", request.form or request.parts)
    if request.basic:
        arguments.append(f"auth=({', '.join(_python_text(part) for part in request.basic)})")
    if request.json:
        written = repr(json.loads(request.json)).replace("'", '"')
        arguments.append(f"json={written}")
    opened = [f'"{name}": open("{path}", "rb")' for name, path in request.files]
    arguments += [f"files={{{', '.join(opened)}}}"] if opened else []
    arguments += [_PYTHON_MODES[request.shows]] if request.shows in _PYTHON_MODES else []
    arguments.append("timeout=30")
    call = "\n".join(f"    {argument}," for argument in arguments)
    text = f"response = requests.{request.method.lower()}(\n{call}\n)\nresponse.raise_for_status()\n"
    text += _PYTHON_ENDS[request.shows]
    imports = "import os\n\nimport requests\n\n" if "os.environ" in text else "import requests\n\n"
    return imports + text


def javascript(request: Request, base_url: str) -> str:
    """Return a module for Node 20 or newer."""
    lines, body = _javascript_body(request)
    options = [f'method: "{request.method}",'] if request.method != "GET" else []
    headers = [f"{_javascript_name(name)}: {_javascript_text(value)}," for name, value in request.headers]
    if request.basic:
        joined = f'{_javascript_text(request.basic[0])} + ":" + {_javascript_text(request.basic[1])}'
        headers.append(f'Authorization: "Basic " + btoa({joined}),')
    headers += ['"Content-Type": "application/json",'] if request.json else []
    options += ["headers: {", *(f"  {line}" for line in headers), "},"] if headers else []
    options += [body] if body else []
    options += ['redirect: "manual",'] if request.shows == "location" else []
    url = _javascript_text(url_of(request, base_url, with_query=True))
    call = f"{url}, {{\n{_indented(options)}\n}}" if options else url
    lines.append(f"const response = await fetch({call});")
    if request.shows != "location":
        lines.append("if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);")
    return "\n".join(lines) + f"\n{_JAVASCRIPT_ENDS[request.shows]}"


LANGUAGES: Mapping[str, Callable[[Request, str], str]] = MappingProxyType(
    {"sh": shell, "python": python, "js": javascript}
)

_SHELL_MODES = {
    "lines": "--no-buffer --fail-with-body",
    "location": "--silent --output /dev/null --write-out '%{redirect_url}\\n'",
    "status": "--fail-with-body --write-out '%{http_code}\\n'",
}
_PYTHON_MODES = {"location": "allow_redirects=False", "lines": "stream=True"}
_PYTHON_ENDS = {
    "json": "print(response.json())",
    "status": "print(response.status_code)",
    "location": 'print(response.headers["Location"])',
    "lines": "for line in response.iter_lines(decode_unicode=True):\n    print(line, flush=True)",
}
_JAVASCRIPT_ENDS = {
    "json": "console.log(JSON.stringify(await response.json(), null, 2));",
    "status": "console.log(response.status);",
    "location": 'console.log(response.headers.get("Location"));',
    "lines": "for await (const part of response.body.pipeThrough(new TextDecoderStream())) {\n"
    "  process.stdout.write(part);\n}",
}


def _shell_text(text: str) -> str:
    """Return text in double quotes, so that variables are read."""
    return '"' + "".join(p if is_variable(p) else re.sub(r'([\\"`$])', r"\\\1", p) for p in pieces(text)) + '"'


def _python_text(text: str) -> str:
    return _text(text, 'os.environ["%s"]', "{os.environ['%s']}", 'f"%s"')


def _text(text: str, alone: str, inside: str, whole: str) -> str:
    """Return a text of a program. `alone` and `inside`: a variable as the whole text, and in a text, of the form
    `whole`."""
    parts = pieces(text)
    if not any(map(is_variable, parts)):
        return json.dumps(text)
    if len(parts) == 1:
        return alone % text[1:]
    return whole % "".join(inside % part[1:] if is_variable(part) else part for part in parts)


def _python_pairs(name: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    items = [f"{json.dumps(key)}: {_python_text(value)}" for key, value in pairs]
    if sum(map(len, items)) > _WIDE:
        inner = "".join(f"        {item},\n" for item in items)
        return [f"{name}={{\n{inner}    }}"]
    return [f"{name}={{{', '.join(items)}}}"] if items else []


def _javascript_name(name: str) -> str:
    return name if _BARE.match(name) else json.dumps(name)


def _javascript_text(text: str) -> str:
    return _text(text, "process.env.%s", "${process.env.%s}", "`%s`")


def _javascript_body(request: Request) -> tuple[list[str], str]:
    """Return the lines before the call, and the option."""
    if request.json:
        return [], f"body: JSON.stringify({request.json}),"
    if request.form:
        inner = [f"{_javascript_name(name)}: {_javascript_text(value)}," for name, value in request.form]
        return [], "body: new URLSearchParams({\n" + _indented(inner) + "\n}),"
    if not request.is_multipart:
        return [], ""
    lines = ['import { openAsBlob } from "node:fs";', "", "const form = new FormData();"]
    lines += [f'form.append("{name}", {_javascript_text(value)});' for name, value in request.parts]
    lines += [f'form.append("{name}", await openAsBlob("{path}"), "{path}");' for name, path in request.files]
    return [*lines, ""], "body: form,"


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {part}" for line in lines for part in line.split("\n"))
