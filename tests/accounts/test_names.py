"""Usernames, aliases and reserved words: one namespace, without regard to case."""

from datetime import timedelta

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, transaction

from accounts import users
from accounts.models import Name, User
from accounts.models.names import RESERVED_NAMES, validate_available
from accounts.sign_up.account_adapter import AccountAdapter
from tests.accounts.clock import NOON
from tests.factories.accounts import AliasFactory, UserFactory

pytestmark = pytest.mark.django_db

ALLOWED = ["a", "0", "Ada-love_lace.x", "x" * 32]
REFUSED = {
    "empty": "",
    "33 characters": "x" * 33,
    "space": "ada lovelace",
    "trailing newline": "ada\n",
    "full-width letter": "\uff41da",
    "long s": "\u017fystem",
    "kelvin sign": "\u212aelvin",
    "zero-width space": "ada\u200b",
}
DOCUMENTED_RESERVED = "api admin accounts dashboard docs static media login .well-known . ..".split()


def names() -> list[tuple[str, str, str]]:
    return list(Name.objects.order_by("key").values_list("key", "name", "user__username"))


@pytest.mark.parametrize("name", ALLOWED)
def test_a_name_of_allowed_characters_is_taken_as_it_was_typed(name: str) -> None:
    assert AccountAdapter().clean_username(name) == name
    assert User.objects.create_user(name).username == name
    assert names() == [(name.upper(), name, name)]


@pytest.mark.embedded
@pytest.mark.parametrize("name", REFUSED.values(), ids=REFUSED.keys())
def test_a_name_with_other_characters_is_refused_by_the_form_and_by_the_database(name: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        AccountAdapter().clean_username(name)
    assert refusal.value.messages == [
        "Use 1 to 32 letters, digits, dots, hyphens or underscores (A-Z, a-z, 0-9, . _ -)."
    ]
    with pytest.raises(DatabaseError), transaction.atomic():
        User.objects.create_user(name)
    assert names() == []


@pytest.mark.parametrize("name", ["api", "..", "Login", ".Well-Known"])
def test_a_reserved_name_is_refused_by_the_form_and_by_the_database(name: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        AccountAdapter().clean_username(name)
    assert refusal.value.messages == ["This name is reserved."]
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(name)
    assert names() == []


def test_every_reserved_name_could_otherwise_be_a_name() -> None:
    assert set(DOCUMENTED_RESERVED) <= set(RESERVED_NAMES)
    for name in RESERVED_NAMES:
        assert AccountAdapter().clean_username(name, shallow=True) == name


@pytest.mark.parametrize("taken_as", ["username", "alias"])
@pytest.mark.parametrize("wanted", ["Ada", "aDA"])
def test_a_taken_name_is_refused_in_any_case_by_the_form_and_by_the_database(taken_as: str, wanted: str) -> None:
    if taken_as == "username":
        UserFactory(username="Ada")
    else:
        AliasFactory(name="Ada")
    before = names()
    with pytest.raises(ValidationError) as refusal:
        AccountAdapter().clean_username(wanted)
    assert refusal.value.messages == ["This name is already taken."]
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(wanted)
    assert names() == before


def test_a_user_is_found_by_its_username_in_any_case() -> None:
    user = UserFactory(username="Ada")
    assert User.objects.by_username("ADA").get() == User.objects.get_by_natural_key("ada") == user


def test_a_name_with_a_nul_byte_is_not_looked_up() -> None:
    validate_available("ada\0")  # forms refuse it, and run all their validators


def test_a_name_that_is_taken_after_the_check_is_a_validation_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "validate_available", lambda name: None)  # as before the other user took it
    UserFactory(username="Taken")
    with pytest.raises(ValidationError, match="already taken"):
        users.rename(user=UserFactory(), username="taken", by=None)
    with pytest.raises(ValidationError, match="already taken"):
        users.create(username="taken", email="new@example.org", password="a long pass phrase", by=None)


def test_the_next_rename_is_possible_from_the_time_that_the_page_shows() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        ada = UserFactory(username="Ada")
        user = users.rename(user=ada, username="Grace", by=ada)
        again_at = NOON + timedelta(days=5)
        assert users.renamable_at(user) == again_at
        clock.move_to(again_at - timedelta(microseconds=1))
        with pytest.raises(ValidationError, match="every 5 days"):
            users.rename(user=user, username="Alan", by=user)
        clock.move_to(again_at)
        assert users.renamable_at(user) is None
        assert users.rename(user=user, username="Alan", by=user).username == "Alan"


def test_a_rename_moves_the_name_and_frees_the_old_one() -> None:
    user = UserFactory(username="Ada")
    user.username = "Countess"
    user.save()
    assert names() == [("COUNTESS", "Countess", "Countess")]
    UserFactory(username="ADA", email="another@example.org")
    assert names() == [("ADA", "ADA", "ADA"), ("COUNTESS", "Countess", "Countess")]


def test_a_rename_may_change_nothing_but_the_case() -> None:
    user = UserFactory(username="ada")
    user.username = "ADA"
    user.save(update_fields=["username"])
    assert names() == [("ADA", "ADA", "ADA")]


def test_a_deleted_user_frees_its_username_and_its_aliases() -> None:
    user = UserFactory(username="Ada")
    AliasFactory(name="Countess", user=user)
    user.delete()
    assert names() == []
