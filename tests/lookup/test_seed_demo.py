"""manage.py seed_demo: the population from the command line."""

import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from lookup.models import Badge, Game
from lookup.population import growth

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def embedded(settings: Any) -> None:
    settings.EMBEDDED = True


def test_the_command_makes_the_catalogues_alone(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo", users=0)
    assert (User.objects.exists(), Badge.objects.exists(), Game.objects.exists()) == (False, True, True)
    assert capsys.readouterr().out == "Made 0 users; 0 of this seed are there.\n"


def test_the_command_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(growth, "BATCH", 20)
    call_command("seed_demo", users=50)
    told = capsys.readouterr()
    assert told.out == "Made 50 users; 50 of this seed are there.\n"
    lines = told.err.splitlines()
    assert [line.partition(" users")[0] for line in lines] == ["20 of 50", "40 of 50", "50 of 50"]
    assert all(re.fullmatch(r"[\d,]+ of 50 users, [\d,]+ a second, \d+:\d\d left", line) for line in lines)
    assert lines[-1].endswith(" 0:00 left")
    call_command("seed_demo", users=50, seed=2)
    assert User.objects.count() == 100


def test_the_command_asks_before_it_fills_a_production_database(settings: Any) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="--yes"):
        call_command("seed_demo", users=5)
    assert (User.objects.count(), Badge.objects.count()) == (0, 0)
    call_command("seed_demo", users=5, yes=True)
    assert User.objects.count() == 5


def test_the_command_refuses_fewer_than_nobody() -> None:
    with pytest.raises(CommandError, match="0 or more"):
        call_command("seed_demo", users=-1)
