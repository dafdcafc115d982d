"""Files of export and import, and what the lookup says afterwards."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import UidCounter, User
from lookup.documents.registry import INCLUDES
from lookup.models import Alias, Anime, Badge, Comment, Game, MediaTitle, MusicItem
from lookup.views import api


def wipe() -> None:
    """A fresh database, the catalogues empty too."""
    for model in (User, Badge, Game, Anime, MediaTitle, MusicItem, UidCounter):
        model._default_manager.all().delete()
    assert not Comment.objects.exists()
    assert not Alias.objects.exists()


def export(*options: str) -> str:
    out = io.StringIO()
    call_command("export_profiles", *options, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def lines_of(text: str) -> list[str]:
    """`splitlines` would end a line at characters that JSON leaves inside of strings."""
    return text.removesuffix("\n").split("\n")


def exported(*options: str) -> dict[str, dict[str, Any]]:
    """Lines by username."""
    lines = [json.loads(line) for line in lines_of(export(*options))]
    return {line["user"]["username"]: line for line in lines}


def load(text: str | bytes, directory: Path, *options: str) -> tuple[str, str]:
    """Import the text; what was said on standard output and on standard error. CommandError where a line was refused,
    with what was said on standard error."""
    path = directory / "profiles.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    out, err = io.StringIO(), io.StringIO()
    call_command("import_profiles", str(path), *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refusal(text: str | bytes, directory: Path, *options: str) -> list[str]:
    """What is said on standard error where a file is refused."""
    path = directory / "profiles.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_profiles", str(path), *options, stdout=io.StringIO(), stderr=err)
    return err.getvalue().splitlines()


def answer(user_id: str) -> bytes:
    """The lookup with all of its includes."""
    query = urlencode({"type": "id", "value": user_id, **dict.fromkeys(INCLUDES, "true")})
    return api.answer(query, timezone.now())


def looked_up(user_id: str) -> dict[str, Any]:
    return dict(json.loads(answer(user_id)))
