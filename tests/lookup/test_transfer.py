"""Export and import of profiles: what comes out goes in again, and is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accounts.models import AuditEvent, UidCounter, User
from lookup import document_checks
from tests.lookup.transfer_population import answer, export, lines_of, load, populate, wipe

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def before(module_db: None) -> str:
    """The export of a service with everything."""
    populate()
    return export()


def test_a_line_is_the_answer_of_the_lookup(before: str) -> None:
    lines = lines_of(before)
    visible = User.objects.filter(is_active=True, public_api_access=True).order_by("uid")
    assert [line.encode() for line in lines] == [answer(user.pk) for user in visible]
    assert "Dora" not in [json.loads(line)["user"]["username"] for line in lines]


def test_what_was_exported_is_imported_into_a_fresh_database_byte_for_byte(before: str, tmp_path: Path) -> None:
    next_uid = max(json.loads(line)["user"]["uid"] for line in lines_of(before)) + 1
    wipe()
    out, err = load(before, tmp_path)
    number = len(lines_of(before))
    assert (out, err) == (f"Imported {number} profiles, {number} of them new.\n", "")
    assert export() == before
    assert list(document_checks.differences()) == []
    assert UidCounter.objects.get().next_uid == next_uid
    assert AuditEvent.objects.filter(verb="profile:imported").count() == number
    load(before, tmp_path)
    assert export() == before


def test_importing_again_changes_nothing(before: str, tmp_path: Path) -> None:
    out, err = load(before, tmp_path)
    assert (out, err) == (f"Imported {len(lines_of(before))} profiles, 0 of them new.\n", "")
    assert export() == before
    assert list(document_checks.differences()) == []


def test_the_lines_may_come_in_any_order(before: str, tmp_path: Path) -> None:
    wipe()
    load("\n".join(reversed(lines_of(before))), tmp_path)
    assert export() == before
