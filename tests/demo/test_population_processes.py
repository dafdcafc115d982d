"""A population that several processes make is the one that a single process makes."""

from __future__ import annotations

import pytest

from accounts.models import User
from accounts.models.users import UidCounter
from demo.population import growth
from infrastructure import worker_processes
from lookup.documents import document_checks
from tests.demo.test_population_growth import NOW, Export, export


def _made_by(processes: int) -> Export:
    assert worker_processes.may_fork()
    assert growth.grow(users=60, now=NOW, processes=processes) == 60
    assert list(document_checks.differences()) == []
    found = export()
    User.objects.all().delete()
    UidCounter.objects.all().delete()
    return found


@pytest.mark.django_db(transaction=True)
def test_batches_that_several_processes_make_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, linked accounts and authors of the batches before count, written or not."""
    monkeypatch.setattr(growth, "BATCH", 3)
    alone = _made_by(1)
    assert _made_by(2) == alone
    assert _made_by(3) == alone
