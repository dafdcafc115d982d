"""A release that adds a field: stored sections, rendered documents and exports of the release before it stay of use."""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from rest_framework import serializers

from accounts.models import User
from lookup.documents import documents, registry
from lookup.models import Link, ProfileDocument, Section
from lookup.shapes import sections
from lookup.shapes.sections import SectionType
from lookup.shapes.strict_fields import Boolean, Problems, Text, compiled, read_id, read_list, read_object
from lookup.transfer import form, own
from lookup.transfer.reading import LineRefused
from tests.factories.lookup import SectionFactory, main_profile, shown
from tests.lookup.filled import Filled
from tests.lookup.transfer_files import export, load, looked_up, refusal
from tests.lookup.transfer_line import USER, line, text_of

NEWER = "A newer release made this export: this one reads versions up to 1. Import it there."
# The keys that lines of a version hold: a key more is another version.
KEYS = {1: "4fa6e40b"}


@pytest.fixture(autouse=True)
def release() -> Iterator[None]:
    """Another process: the forms are read anew."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for kept in (documents.forms, cast("Any", documents.fingerprint), form._section, form._as_shown):
        kept.cache_clear()


def add_a_field(patched: pytest.MonkeyPatch, type_: str = SectionType.CUSTOM_TEXT) -> None:
    """`mood` of sections of this type, by default "calm"."""
    definition = sections.DEFINITIONS[type_]
    config = {**definition.config, "mood": sections.Field(Text(20), "calm")}
    patched.setitem(sections.DEFINITIONS, type_, dataclasses.replace(definition, config=config))
    patched.setitem(registry.SECTION_FORMS, type_, registry.section_serializer(type_)())
    patched.setattr(documents, "forms", functools.cache(lambda: "of that release"))
    _forget()


def test_other_code_is_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest covers every module that documents are rendered by: a change of rows is a migration."""
    before, read = documents.forms(), list[Path]()

    def read_bytes(path: Path) -> bytes:
        read.append(path)
        return path.read_text().encode() + b" "

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    _forget()
    assert documents.forms() != before
    known = {name for name, module in sys.modules.items() if Path(str(getattr(module, "__file__", ""))) in read}
    assert {"lookup.documents.documents", "lookup.documents.registry"} <= known
    imported = {name for module in known for name in _imports(module) if name.startswith("lookup.")}
    assert {name for name in imported - known if not name.startswith("lookup.models")} == set()


def _imports(name: str) -> Iterator[str]:
    """The modules that a module imports anything from."""
    for node in ast.walk(ast.parse(Path(str(sys.modules[name].__file__)).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [module for module in below if module in sys.modules]
            yield from modules or [node.module]


def test_a_stored_section_is_shown_with_the_default_of_a_field_that_came_later(
    bare: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = SectionFactory(profile=main_profile(bare), type="CUSTOM_TEXT", config={"content": "Me"})
    shown(bare)
    (before,) = json.loads(ProfileDocument.objects.get(user=bare).sections)
    assert before["content"] == "Me"
    add_a_field(monkeypatch)
    (found,) = looked_up(bare.pk)["sections"]
    assert found == {**before, "mood": "calm"}
    assert Section.objects.get(pk=section.pk).config == {"content": "Me"}


@pytest.mark.django_db
@pytest.mark.parametrize("type_", SectionType.values)
def test_an_export_from_before_a_field_is_imported_with_its_default(
    type_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(text_of(line()), tmp_path)
    exported = export()
    stored = Section.objects.get(type=type_).config
    add_a_field(monkeypatch, type_)
    assert export() != exported
    load(exported, tmp_path)
    (found,) = [one for one in looked_up(USER)["sections"] if one["type"] == type_]
    assert found["mood"] == "calm"
    assert Section.objects.get(type=type_).config == {**stored, "mood": "calm"}
    load(export().replace('"mood":"calm"', '"mood":"wild"'), tmp_path)
    assert Section.objects.get(type=type_).config == {**stored, "mood": "wild"}


def test_a_key_that_came_later_has_its_default_in_a_line_without_it() -> None:
    read_it = read_object({"old": Boolean().read, "new": read_list(read_id, 2)}, {"new": []})
    for given, found, said in (
        ({"old": True}, {"old": True, "new": []}, []),
        ({"old": True, "new": [USER]}, {"old": True, "new": [USER]}, []),
        ({"new": []}, None, [("at.old", "Is missing.")]),
        ({"old": True, "other": 1}, None, [("at.other", "Unknown name.")]),
    ):
        problems: Problems = []
        read = read_it(given, "at", problems)
        assert (problems, read if found else None) == (said, found)


def test_a_field_of_a_row_that_came_later_has_the_default_of_its_serializer() -> None:
    class Titled(serializers.Serializer[Link]):
        title = serializers.CharField()
        url = serializers.CharField()

        DEFAULTS = {"title": "Untitled"}

    problems: Problems = []
    read_it = compiled(Titled(), Link)
    assert read_it({"url": "/a"}, "links.0", problems) == {"title": "Untitled", "url": "/a"}
    assert read_it({"url": "/a", "title": "A"}, "links.0", problems) == {"title": "A", "url": "/a"}
    assert problems == []


def test_a_list_that_came_later_is_empty_in_a_line_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert form.defaults() == {"version": 1}
    later = dataclasses.replace(registry.INCLUDES["links"], since=2)
    monkeypatch.setitem(registry.INCLUDES, "links", later)
    assert form.defaults() == {"version": 1, "links": []}


@pytest.mark.django_db
def test_an_export_of_a_newer_release_is_refused_and_says_so(tmp_path: Path) -> None:
    for version in (2, 2.0, 10**30):
        newer = {**line(), "version": version, "key": "of that release"}
        assert refusal(text_of(newer), tmp_path)[0] == f"line 1: version: {NEWER}"
    load(text_of(line()), tmp_path)
    user = User.objects.get(pk=USER)
    with pytest.raises(LineRefused) as refused:
        own.look(user=user, text=text_of({**line(), "version": 2}).encode())
    assert refused.value.problems == [("version", NEWER)]


def test_a_line_with_other_keys_is_of_another_version(filled: Filled) -> None:
    whole = json.loads(own.exported(filled.user))
    keys = "\n".join(sorted(set(_paths(whole, ""))))
    assert KEYS[whole["version"]] == hashlib.sha256(keys.encode()).hexdigest()[:8], keys


def _paths(value: Any, path: str) -> Iterator[str]:
    """Any: JSON."""
    if isinstance(value, list):
        for entry in value:
            yield from _paths(entry, path)
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield f"{path}.{name}"
            yield from _paths(entry, f"{path}.{name}")
