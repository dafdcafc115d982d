"""What an address says about its platform: the table of platforms.toml, and its reader.

A host is compared label by label, so `github.com.example` is not GitHub. An address with a user name before its host, a
port, or letters outside ASCII in its host has no platform: people misread such hosts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

MAX_LENGTH = 2000  # characters of an address
_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}")
_SAME = re.compile(r"^(?:www|m|mobile|old)\.")  # a site has these pages under its own name too
_PART = re.compile(r"\{handle\}\.|\{handle\}|\*")
_PATTERNS = {
    "{handle}.": r"(?P<handle>[a-z0-9-]{1,63})\.",  # a label of the host
    "{handle}": r"(?P<handle>[\w.~-]{1,64})",
    "*": r"[^/]+",
}


@dataclass(frozen=True, slots=True)
class Platform:
    """A row of the table. `addresses`: patterns of `host/path`, or of a path on its own hosts, each with the type of
    what is there. `ids`: the platform ids of types that have another one."""

    id: str
    name: str
    drawing: str
    addresses: tuple[tuple[re.Pattern[str], str], ...]
    ids: dict[str, str]
    at: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What an address says. `platform_id`, `platform_type` and `title` are for the columns of a link; the type is ""
    where the path says none. `name`: of the platform. `drawing`: its id in static/img/platforms.svg."""

    name: str
    platform_id: str
    platform_type: str
    title: str
    drawing: str


def of_address(url: str) -> Found | None:
    """Return what a web address with its scheme (http, https) says about its platform.

    None for an address of no platform in the table, for one that could pass for another host's, and for any other text.
    """
    host, path = _host_and_path(url)
    platform, is_own = _of_host(host)
    if platform is None:
        return None
    for pattern, type_ in platform.addresses:
        match = pattern.fullmatch(f"{host}{path}") or (pattern.fullmatch(path) if is_own else None)
        handle = match.groupdict().get("handle", "") if match else ""
        if match and handle.lower() not in _NO_HANDLES:
            sign = "@" if platform.at else ""
            title = f"{sign}{handle} on {platform.name}" if handle else platform.name
            return Found(platform.name, platform.ids.get(type_, platform.id), type_, title, platform.drawing)
    return Found(platform.name, platform.id, "", platform.name, platform.drawing)


def drawing_of(platform: str, host: str) -> str:
    """Return the id of the drawing for an owner's name of a platform, else for a host; "" where neither is known."""
    if drawing := _WORDS.get(_word(platform)):
        return drawing
    host = host.lower()
    known, _ = _of_host(host) if _HOST.fullmatch(host) else (None, False)
    if known:
        return known.drawing
    return next((_GENERAL[label] for label in _labels(host) if label in _GENERAL), "")


def _host_and_path(url: str) -> tuple[str, str]:
    """Return the host in lower case, and the path without a slash at its end; two empty texts for what is no plain web
    address."""
    if len(url) > MAX_LENGTH or not url.isprintable():
        return "", ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    host = parts.netloc.lower().removesuffix(".") if parts.netloc.isascii() else ""
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        return "", ""
    return _SAME.sub("", host), unquote(parts.path).rstrip("/")


def _of_host(host: str) -> tuple[Platform | None, bool]:
    """Return the platform of the host, or of the longest known host above it, or of the software that a label names;
    and whether the whole site is the platform's."""
    names = host.split(".")
    for start in range(len(names) - 1):
        if platform := _BY_HOST.get(".".join(names[start:])):
            return platform, start == 0
    return next((_BY_LABEL[label] for label in _labels(host) if label in _BY_LABEL), None), True


def _labels(host: str) -> Iterator[str]:
    """Return the labels of the host from right to left, without the last one."""
    return reversed(host.split(".")[:-1])


def _word(text: str) -> str:
    return text.strip().lower().replace(" ", "-")


def _pattern_of(path: str) -> re.Pattern[str]:
    texts, parts = _PART.split(path), [_PATTERNS[part] for part in _PART.findall(path)]
    return re.compile(
        "".join(re.escape(text) + part for text, part in zip(texts, [*parts, ""], strict=True)), re.IGNORECASE
    )


def _platform(pk: str, row: dict[str, Any]) -> Platform:
    paths = [(_pattern_of(path), type_) for type_, found in row.get("paths", {}).items() for path in found]
    return Platform(pk, row["name"], row["drawing"], tuple(paths), row.get("ids", {}), row.get("at", True))


# Any: the tables of the file.
_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ROWS: dict[str, dict[str, Any]] = _TABLE["platforms"]
_NO_HANDLES = frozenset(_TABLE["no_handles"])
PLATFORMS = {pk: _platform(pk, row) for pk, row in _ROWS.items()}
_BY_HOST = {host: PLATFORMS[pk] for pk, row in _ROWS.items() for host in row.get("hosts", ())}
_BY_LABEL = {label: PLATFORMS[pk] for pk, row in _ROWS.items() for label in row.get("labels", ())}
_GENERAL: dict[str, str] = {word: drawing for drawing, words in _TABLE["words"].items() for word in words}
_WORDS: dict[str, str] = _GENERAL | {
    word: row["drawing"] for pk, row in _ROWS.items() for word in (pk, _word(row["name"]), *row.get("also", ()))
}
