"""Reads the environment. An invalid value raises ImproperlyConfigured with a sentence for the operator.

Only this package reads `os.environ`. A value may lie in a file: NAME_FILE then names it, as Docker's secrets have it.
"""

import errno
import importlib.util
import json
import logging
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port
from prometheus_client import values

from infrastructure.metrics import process_files

logger = logging.getLogger(__name__)

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def text(name: str, default: str | None = None) -> str:
    """Return the variable's value; without a default it must be set and not empty."""
    value = _given(name)
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"The environment variable {name} must be set.")
    return default


def _given(name: str) -> str:
    """Return the variable's value, or the content of the file that NAME_FILE names; "" where neither is set."""
    value, path = os.environ.get(name, "").strip(), os.environ.get(f"{name}_FILE", "").strip()
    if value and path:
        raise ImproperlyConfigured(f"Set {name} or {name}_FILE, not both.")
    return _content(Path(path), f"{name}_FILE must name a file that can be read") if path else value


def _content(path: Path, rule: str) -> str:
    """Return the text of a file. `rule`: how the sentence begins where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ImproperlyConfigured(f"{rule}: {path}: {reason}.") from None


def flag(name: str, *, default: bool) -> bool:
    """Return a switch: 1, true, yes, on or 0, false, no, off."""
    value = _given(name)
    if not value:
        return default
    if value.lower() in TRUE:
        return True
    if value.lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, true, yes, on, 0, false, no, off; it is {value!r}.")


def refuse(name: str, instead: str) -> None:
    """Raise ImproperlyConfigured where a switch is on that the service no longer has. `instead`: what to do."""
    if (value := _given(name)) and value.lower() not in FALSE:
        raise ImproperlyConfigured(f"{name} is no more: {instead}")


def integer(name: str, default: int, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """Return a whole number, no less than `at_least` and no greater than `at_most`."""
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number; it is {value!r}.") from None
    if at_least is not None and number < at_least:
        raise ImproperlyConfigured(f"{name} must be at least {at_least}; it is {number}.")
    if at_most is not None and number > at_most:
        raise ImproperlyConfigured(f"{name} must be at most {at_most}; it is {number}.")
    return number


def choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """Return one of a few words."""
    value = text(name, default).lower()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}; it is {value!r}.")
    return value


def some_of(name: str, choices: tuple[str, ...]) -> list[str]:
    """Return a list of a few words, separated by commas; empty where the variable is not set."""
    given = [word.lower() for word in words(name)]
    if unknown := next((word for word in given if word not in choices), None):
        raise ImproperlyConfigured(f"{name} must be a list of {', '.join(choices)}; {unknown!r} is none of them.")
    return given


def words(name: str, default: str = "") -> list[str]:
    """Return a list separated by commas."""
    return _split(text(name, "")) or _split(default)


def _split(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def addresses(name: str) -> list[tuple[str, int]]:
    """Return a list of `host:port`, separated by commas; empty where the variable is not set."""
    found = []
    for word in words(name):
        host, _, port = word.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) <= 65_535:
            raise ImproperlyConfigured(f"{name} must be a list of host:port, with commas; {word!r} is none.")
        found.append((host.strip("[]"), int(port)))
    return found


def hosts(name: str) -> list[str]:
    """Return a list of hosts in lower case, each with a port or none, as the Host header has them; no patterns."""
    given = [word.lower() for word in words(name)]
    for word in given:
        if not _is_host(word):
            example = "id.example.org,127.0.0.1:8443,[::1]:8443"
            raise ImproperlyConfigured(f"{name} must be a list of hosts such as {example}; {word!r} is none.")
    return given


def _is_host(word: str) -> bool:
    host, port = split_domain_port(word)
    try:
        is_address = urlsplit(f"//{word}").port != 0
    except ValueError:  # the port, or what the brackets hold
        return False
    return is_address and bool(host) and not host.startswith(".") and word in (host, f"{host}:{port}")


def database_url(name: str) -> str:
    """Return an address of PostgreSQL as libpq reads it: several hosts, and options such as sslmode, may be in it."""
    value = text(name, "")
    if value and not _is_database_url(value):
        raise ImproperlyConfigured(
            f"{name} must be an address such as postgres://user:password@host/name (several hosts: host1,host2). "
            "In a password write @ as %40, / as %2F, : as %3A and % as %25."
        )
    return value


def _is_database_url(value: str) -> bool:
    from psycopg import ProgrammingError, conninfo  # the embedded default has no PostgreSQL

    if not value.startswith(("postgres://", "postgresql://")):
        return False
    try:
        given = conninfo.conninfo_to_dict(value)
    except ProgrammingError:
        return False
    hosts, ports = (str(given.get(part, "")).split(",") for part in ("host", "port"))
    is_port = all(not port or (port.isdecimal() and 0 < int(port[:6]) <= 65_535) for port in ports)
    return bool(given.get("dbname")) and is_port and len(ports) in (1, len(hosts)) and not any("@" in h for h in hosts)


def origin(name: str, default: str) -> str:
    """Return an origin: scheme, host and port, with no path and no trailing slash."""
    value = text(name, default)
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or value != f"{parts.scheme}://{parts.netloc}":
        raise ImproperlyConfigured(f"{name} must be an origin such as https://id.example.org; it is {value!r}.")
    return value


def base_url(name: str, default: str) -> str:
    """Return where other URLs begin: http or https, with a path or none, without query, fragment or trailing slash.

    An empty default: the variable may be left out.
    """
    value = text(name, default)
    if not value:
        return value
    parts = urlsplit(value)
    is_plain = not (parts.query or parts.fragment or parts.username) and not value.endswith(("/", "?", "#"))
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain:
        raise ImproperlyConfigured(f"{name} must be a URL such as https://cdn.example.org/files; it is {value!r}.")
    return value


@dataclass(frozen=True)
class Document:
    """A text of the operator: a page elsewhere (`url`), or `text`. Both empty: there is none."""

    url: str = ""
    text: str = ""
    is_markdown: bool = False

    @property
    def is_published(self) -> bool:
        return bool(self.url or self.text)


def document(name: str) -> Document:
    """Return a web page of the operator, or a file in UTF-8: Markdown where its name ends with .md, else plain text."""
    value = text(name, "")
    if not value:
        return Document()
    if urlsplit(value).scheme in {"http", "https"}:
        return Document(url=value)
    path = Path(value)
    content = _content(path, f"{name} must be a URL, or a file that can be read")
    if not content:
        raise ImproperlyConfigured(f"{name} names an empty file: {value}.")
    return Document(text=content, is_markdown=path.suffix.lower() == ".md")


def require_library(variable: str, name: str) -> None:
    """Raise ImproperlyConfigured where the library that a variable asks for is not installed."""
    try:
        is_installed = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # nor what it is a part of
        is_installed = False
    if not is_installed:
        raise ImproperlyConfigured(
            f"{variable} is set, and the library {name} is not installed: install requirements-observability.lock."
        )


def count_in(directory: Path) -> None:
    """Let prometheus_client keep the values of this process in `directory`.

    It chooses the kind of its values by its environment when it is imported, which may be before the settings.
    """
    try:
        folder = process_files.begin(directory)
    except OSError as error:
        message = f"METRICS_DIR: {directory} cannot be written: {error.strerror or error}."
        if error.errno in (errno.EACCES, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            raise ImproperlyConfigured(message) from None
        logger.warning("%s This process counts for itself.", message)  # a full disk must not keep it from starting
        return
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.get_value_class()


def kept_secret(name: str, directory: Path) -> str:
    """Return a secret that this installation made for itself at its first start, kept in `directory`/secrets.json.

    Only the embedded default uses it; a production start takes its secrets from the environment.
    """
    path = directory / "secrets.json"
    known = _read(path)
    if name not in known:
        directory.mkdir(parents=True, exist_ok=True)
        _add(path, name)
        known = _read(path)
    return known[name]


def _read(path: Path) -> dict[str, str]:
    try:
        return dict(json.loads(path.read_text()))
    except FileNotFoundError:
        return {}
    except ValueError:
        raise ImproperlyConfigured(f"{path} is damaged: restore it, or delete it to start again.") from None


def _add(path: Path, name: str) -> None:
    """Add the secret under a file lock: two processes that start at once agree on one value."""
    lock = path.with_suffix(".lock")
    lock_file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        os.lockf(lock_file, os.F_LOCK, 0)
        known = _read(path)
        known.setdefault(name, secrets.token_urlsafe(48))
        fresh = path.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(known))
        fresh.replace(path)
    finally:
        os.close(lock_file)
