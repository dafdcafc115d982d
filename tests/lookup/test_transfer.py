"""Export and import of profiles: what comes out goes in again, and is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.http import QueryDict
from django.utils import timezone

from accounts.models import AuditEvent, UidCounter, User
from lookup import document_checks
from lookup.openapi import INCLUDES
from lookup.views import current
from tests.lookup.transfer_population import export, lines_of, load, populate, wipe

pytestmark = pytest.mark.django_db


def answer(user: User | str) -> bytes:
    """The lookup with all of its includes."""
    query = QueryDict(mutable=True)
    query.update({"type": "id", "value": user if isinstance(user, str) else user.pk})
    query.update(dict.fromkeys(INCLUDES, "true"))
    return current.answer(query, timezone.now())


def test_a_line_is_the_answer_of_the_lookup() -> None:
    populate()
    lines = lines_of(export())
    visible = User.objects.filter(is_active=True, public_api_access=True).order_by("uid")
    assert [line.encode() for line in lines] == [answer(user) for user in visible]
    assert "Dora" not in [json.loads(line)["user"]["username"] for line in lines]


def test_what_was_exported_is_imported_into_a_fresh_database_byte_for_byte(tmp_path: Path) -> None:
    populate()
    before = export()
    next_uid = max(json.loads(line)["user"]["uid"] for line in lines_of(before)) + 1
    wipe()
    out, err = load(before, tmp_path)
    number = len(lines_of(before))
    assert (out, err) == (f"Imported {number} profiles, {number} of them new.\n", "")
    assert export() == before
    assert list(document_checks.differences()) == []
    assert UidCounter.objects.get().next_uid == next_uid
    assert AuditEvent.objects.filter(verb="profile:imported").count() == number


def test_importing_again_changes_nothing(tmp_path: Path) -> None:
    populate()
    before = export()
    out, err = load(before, tmp_path)
    assert (out, err) == (f"Imported {len(lines_of(before))} profiles, 0 of them new.\n", "")
    assert export() == before
    assert list(document_checks.differences()) == []
    wipe()
    for _ in range(2):
        load(before, tmp_path)
        assert export() == before


def test_the_lines_may_come_in_any_order(tmp_path: Path) -> None:
    populate()
    before = export()
    wipe()
    load("\n".join(reversed(lines_of(before))), tmp_path)
    assert export() == before
