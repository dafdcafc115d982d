"""Compiled serializers say what Django REST framework makes of their fields: of everything that an invented population
shows, and of values that no table holds."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework import serializers

from accounts.models import User
from demo.population import growth
from infrastructure.requests.compiled_serializer import CompiledSerializer, compiled
from infrastructure.timestamps import iso
from lookup.documents import queries, registry, resolve
from lookup.documents.resolve import Parts
from lookup.models import Profile
from lookup.serializers import current, earlier, fields
from lookup.serializers.rows import WholeProfile

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MEMBERS = 300
EDGES = (None, 0, 1, True, False, 1.0, 0.5, "", "x", "\ud800", "\N{GRINNING FACE}", 2**70, (), ("a", None), NOW)
Form = type[CompiledSerializer[Any]]
Rows = dict[Form, list[Any]]  # Any: the rows of a form
# Any: fields of every form
_SKILLS: Any = registry.SECTION_FORMS["ABOUT_ME"].fields["skills"]
SKILLS: Form = type(_SKILLS)
CUSTOM_SKILL: Form = type(_SKILLS.fields["custom"].child)


class Changed:
    """A row with another value, or without one. Any: whatever an attribute holds."""

    def __init__(self, row: Any, name: str, *value: Any) -> None:
        self.row, self.name, self.value = row, name, value

    def __getattr__(self, name: str) -> Any:
        if name != self.name:
            return getattr(self.row, name)
        if not self.value:
            raise AttributeError(name)
        return self.value[0]


@pytest.fixture(scope="module")
def shown(module_db: None) -> Rows:
    """What there is of each form in a population, those of nested forms too."""
    growth.grow(users=MEMBERS, now=NOW)
    found: Rows = defaultdict(list)
    for one in queries.load_profiles(list(Profile.objects.values_list("pk", flat=True))):
        _add_current(found, one)
        _add_earlier(found, one)
    for user_id in User.objects.order_by("uid").values_list("pk", flat=True):
        found[current.FeedbackSerializer].append(resolve.read("id", user_id, Parts(has_counters=True), NOW))
        found[current.CommentSerializer] += resolve.read_comments(user_id)
    found[current.AuthorSerializer] = found[current.CommentSerializer]
    return found


def _add_current(found: Rows, one: WholeProfile) -> None:
    found[current.UserSerializer].append(one)
    found[current.ProfileSerializer].append(one.profile)
    found[fields.AssetSerializer] += [asset for name in one.profile.ASSETS if (asset := getattr(one.profile, name))]
    found[current.AliasSerializer] += one.aliases
    found[current.BadgeSerializer] += one.lists["badges"]
    found[current.TierSerializer] += [tier for badge in one.lists["badges"] for tier in badge.tiers]
    found[current.WidgetSerializer] += one.lists["widgets"]
    found[current.AudioSerializer] += one.lists["audios"]
    found[current.BackgroundSerializer] += one.lists["backgrounds"]
    found[current.LinkSerializer] += one.lists["links"]
    found[current.ProjectSerializer] += one.lists["projects"]
    found[current.GalleryItemSerializer] += one.lists["gallery"]
    for section in one.lists["sections"]:
        found[current.SectionSerializer].append(section)
        found[registry.SECTION_SERIALIZERS[section["type"]]].append(section)
        if "skills" in section:
            found[SKILLS].append(section["skills"])
            found[CUSTOM_SKILL] += section["skills"]["custom"]
        found[current.GameSerializer] += section.get("games", [])
        found[current.AnimeItemSerializer] += section.get("anime", [])
        found[current.MediaTitleSerializer] += section.get("media", [])
        found[current.MusicItemSerializer] += section.get("music", [])


def _add_earlier(found: Rows, one: WholeProfile) -> None:
    found[earlier.EarlierUserSerializer].append(one)
    found[earlier.EarlierProfileSerializer].append(one)
    found[earlier.BoardUserSerializer].append(one)
    found[earlier.BoardProfileSerializer].append(one)
    found[earlier.EarlierBadgeSerializer] += one.standard_badges
    for form in (earlier.EarlierCustomBadgeSerializer, earlier.BoardCustomBadgeSerializer):
        found[form] += one.custom_badges
    found[earlier.EarlierLinkSerializer] += one.lists["links"]
    found[earlier.BoardLinkSerializer] += one.lists["links"]
    found[earlier.EarlierAudioSerializer] += one.lists["audios"]
    found[earlier.BoardAudioSerializer] += one.lists["audios"]
    found[earlier.EarlierBackgroundSerializer] += one.lists["backgrounds"]


def _forms() -> set[Form]:
    """Every compiled serializer of the lookups."""
    named = [vars(module).values() for module in (current, earlier, fields)]
    return {
        value
        for value in itertools.chain(*named, registry.SECTION_SERIALIZERS.values(), (SKILLS, CUSTOM_SKILL))
        if isinstance(value, type) and issubclass(value, CompiledSerializer) and value is not CompiledSerializer
    }


def _said(represent: Callable[[Any], object], row: Any) -> str:
    """As text: the order of keys and the types of values count. Any: a row of any form."""
    try:
        return json.dumps(represent(row), default=repr)
    except Exception as error:
        return type(error).__name__


def _differences(form: Form, found: Iterable[Any]) -> list[tuple[str, str]]:
    """What the compiled function and the fields say where it is not the same. Any: rows of the form."""
    of_fields = form()

    def slow(row: Any) -> object:
        return serializers.Serializer.to_representation(of_fields, row)

    said = [(_said(compiled(form), row), _said(slow, row)) for row in found]
    return [(one, other) for one, other in said if one != other]


def test_every_form_says_of_a_population_what_its_fields_say(shown: Rows) -> None:
    assert {form for form, found in shown.items() if found} == _forms()
    assert {form.__name__: found for form, listed in shown.items() if (found := _differences(form, listed))} == {}


def test_every_form_says_of_other_values_what_its_fields_say(shown: Rows) -> None:
    """Any: rows of the form."""
    for form, listed in shown.items():
        names = {field.source_attrs[0] for field in form()._readable_fields if field.source_attrs}
        row = listed[0]
        changed: list[Any]
        if isinstance(row, dict):
            changed = [{**row, name: value} for name in names for value in EDGES]
            changed += [{key: value for key, value in row.items() if key != name} for name in names]
        else:
            changed = [Changed(row, name, value) for name in names for value in EDGES]
            changed += [Changed(row, name) for name in names]
        assert _differences(form, changed) == [], form.__name__


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "12:00:00.000Z"), (999, "12:00:00.000Z"), (1000, "12:00:00.001Z"), (999_999, "12:00:00.999Z")],
)
def test_a_timestamp_always_has_three_decimals(microsecond: int, text: str) -> None:
    assert iso(NOW.replace(microsecond=microsecond)) == f"2026-03-01T{text}"
