"""A user adds the links of a file to those of a profile of theirs. What the profile has stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from accounts.models import User
from infrastructure.text_rules import cleaned_line, has_something_to_see
from lookup.documents import registry
from lookup.editing import content, profiles
from lookup.models import Link, Profile
from lookup.models.content import MAX_URL_LENGTH
from lookup.shapes import platforms
from lookup.shapes.addresses import with_scheme
from lookup.shapes.strict_fields import Problem
from lookup.transfer import link_files
from lookup.transfer.link_files import Entry
from lookup.transfer.own import Changes, ListChanges, Outcome, Row
from lookup.transfer.reading import LineRefused

MAX_TITLE = 128  # characters of the column
MAX_SHOWN = 80  # characters of an address in a note
_SCHEMES = ("http", "https", "mailto")
_HELD, _TWICE = "You have this link already.", "The file has this address twice."
_COLUMNS = ("title", "url", "platform_id", "platform_type")


def look(*, profile: Profile, file: bytes) -> Outcome:
    """Return what `add` would change. Raises LineRefused: the file, or each of its links, with every reason."""
    return add(profile=profile, file=file, digest="", by=profile.user)


def add(*, profile: Profile, file: bytes, digest: str, by: User | None) -> Outcome:
    """Put the links of a file behind those of the profile; links that it has, by address, are left out.

    Nothing is written without changes, or where `digest`, which `look` gave, is of other changes. Raises LineRefused:
    the file, or each of its links, with every reason.
    """
    entries, notes = link_files.read(file)
    with profiles.changing(profile.pk, by=by) as block:
        held = registry.LINKS.rows_of(block.profile.pk)
        rows, refused = _rows(entries, held, block.profile)
        notes += refused
        if not rows and not any(reason.endswith(_HELD) for _, reason in notes):
            raise LineRefused([("", "Has no link that can be added."), *notes])
        added = [Row(Link, values, values) for values in map(_values, rows)]
        outcome = Outcome(Changes([], [], [ListChanges("links", added=added, unchanged=len(held))]), notes)
        if rows and digest == outcome.changes.digest:
            content.extend(content=registry.LINKS, profile=profile, rows=rows, by=by)
            outcome.is_written = True
    return outcome


def text_of(outcome: Outcome) -> str:
    """Return a file of the links that the outcome adds, for the form that confirms them."""
    return link_files.written([(row.entry["url"], row.entry["title"]) for row in outcome.changes.lists[0].added])


def _values(row: Link) -> dict[str, str]:
    return {name: getattr(row, name) for name in _COLUMNS}


def _rows(entries: Iterable[Entry], held: list[Link], profile: Profile) -> tuple[list[Link], list[Problem]]:
    """Return new rows, and the refused entries by place."""
    there = {_key(row.url) for row in held if not row.is_text}
    added: set[tuple[str, ...]] = set()
    rows: list[Link] = []
    notes: list[Problem] = []
    for entry in entries:
        row = Link(profile=profile, url=with_scheme(entry.url[: MAX_URL_LENGTH + 1]))
        key = _key(row.url)
        if problem := _problem(row):
            pass
        elif key in there:
            problem = _HELD
        elif key in added:
            problem = _TWICE
        elif len(held) + len(rows) >= registry.LINKS.limit:
            problem = f"Your list is full: a profile has at most {registry.LINKS.limit} links."
        else:
            _name(row, entry.title)
            rows.append(row)
            added.add(key)
            continue
        notes.append((entry.place, f"{_short(entry.url or entry.title)}: {problem}"))
    return rows, notes


def _name(row: Link, title: str) -> None:
    """Write the title and, of a known address, the platform; without a title, what the address says."""
    known = platforms.of_address(row.url)
    if known:
        row.platform_id, row.platform_type = known.platform_id, known.platform_type
    row.title = _title(title) or _title(known.title if known else _host_of(row.url))


def _problem(row: Link) -> str:
    """Return why the address cannot be a link; empty where it can."""
    if not row.url:
        return "Has no address."
    if len(row.url) > MAX_URL_LENGTH:
        return f"Has more than {MAX_URL_LENGTH:,} characters."
    if row.url.partition(":")[0].lower() not in _SCHEMES:
        return "Only web addresses and email addresses can be links."
    try:
        row.clean_fields(exclude=["profile"])
        row.clean()
    except ValidationError as refusal:
        return " ".join(dict.fromkeys(refusal.messages))
    return ""


def _key(url: str) -> tuple[str, ...]:
    """Return what makes two addresses the same: the scheme of the web, www and a last slash do not matter."""
    try:
        parts = urlsplit(url)
        port = str(parts.port or "")
    except ValueError:  # a link of before today's rules
        return (url,)
    scheme = "web" if parts.scheme in ("http", "https") else parts.scheme
    return (scheme, _host_of(url).lower(), port, parts.path.rstrip("/"), parts.query, parts.fragment)


def _host_of(url: str) -> str:
    """Return the host without www, or the mail address."""
    parts = urlsplit(url)
    return (parts.hostname or parts.path).removeprefix("www.")


def _title(text: str) -> str:
    """Return a title of one line that fits; empty where nothing of it can be seen."""
    line = " ".join(cleaned_line(" ".join(text.split())).split())
    if not has_something_to_see(line):
        return ""
    return _cut(line, MAX_TITLE)


def _short(text: str) -> str:
    return _cut(cleaned_line(text[: 2 * MAX_SHOWN]), MAX_SHOWN)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
