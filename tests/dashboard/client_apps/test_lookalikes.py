"""Which names the eye takes for one another."""

import pytest

from accounts.models import User
from oidc_provider.applications import application_rules
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory


@pytest.mark.parametrize(
    "name",
    [
        "goblin pool",
        "Goblin-Pool.",
        "G0blin P00l",
        "Gob1in PooI",
        "Gob|!n Pool",
        "Göblin Pööl",
        "G\u043eblin P\u043e\u043el",
        "\uff27oblin Pool",
        "Gobl\u0131n Pool",
        "G\u00f8blin P\u00f8\u00f8l",
        "Gobli\u039d Pool",
    ],
)
def test_these_look_like_goblin_pool(name: str) -> None:
    assert application_rules.skeleton(name) == application_rules.skeleton("Goblin Pool")


@pytest.mark.parametrize("name", ["Goblin Pools", "Pool Goblin", "!?"])
def test_these_do_not(name: str) -> None:
    assert application_rules.skeleton(name) != application_rules.skeleton("Goblin Pool")


@pytest.mark.parametrize("name", ["\u0397\u0395\u0391RTH", "\u0126earth"])
@pytest.mark.django_db
def test_capitals_and_strokes_do_not_hide_the_name_of_the_service(name: str) -> None:
    problems = application_rules.name_problems(name, UserFactory.create())
    assert problems == ["The name looks like that of the service itself, Hearth."]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("\u3164", "The name contains control or invisible characters."),
        ("\U0001d159", "The name contains control or invisible characters."),
        ("My\u2800app", "The name contains control or invisible characters."),
        ("\u0301\u0301", "The name has no visible letter."),
    ],
)
@pytest.mark.django_db
def test_a_name_that_cannot_be_seen_is_refused(name: str, message: str) -> None:
    assert application_rules.name_problems(name, UserFactory.create()) == [message]


@pytest.mark.django_db
def test_a_name_in_another_script_or_of_a_sign_is_none_of_these() -> None:
    owner = UserFactory.create()
    for name in ("\u5bb6\u5ead", "\u0645\u0646\u0632\u0644", "\U0001f525", "???", "Caf\u00e9"):
        assert application_rules.name_problems(name, owner) == []


@pytest.mark.django_db
def test_an_unverified_app_may_be_looked_alike_and_ones_own_verified_app_too() -> None:
    owner: User = UserFactory.create()
    ApplicationFactory.create(name="Goblin Pool")
    ApplicationFactory.create(name="My pool", is_verified=True, user=owner)
    assert application_rules.name_problems("G0blin Pool", owner) == []
    assert application_rules.name_problems("My p00l", owner) == []


@pytest.mark.django_db
def test_names_of_signs_alone_do_not_look_like_one_another() -> None:
    ApplicationFactory.create(name="???", is_verified=True)
    assert application_rules.name_problems("...", UserFactory.create()) == []
