"""Rows that are built without Django's constructor are the rows that it makes; collections are as before after them."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from django.db.models import Model

from accounts.models import User
from infrastructure.databases import bulk
from lookup.models import Asset, Badge, Link, Profile, Section

OWNER, ICON = User(username="ada"), Asset(path="a.png", mime="image/png")
PROFILE = Profile(user=OWNER)


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (Link, {"id": "1", "profile": PROFILE, "icon": ICON, "title": "Music", "created_at": None}),
        (Link, {"id": "2", "profile_id": PROFILE.pk, "icon": None, "created_at": None}),
        (Section, {"id": "3", "profile": PROFILE, "type": "GALLERY", "created_at": None}),
    ],
)
def test_a_row_is_built_as_the_constructor_makes_it(model: type[Model], values: dict[str, Any]) -> None:
    names = {field.name for field in model._meta.concrete_fields}
    values = {name: value for name, value in values.items() if name in names or name == "profile_id"}
    built, made = bulk.build(model, **values), model(**values)
    columns = [field.attname for field in model._meta.concrete_fields]
    assert {name: getattr(built, name) for name in columns} == {name: getattr(made, name) for name in columns}
    assert built._state.fields_cache == made._state.fields_cache
    assert (built._state.adding, built._state.db) == (True, None)


def test_each_row_has_defaults_of_its_own() -> None:
    one, other = bulk.build(Section, profile=PROFILE), bulk.build(Section, profile=PROFILE)
    assert one.pk != other.pk
    assert one.config is not other.config


@pytest.mark.django_db
def test_rows_are_inserted_while_the_next_ones_are_made() -> None:
    badges = [bulk.build(Badge, id=name, name=name, image="a.svg") for name in ("early", "late")]
    bulk.insert(badge for badge in badges)
    bulk.insert(iter(()))
    assert [(badge._state.adding, badge._state.db) for badge in badges] == [(False, "default")] * 2
    assert set(Badge.objects.filter(pk__in=["early", "late"])) == set(badges)


def test_the_collector_is_as_before_after_a_command() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), bulk.rare_collections():
        assert gc.get_threshold() != before
        raise KeyError
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_the_collector_is_as_before_after_commands_that_overlap() -> None:
    before = gc.get_threshold()
    first, second = bulk.rare_collections(), bulk.rare_collections()
    for one in (first, second):
        one.__enter__()
    for one in (first, second):
        one.__exit__(None, None, None)
    assert gc.get_threshold() == before
