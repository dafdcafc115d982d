"""The list of folder rules: its order, its limits, and whose it is."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.models import User
from imagehost.folders import folders as operations
from imagehost.folders import rules
from imagehost.models import Folder, FolderRule
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.lookup import statements
from tests.support.threads import together

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(db: None) -> Folder:
    return FolderFactory(name="Shots")


def add(folder: Folder, pattern: str = "*", kind: str = "filename") -> FolderRule:
    return rules.add(owner=folder.owner, kind=kind, pattern=pattern, folder_id=folder.pk)


def order_of(owner: User) -> list[tuple[int, str]]:
    return list(FolderRule.objects.filter(owner=owner).order_by("position").values_list("position", "pattern"))


def test_a_new_rule_stands_at_the_end_as_it_is_compared(folder: Folder) -> None:
    FolderRuleFactory(position=0)  # another user's
    add(folder, " .JPEG ", "extension")
    add(folder, "IMAGE/*", "mime")
    rule = add(folder, " My Shot*")
    rule.refresh_from_db()
    assert (rule.owner, rule.folder, rule.kind, rule.pattern, rule.position) == (
        folder.owner,
        folder,
        "filename",
        "My Shot*",
        2,
    )
    assert order_of(folder.owner) == [(0, "jpg"), (1, "image/*"), (2, "My Shot*")]


REFUSED = [
    ("mime", "", "Say what to match."),
    ("filename", "   ", "Say what to match."),
    (
        "mime",
        "application/pdf",
        "No upload has the type application/pdf. Use one of image/*, video/*, image/png, image/jpeg, image/webp, "
        "image/gif, image/avif, video/mp4, video/webm or video/quicktime.",
    ),
    (
        "extension",
        ".heic",
        "No upload is stored with the extension heic. Use one of png, jpg, webp, gif, avif, mp4, webm or mov.",
    ),
    ("filename", "x" * 101, "Use at most 100 characters."),
    ("filename", "a\x00b", "Leave out line breaks and other control characters."),
    ("filename", "a\nb", "Leave out line breaks and other control characters."),
    ("filename", "shots/*", "A file name has no folders in it: leave out / and \\."),
]


TAKEN = [
    *(("mime", "image/jpg"), ("mime", "video/*"), ("extension", "JPEG"), ("extension", "*.mov")),
    *(("filename", "x" * 100), ("filename", "[1] (a|b) ^$ {json:url} <b>&amp;"), ("filename", "\U0001f331\u202e*")),
]


def test_a_pattern_that_can_match_nothing_is_refused_with_its_reason(folder: Folder) -> None:
    refused: list[tuple[str, str, dict[str, list[str]]]] = [
        ("regex", "*", {"kind": ["Choose one of mime, extension, filename."]}),
        *((kind, pattern, {"pattern": [sentence]}) for kind, pattern, sentence in REFUSED),
    ]
    for kind, pattern, problem in refused:
        assert rules.problems(kind=kind, pattern=pattern) == problem
        with pytest.raises(ValidationError) as refusal:
            add(folder, pattern, kind)
        assert refusal.value.message_dict == problem
    assert order_of(folder.owner) == []
    assert [rules.problems(kind=kind, pattern=pattern) for kind, pattern in TAKEN] == [{}] * len(TAKEN)


def test_the_folder_is_one_of_the_owners(folder: Folder) -> None:
    for folder_id in ("", "\x00", "f" * 32, FolderFactory().pk):
        with pytest.raises(ValidationError) as refusal:
            rules.add(owner=folder.owner, kind="filename", pattern="*", folder_id=folder_id)
        assert refusal.value.message_dict == {"folder_id": ["There is no such folder."]}
    assert not FolderRule.objects.exists()


def test_there_are_at_most_a_hundred_rules(folder: Folder) -> None:
    for number in range(99):
        FolderRuleFactory(folder=folder, position=number)
    add(folder, "the hundredth")
    with pytest.raises(ValidationError) as refusal:
        add(folder, "one more")
    assert refusal.value.messages == ["There can be at most 100 rules. Delete one first."]
    assert [position for position, _ in order_of(folder.owner)] == list(range(100))


@pytest.mark.parametrize(
    ("moved", "places", "order"),
    [
        ("a", 1, "bacd"),
        ("d", -1, "abdc"),
        ("c", -1, "acbd"),
        ("a", 99, "bcda"),
        ("d", -99, "dabc"),
        ("b", 0, "abcd"),
    ],
)
def test_a_rule_moves_as_far_as_the_list_goes(folder: Folder, moved: str, places: int, order: str) -> None:
    held = {pattern: add(folder, pattern) for pattern in "abcd"}
    rules.move(owner=folder.owner, rule_id=held[moved].pk, places=places)
    assert order_of(folder.owner) == list(enumerate(order))


def test_a_deleted_rule_leaves_no_gap(folder: Folder) -> None:
    held = {pattern: add(folder, pattern) for pattern in "abcd"}
    rules.delete(owner=folder.owner, rule_id=held["b"].pk)
    assert order_of(folder.owner) == list(enumerate("acd"))


def test_the_gap_that_a_deleted_folder_leaves_closes_with_the_next_change(folder: Folder) -> None:
    other = FolderFactory(owner=folder.owner)
    for pattern in "abcd":
        add(other if pattern in "ac" else folder, pattern)
    other.delete()
    assert order_of(folder.owner) == [(1, "b"), (3, "d")]
    add(folder, "e")
    assert order_of(folder.owner) == list(enumerate("bde"))


def test_a_rule_of_another_user_does_not_exist(folder: Folder) -> None:
    rule, stranger = add(folder), UserFactory()
    with pytest.raises(FolderRule.DoesNotExist):
        rules.move(owner=stranger, rule_id=rule.pk, places=1)
    with pytest.raises(FolderRule.DoesNotExist):
        rules.delete(owner=stranger, rule_id=rule.pk)
    with pytest.raises(FolderRule.DoesNotExist):
        rules.delete(owner=folder.owner, rule_id=10**30)
    assert order_of(folder.owner) == [(0, "*")]


def test_a_rule_changes_in_its_place(folder: Folder) -> None:
    first, other = add(folder, "a"), FolderFactory(owner=folder.owner)
    add(folder, "b")
    rules.change(rule=first, kind="extension", pattern=".GIF", folder_id=other.pk)
    first.refresh_from_db()
    assert (first.kind, first.pattern, first.folder, first.position) == ("extension", "gif", other, 0)
    with pytest.raises(ValidationError):
        rules.change(rule=first, kind="extension", pattern="exe", folder_id=other.pk)
    with pytest.raises(ValidationError):
        rules.change(rule=first, kind="extension", pattern="png", folder_id=FolderFactory().pk)
    rules.delete(owner=folder.owner, rule_id=first.pk)
    with pytest.raises(FolderRule.DoesNotExist):
        rules.change(rule=first, kind="extension", pattern="png", folder_id=other.pk)


@pytest.mark.embedded
def test_a_change_costs_the_same_however_long_the_list_is(folder: Folder) -> None:
    """SAVEPOINT and RELEASE: the test's own transaction. Two locks, the list, the shift, the new places."""
    expected = [
        *("SAVEPOINT", "SELECT accounts_user", "SELECT imagehost_folder", "SELECT imagehost_folderrule"),
        *("UPDATE imagehost_folderrule", "UPDATE imagehost_folderrule", "RELEASE"),
    ]
    held = [add(folder, str(number)) for number in range(2)]
    assert statements.names(lambda: rules.move(owner=folder.owner, rule_id=held[0].pk, places=1)) == expected
    for number in range(10):
        add(folder, f"more {number}")
    assert statements.names(lambda: rules.move(owner=folder.owner, rule_id=held[0].pk, places=-1)) == expected


@pytest.mark.parametrize(
    ("name", "mime", "pattern", "extension"),
    [
        ("photo.png", "", "png", "png"),
        ("photo.JPEG", "", "image/*", "jpg"),
        ("photo.png", "video/mp4", None, "mp4"),
        ("shot 1.webp", "", "shot*", "webp"),
        ("no ending", "image/png", "png", "png"),
        ("clip.mov", "", None, "mov"),
    ],
)
def test_the_tester_names_the_rule_that_wins(
    folder: Folder, name: str, mime: str, pattern: str | None, extension: str
) -> None:
    FolderRuleFactory(folder__name="Of another user", kind="filename", pattern="*")
    for kind, one in (("filename", "shot*"), ("extension", "png"), ("mime", "image/*")):
        add(folder, one, kind)
    route = rules.which_folder(owner=folder.owner, name=name, mime=mime)
    assert (route.file.extension, route.is_type_guessed) == (extension, not mime)
    assert (route.rule.pattern if route.rule else None) == pattern
    assert route.place == ({"shot*": 1, "png": 2, "image/*": 3}[pattern] if pattern else None)


@pytest.mark.parametrize(
    ("name", "mime"), [("x.pdf", ""), ("png", ""), ("x.", ""), ("x.png", "text/html"), ("x.png", "image/jpg")]
)
def test_the_tester_asks_for_a_type_that_can_be_uploaded(name: str, mime: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        rules.which_folder(owner=User(), name=name, mime=mime)
    assert list(refusal.value.message_dict) == ["mime"]


@pytest.mark.embedded
@pytest.mark.parametrize("values", [{"kind": "regex"}, {"pattern": ""}, {"position": 0}])
def test_the_table_itself_refuses(folder: Folder, values: dict[str, object]) -> None:
    add(folder)
    row = {"kind": "filename", "pattern": "*", "position": 1, **values}
    with pytest.raises(IntegrityError), transaction.atomic():
        FolderRule.objects.create(owner=folder.owner, folder=folder, **row)


class TestAtOnce:
    pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

    def test_two_pages_that_change_the_list_at_once_never_break_it(self) -> None:
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

    def test_the_first_rules_of_a_user_may_come_at_once(self) -> None:
        """Into folders of their own, so that only the user's row is there to be locked."""
        first = FolderFactory()
        folders = [first, *FolderFactory.create_batch(3, owner=first.owner)]
        together(4, lambda number: add(folders[number], str(number)))
        assert [position for position, _ in order_of(first.owner)] == list(range(4))

    def test_a_folder_may_go_while_its_list_changes(self) -> None:
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

    def test_pages_at_once_cannot_pass_the_limit(self) -> None:
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
