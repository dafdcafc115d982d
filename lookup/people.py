"""Find people by the beginning of their username, an alias or a display name, without case and accents.

On PostgreSQL each part walks along an index for prefixes, in its order; on SQLite it reads the table. The values are in
sub-selects, so that no plan depends on them: PostgreSQL then keeps one, and a search takes a quarter of the time.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from django.db import connection

from infrastructure import text_rules
from infrastructure.databases.statements import Statement

# The columns of PersonRow. `profile`: SQL for the display name of the profile.
PERSON = """u.id, u.username, COALESCE(NULLIF({profile}, ''), NULLIF(u.display_name, ''), u.username), u.is_verified,
    d.avatar_path, d.mirrors_chat"""
PERSON_TYPES = "sssbsb"
LAST = "\U0010ffff"  # after every other character
# Compares as an index for prefixes does, with every collation of the database.
_OPERATORS = {"postgresql": ("~>=~", "~<~", "USING ~<~"), "sqlite": (">=", "<", "")}

# The bound of a.name_id tells a merge join where to begin in the index of aliases.
_NAMES = """
    SELECT n.name, CASE WHEN NOT a.redirects AND a.profile_id IS NOT NULL THEN n.name ELSE '' END, {person}
    FROM accounts_name n
    JOIN accounts_user u ON u.id = n.user_id AND u.is_active AND u.public_api_access
    JOIN lookup_userdocument f ON f.user_id = u.id
    LEFT JOIN lookup_alias a ON a.name_id = n.key AND a.name_id {from_} (SELECT upper(CAST($1 AS text)))
    JOIN lookup_profile p ON p.id =
        CASE WHEN a.redirects OR a.profile_id IS NULL THEN f.profile_id ELSE a.profile_id END
    JOIN lookup_profiledocument d ON d.profile_id = p.id
    WHERE {found}
"""
_ACCOUNTS = """
    SELECT u.display_name, '', {person}
    FROM accounts_user u
    JOIN lookup_userdocument f ON f.user_id = u.id
    JOIN lookup_profile p ON p.id = f.profile_id
    JOIN lookup_profiledocument d ON d.profile_id = p.id
    WHERE u.display_name_folded > '' AND u.is_active AND u.public_api_access AND {found}
"""
_PROFILES = """
    SELECT p.display_name, CASE WHEN p.is_main THEN '' ELSE n.name END, {person}
    FROM lookup_profile p
    JOIN accounts_user u ON u.id = p.user_id AND u.is_active AND u.public_api_access
    LEFT JOIN lookup_alias a ON a.profile_id = p.id
    LEFT JOIN accounts_name n ON n.key = a.name_id
    JOIN lookup_profiledocument d ON d.profile_id = p.id
    WHERE p.display_name_folded > '' AND (p.is_main OR NOT a.redirects) AND {found}
"""


class PersonRow(NamedTuple):
    """A user as lists of people show them. `display_name`: of the profile, else of the account, else the username."""

    id: str
    username: str
    display_name: str
    is_verified: bool
    avatar_path: str
    mirrors_chat: bool


class Match(NamedTuple):
    """`found`: the name that begins so. `page`: an alias with a profile of its own, whose page it is; else empty."""

    found: str
    page: str
    person: PersonRow


def _statement(vendor: str) -> Statement:
    """Return all three parts as one statement, in their order."""
    from_, before, order = _OPERATORS[vendor]
    parts = []
    keys = ("n.key", "u.display_name_folded", "p.display_name_folded")
    for text, part in zip(keys, (_NAMES, _ACCOUNTS, _PROFILES), strict=True):
        first, last = (f"CAST({it} AS text)" for it in ("$1", "$2"))
        if text == "n.key":
            first, last = f"upper({first})", f"upper({last})"
        found = f"{text} {from_} (SELECT {first}) AND {text} {before} (SELECT {last})"
        found += f" ORDER BY {text} {order} LIMIT (SELECT CAST($3 AS bigint))"
        parts.append(part.format(person=PERSON.format(profile="p.display_name"), found=found, from_=from_))
    numbered = (f"SELECT {number}, part{number}.* FROM ({part}) part{number}" for number, part in enumerate(parts))
    return Statement(" UNION ALL ".join(numbered), f"iss{PERSON_TYPES}")


_SEARCH = _statement(connection.vendor)


def find(text: str, limit: int) -> tuple[list[Match], bool]:
    """Return at most `limit` pages of visible users, and whether there are more: names first, then display names, each
    in order, which begins with the exact one. 1 query."""
    text = text_rules.folded(text)
    rows = _SEARCH.all(text, f"{text}{LAST}", limit + 1)
    found: dict[tuple[str, str], Match] = {}
    for _, name, page, *person in rows:
        match = Match(name, page, PersonRow._make(person))
        found.setdefault((match.person.id, page), match)
    matches = list(found.values())
    is_cut = max(Counter(part for part, *_ in rows).values(), default=0) > limit
    return matches[:limit], is_cut or len(matches) > limit
