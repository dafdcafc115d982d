"""A user's folder rules: an ordered list, in which the first match wins.

Every change locks the list first, which serializes changes, and leaves the positions numbered from 0 without a gap.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q

from accounts import users
from accounts.models import User
from imagehost import media, names
from imagehost.models import MAX_PATTERN_LENGTH, File, Folder, FolderRule, MatchKind
from infrastructure import text_rules

MAX_RULES = 100
_TYPES = ("image/*", "video/*", *media.BY_MIME)
_EXTENSIONS = tuple(type_.extension for type_ in media.ALL)
_NAMES = {**{type_.extension: type_ for type_ in media.ALL}, "jpeg": media.JPEG}


@dataclass(frozen=True)
class Route:
    """The rule that an unsaved file follows; None: none matches, it goes to the root. `place`: the rule's, from 1."""

    file: File
    rule: FolderRule | None
    place: int | None
    is_type_guessed: bool


def problems(*, kind: str, pattern: str) -> dict[str, list[str]]:
    """Return the validation errors of these values, by argument; empty where they are valid."""
    if kind not in MatchKind.values:
        return {"kind": [f"Choose one of {', '.join(MatchKind.values)}."]}
    sentence = _pattern_problem(kind, names.stored_pattern(kind, pattern))
    return {"pattern": [sentence]} if sentence else {}


def lock(owner: User, folder_id: str = "") -> dict[str, Folder]:
    """Lock the owner's list for the transaction; return the owner's folders that are locked with it, by id.

    It locks the user's row first, since an empty list has no row, then the folders of the rules and `folder_id`, so
    that no folder with rules is deleted concurrently. 2 queries.
    """
    users.lock(owner.pk)
    named = Q(pk__in=FolderRule.objects.filter(owner=owner).values("folder"))
    if not text_rules.find_unstorable(folder_id):
        named |= Q(pk=folder_id)
    locked = Folder.objects.select_for_update(no_key=True).filter(named, owner=owner)
    return {folder.pk: folder for folder in locked.order_by("pk")}


@transaction.atomic
def add(*, owner: User, kind: str, pattern: str, folder_id: str) -> FolderRule:
    """Append a rule. ValidationError by argument, as `problems` returns them, and for an unknown folder."""
    folders = lock(owner, folder_id)
    held = list(FolderRule.objects.of(owner.pk))
    if len(held) >= MAX_RULES:
        raise ValidationError(f"There can be at most {MAX_RULES} rules. Delete one first.")
    rule = _made(owner, folders, kind, pattern, folder_id)
    _number([*held, rule])
    rule.save(force_insert=True)
    return rule


@transaction.atomic
def change(
    *,
    rule: FolderRule,
    kind: str,
    pattern: str,
    folder_id: str,
    check: Callable[[FolderRule], None] | None = None,
) -> FolderRule:
    """Change a rule, which keeps its place. ValidationError as `add`; FolderRule.DoesNotExist.

    `check` gets the rule of the locked list before the change, and may raise.
    """
    folders = lock(rule.owner, folder_id)
    held = FolderRule.objects.get(pk=rule.pk, owner=rule.owner)
    if check is not None:
        check(held)
    made = _made(rule.owner, folders, kind, pattern, folder_id)
    made.pk, made.position = held.pk, held.position
    made.save(force_update=True)
    return made


@transaction.atomic
def move(*, owner: User, rule_id: int, places: int) -> None:
    """Move a rule up (`places` negative) or down, at most to an end. FolderRule.DoesNotExist: not the owner's."""
    lock(owner)
    held = list(FolderRule.objects.of(owner.pk))
    at = _place_of(rule_id, held)
    rule = held.pop(at)
    held.insert(max(0, at + places), rule)
    _number(held)


@transaction.atomic
def delete(*, owner: User, rule_id: int) -> None:
    """Delete a rule; files stay in their folders. FolderRule.DoesNotExist: not the owner's."""
    lock(owner)
    held = list(FolderRule.objects.of(owner.pk))
    rule = held.pop(_place_of(rule_id, held))
    FolderRule.objects.filter(pk=rule.pk).delete()
    _number(held)


def which_folder(*, owner: User, name: str, mime: str = "") -> Route:
    """Return the rule that a file of this name and type follows. 1 query.

    Without `mime` the type follows from the name's extension; that of an upload follows from its content.
    ValidationError by argument: no accepted type.
    """
    _, dot, ending = name.rpartition(".")
    type_ = media.BY_MIME.get(mime) if mime else _NAMES.get(ending.lower()) if dot else None
    if type_ is None:
        raise ValidationError({"mime": "Choose a type: the name's ending does not tell one that can be uploaded."})
    file = File(mime=type_.mime, extension=type_.extension, original_name=name)
    found = enumerate(FolderRule.objects.of(owner.pk), 1)
    place, rule = next(((place, rule) for place, rule in found if rule.matches(file)), (None, None))
    return Route(file, rule, place, is_type_guessed=not mime)


def _made(owner: User, folders: Mapping[str, Folder], kind: str, pattern: str, folder_id: str) -> FolderRule:
    """Return a valid rule, unsaved. Raises ValidationError."""
    if found := problems(kind=kind, pattern=pattern):
        raise ValidationError(found)
    if folder_id not in folders:
        raise ValidationError({"folder_id": "There is no such folder."})
    return FolderRule(
        owner=owner, folder=folders[folder_id], kind=kind, pattern=names.stored_pattern(kind, pattern), position=0
    )


def _place_of(rule_id: int, held: Sequence[FolderRule]) -> int:
    place = next((place for place, rule in enumerate(held) if rule.pk == rule_id), None)
    if place is None:
        raise FolderRule.DoesNotExist
    return place


def _number(held: Sequence[FolderRule]) -> None:
    """Save this order as positions 0 to n-1, in two steps: two rows may never share a position."""
    stored = [rule for rule in held if not rule._state.adding]
    is_moved = any(rule.position != place for place, rule in enumerate(held) if not rule._state.adding)
    beyond = max((rule.position for rule in stored), default=0) + len(held)
    for place, rule in enumerate(held):
        rule.position = place
    if is_moved:
        FolderRule.objects.filter(pk__in=[rule.pk for rule in stored]).update(position=F("position") + beyond)
        FolderRule.objects.bulk_update(stored, ["position"])


def _pattern_problem(kind: str, pattern: str) -> str:
    """Return the error of a pattern that `names.stored_pattern` returned; empty where it is valid."""
    if not pattern:
        return "Say what to match."
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"Use at most {MAX_PATTERN_LENGTH} characters."
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in pattern):
        return "Leave out line breaks and other control characters."
    if kind == MatchKind.MIME and pattern not in _TYPES:
        return f"No upload has the type {pattern}. Use one of {_listed(_TYPES)}."
    if kind == MatchKind.EXTENSION and pattern not in _EXTENSIONS:
        return f"No upload is stored with the extension {pattern}. Use one of {_listed(_EXTENSIONS)}."
    if kind == MatchKind.FILENAME and ("/" in pattern or "\\" in pattern):
        return "A file name has no folders in it: leave out / and \\."
    return ""


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"
