"""What another process reads ahead comes out as what is read here: lines in their order, refusals by line."""

from __future__ import annotations

import io

import pytest

from accounts.models import User
from infrastructure import worker_processes
from lookup.documents import document_checks
from lookup.transfer import importing
from lookup.transfer.importing import Outcome
from tests.lookup import transfer_files
from tests.lookup.transfer_line import line, second, text_of


def _outcomes(reader: importing.Reader, *, is_check: bool) -> list[Outcome]:
    """Of a file with a refused line, a line that comes twice, and more batches than are read ahead."""
    bad = b'{"version": 1}\n'
    text = text_of(line()).encode() + bad + text_of(second(), line()).encode() + bad * 2 * importing.AHEAD
    return list(importing.run(file=io.BytesIO(text), is_check=is_check, reader=reader))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_check", [True, False])
def test_lines_that_another_process_reads_come_in_order(monkeypatch: pytest.MonkeyPatch, *, is_check: bool) -> None:
    monkeypatch.setattr(importing, "BATCH_LINES", 1)
    assert worker_processes.may_fork()
    ahead = _outcomes(importing.read_ahead, is_check=is_check)
    assert [one.number for one in ahead] == list(range(1, 5 + 2 * importing.AHEAD))
    assert [bool(one.problems) for one in ahead[:4]] == [False, True, False, True]
    assert ahead[3].problems == [("user.id", "Line 1 is of this user.")]
    assert User.objects.exists() is not is_check
    assert list(document_checks.differences()) == []
    transfer_files.wipe()
    assert _outcomes(importing.read_here, is_check=is_check) == ahead


@pytest.mark.django_db
def test_no_process_is_forked_within_a_transaction() -> None:
    assert not worker_processes.may_fork()
