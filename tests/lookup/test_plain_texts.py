"""Control characters, bidirectional overrides, user info and too many tags are refused at every door of a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models

from accounts.models import User
from infrastructure.databases.folding import FoldedField
from infrastructure.text_rules import validate_line, validate_text, validate_web_address
from lookup.documents import registry
from lookup.editing import content, profiles
from lookup.shapes import sections, settings_schema
from lookup.social import comments
from tests.factories.lookup import main_profile
from tests.lookup.test_transfer_errors import problems_of
from tests.lookup.transfer_files import export, load
from tests.lookup.transfer_line import changed, line, put, text_of

UNSAFE = "Contains a control character or a bidirectional override (U+{}); remove it."
FILLER, NOTHING = "\u3164 \u2800", "Contains nothing that can be seen; write letters, digits, signs or emoji."
USER_INFO = "Remove the user name or password before the host."
EVIL = "https://bank.example@evil.example/"
# Columns that no person writes: rendered texts, keys, hashes and codes of our own.
NOT_WRITTEN = {"UserDocument", "ProfileDocument", "Visit", "VisitSalt", "VisitBatch", "ProfileDay"}


def _has_rule(field: models.Field[Any, Any]) -> bool:
    """Any: of whatever type the column is."""
    return any(rule in field.validators for rule in (validate_line, validate_text, validate_web_address))


def test_every_column_that_people_write_has_the_rule() -> None:
    """Or a rule of its own, which allows less."""
    without = [
        f"{model.__name__}.{field.name}"
        for model in apps.get_app_config("lookup").get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField | models.TextField) and model.__name__ not in NOT_WRITTEN
        if not field.primary_key and not field.choices and not _has_rule(field)
        if not isinstance(field, FoldedField)
    ]
    assert without == [
        *("Asset.path", "Badge.catalog", "Badge.image", "BadgeTier.color", "BadgeTier.image", "ProfileBadge.color"),
        *("CustomBadge.icon_svg", "CustomBadge.color", "Link.color", "Link.icon_svg"),
        *("Report.name", "Report.thing", "Report.title", "Report.path", "Report.comment_text"),  # copies of what has it
        *("Decision.thing", "Decision.title"),
    ]


REFUSED: list[tuple[str, Any, str]] = [
    ("user.name", "a\u202eb", UNSAFE.format("202E")),
    ("user.scrobblerUsername", "a\u2066b", UNSAFE.format("2066")),
    ("profile.displayName", "a\tb", UNSAFE.format("0009")),
    ("profile.description", "a\u2069b", UNSAFE.format("2069")),
    ("profile.description", "a\rb", UNSAFE.format("000D")),
    ("profile.settings.metadataSettings.title", "a\nb", UNSAFE.format("000A")),
    ("profile.settings.typewriterSettings.descriptions", ["\x07"], f"Entry 1: {UNSAFE.format('0007')}"),
    ("badges.1.name", "a\x9fb", UNSAFE.format("009F")),
    ("badges.0.tiers.0.title", "a\u202ab", UNSAFE.format("202A")),
    ("links.0.title", "a\x1fb", UNSAFE.format("001F")),
    ("links.1.url", "to copy\u202e", UNSAFE.format("202E")),
    ("links.0.url", "https://a.example/\u202e", UNSAFE.format("202E")),
    ("links.0.url", EVIL, USER_INFO),
    ("projects.1.url", EVIL, USER_INFO),
    ("projects.0.tags", ["a\u202eb"], f"Entry 1: {UNSAFE.format('202E')}"),
    ("projects.0.tags", ["x"] * 21, "Has 21 entries; at most 20 are allowed."),
    ("projects.0.tags", ["x" * 41], "Entry 1: Has 41 characters; at most 40 are allowed."),
    ("audios.0.externalUrl", EVIL, USER_INFO),
    ("gallery.0.caption", "a\x7fb", UNSAFE.format("007F")),
    ("sections.0.title", "a\nb", UNSAFE.format("000A")),
    ("sections.0.content", "a\u202eb", UNSAFE.format("202E")),
    ("sections.0.skills.core", ["\u202e"], f"Entry 1: {UNSAFE.format('202E')}"),
    ("sections.5.games.0.name", "a\u202eb", UNSAFE.format("202E")),
    ("comments.items.0.content", "a\u202eb", UNSAFE.format("202E")),
    ("comments.items.0.author.name", "a\u202eb", UNSAFE.format("202E")),
    ("user.name", FILLER, NOTHING),
    ("profile.displayName", FILLER, NOTHING),
    ("badges.1.name", FILLER, NOTHING),
    ("links.0.title", FILLER, NOTHING),
    ("projects.0.title", FILLER, NOTHING),
    ("projects.0.tags", [FILLER], f"Entry 1: {NOTHING}"),
    ("audios.0.title", FILLER, NOTHING),
    ("sections.0.title", FILLER, NOTHING),
    ("sections.0.skills.core", [FILLER], f"Entry 1: {NOTHING}"),
    ("sections.5.games.0.name", FILLER, NOTHING),
    ("comments.items.0.content", FILLER, NOTHING),
]


@pytest.mark.parametrize(("path", "value", "said"), REFUSED, ids=[f"{n}-{row[0]}" for n, row in enumerate(REFUSED)])
def test_a_line_of_an_import_with_one_is_refused_by_path(path: str, value: Any, said: str) -> None:
    assert f"{path}: {said}" in problems_of(changed(path, value))


@pytest.mark.django_db
def test_a_long_text_with_lines_and_marks_of_direction_goes_in_and_out(tmp_path: Path) -> None:
    text = "a\n\tb\r\n\u05d0\u200f 👩\u200d💻"
    whole = line()
    for path in ("profile.description", "sections.0.content", "comments.items.0.content", "projects.0.description"):
        put(whole, path, text)
    load(text_of(whole), tmp_path)
    assert export().count("👩\u200d💻") == 4


@pytest.mark.parametrize(
    ("one", "values", "column"),
    [
        (registry.LINKS, {"title": "a\u202eb", "url": "https://a.example"}, "title"),
        (registry.LINKS, {"title": "x", "url": EVIL}, "__all__"),
        (registry.LINKS, {"url": "a\nb", "is_text": True}, "url"),
        (registry.PROJECTS, {"title": "x", "url": EVIL}, "url"),
        (registry.PROJECTS, {"title": "x", "tags": ["x"] * 21}, "tags"),
        (registry.SECTIONS, {"type": "CUSTOM_TEXT", "config": {"content": "a\x07"}}, "content"),
    ],
)
def test_the_dashboards_operations_refuse_them(
    bare: User, one: registry.ContentList, values: dict[str, Any], column: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        content.add(content=one, profile=main_profile(bare), values=values, by=bare)
    assert list(refused.value.message_dict) == [column]


def test_a_profile_a_comment_and_a_setting_refuse_them(bare: User) -> None:
    for values in ({"name": "a\u202eb"}, {"description": "a\x00b"}, {"location": "a\nb"}):
        with pytest.raises(ValidationError):
            profiles.change(profile=main_profile(bare), values=values, by=bare)
    with pytest.raises(ValidationError):
        comments.write(user=bare, content="a\u202eb", by=bare)
    with pytest.raises(ValidationError):
        settings_schema.validated({"enterSettings": {"text": "a\u202eb"}})
    assert settings_schema.validated({"metadataSettings": {"description": "a\nb"}})
    assert sections.is_valid("CUSTOM_TEXT", {"content": "a\nb\tc"})
