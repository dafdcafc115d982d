"""Several open pages change one list of folder rules at once."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from accounts.models import User
from imagehost.folders import folders as operations
from imagehost.folders import rules
from imagehost.models import Folder, FolderRule
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]


def add(folder: Folder, pattern: str = "*", kind: str = "filename") -> FolderRule:
    return rules.add(owner=folder.owner, kind=kind, pattern=pattern, folder_id=folder.pk)


def order_of(owner: User) -> list[tuple[int, str]]:
    return list(FolderRule.objects.filter(owner=owner).order_by("position").values_list("position", "pattern"))


def test_two_pages_that_change_the_list_at_once_never_break_it() -> None:
    folder = FolderFactory()
    held = [add(folder, str(number)) for number in range(6)]

    def act(number: int) -> None:
        if number < 6:
            rules.move(owner=folder.owner, rule_id=held[number].pk, places=1 if number % 2 else -2)
        else:
            add(folder, f"new {number}")

    together(8, act)
    order = order_of(folder.owner)
    assert [position for position, _ in order] == list(range(8))
    assert sorted(pattern for _, pattern in order) == [*"012345", "new 6", "new 7"]


def test_the_first_rules_of_a_user_may_come_at_once() -> None:
    """Into folders of their own, so that only the user's row is there to be locked."""
    first = FolderFactory()
    folders = [first, *FolderFactory.create_batch(3, owner=first.owner)]
    together(4, lambda number: add(folders[number], str(number)))
    assert [position for position, _ in order_of(first.owner)] == list(range(4))


def test_a_folder_may_go_while_its_list_changes() -> None:
    kept = FolderFactory()
    going = FolderFactory(owner=kept.owner)
    held = [add(folder, f"{folder.name} {number}") for number in range(10) for folder in (kept, going)]

    def act(number: int) -> None:
        if number == 3:
            operations.delete(owner_id=kept.owner_id, folder_id=going.pk)
        else:
            rules.move(owner=kept.owner, rule_id=held[2 * number].pk, places=-5 if number % 2 else 5)

    together(6, act)
    add(kept, "last")
    order = order_of(kept.owner)
    assert [position for position, _ in order] == list(range(11))
    assert {pattern for _, pattern in order} == {"last", *(f"{kept.name} {number}" for number in range(10))}


def test_pages_at_once_cannot_pass_the_limit() -> None:
    folder = FolderFactory()
    for number in range(98):
        FolderRuleFactory(folder=folder, position=number)

    def act(number: int) -> bool:
        try:
            add(folder, f"new {number}")
        except ValidationError:
            return False
        return True

    assert sorted(together(5, act)) == [False, False, False, True, True]
    assert FolderRule.objects.count() == 100
