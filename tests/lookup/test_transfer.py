"""Export and import of profiles: what comes out goes in again, and is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accounts.models import AuditEvent, UidCounter, User
from lookup.documents import document_checks
from tests.lookup.filled import Filled
from tests.lookup.transfer_files import answer, export, lines_of, load, wipe

pytestmark = pytest.mark.django_db


@pytest.fixture
def before(filled: Filled) -> str:
    """The export of a service with everything."""
    User.objects.filter(pk=filled.cleo.pk).update(public_api_access=False)
    return export()


def test_a_line_is_the_answer_of_the_lookup(before: str) -> None:
    lines = lines_of(before)
    visible = User.objects.filter(is_active=True, public_api_access=True).order_by("uid")
    assert [line.encode() for line in lines] == [b'{"version":1,' + answer(user.pk)[1:] for user in visible]
    assert [json.loads(line)["user"]["username"] for line in lines] == ["Opal", "Ada", "Ben"]


def test_what_was_exported_is_imported_into_a_fresh_database_byte_for_byte(
    filled: Filled, before: str, tmp_path: Path
) -> None:
    wipe()
    out, err = load(before, tmp_path)
    number = len(lines_of(before))
    assert (out, err) == (f"Imported {number} profiles, {number} of them new.\n", "")
    assert export() == before
    assert list(document_checks.differences()) == []
    assert UidCounter.objects.get().next_uid == filled.cleo.uid + 1  # an author, who has no line
    assert AuditEvent.objects.filter(verb="profile:imported").count() == number
    load(before, tmp_path)
    assert export() == before


def test_the_lines_may_come_in_any_order(before: str, tmp_path: Path) -> None:
    wipe()
    load("\n".join(reversed(lines_of(before))), tmp_path)
    assert export() == before
