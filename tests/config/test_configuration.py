"""docs/configuration.md names every variable that the settings read, with its default, and no other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import environment

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
# What the settings ask for depends on what is set: the embedded default, a real chat server, and production.
CHAT = {"CHAT_GUILD_ID": "1" * 18, "CHAT_BOT_TOKEN": "a-token"}
S3 = {"S3_BUCKET": "files", "S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "secret"}
SECRETS = {"SECRET_KEY": "s" * 60, "SIGNING_KEY_ENCRYPTION_KEYS": "k" * 60}
PRODUCTION = {"DATABASE_URL": "postgres://a:b@127.0.0.1/c", "BASE_URL": "https://id.example.org", **SECRETS}
SENTINELS = {"REDIS_URL": "redis://primary/0", "REDIS_SENTINELS": "127.0.0.1:26379"}
STARTS: list[dict[str, str]] = [{}, CHAT, PRODUCTION, {**PRODUCTION, **S3, **SENTINELS}]
# Notes each name that `config.env` is asked for, with the default of its first call.
PROGRAM = """
import inspect, json
from config import env

asked = {}

def noting(read):
    names = inspect.signature(read)
    def noted(*given, **named):
        bound = names.bind(*given, **named)
        asked.setdefault(bound.arguments["name"], bound.arguments.get("default"))
        return read(*given, **named)
    return noted

for name in ("text", "flag", "integer", "choice", "some_of", "words", "addresses", "origin", "base_url", "document"):
    setattr(env, name, noting(getattr(env, name)))
from config import settings
print(json.dumps([asked, str(settings.VAR_DIR), settings.BASE_URL]))
"""
# Columns of defaults that are no value: what is made or derived at a start.
NO_VALUE = {
    "made",
    "as `SUPPORT_EMAIL`",
    "simulated",
    "the platform's",
    "console",
    "host of `BASE_URL`",
    "at the host of `BASE_URL`",
}


def asked_for(start: dict[str, str], var_dir: Path | None) -> dict[str, str]:
    """The variables that a start with these reads, and their defaults as the document writes them."""
    inherited = {name: value for name, value in os.environ.items() if name not in {*environment.NAMES, "DEMO"}}
    for name in ("DATABASE_URL", "REDIS_URL", "VAR_DIR"):
        inherited.pop(name, None)
    if var_dir is not None:
        inherited["VAR_DIR"] = str(var_dir)
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env={**inherited, **start}, stdout=subprocess.PIPE, check=True
    )
    asked, directory, base_url = json.loads(found.stdout)
    return {
        name: str(default if not isinstance(default, bool) else int(default))
        .replace(directory, "VAR_DIR")
        .replace(base_url, "BASE_URL")
        for name, default in asked.items()
    }


def documented() -> dict[str, str]:
    """The names of the first column and their defaults; of those that other columns name, "made"."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in (ROOT / "docs" / "configuration.md").read_text().splitlines()
        if line.startswith("| `")
    ]
    named = dict.fromkeys(environment.documented(), "made")
    all_names = [name for names, *_ in rows for name in re.findall(r"`(\w+)`", names)]
    assert len(all_names) == len(set(all_names)), "a variable has two rows"
    for names, default, *_ in rows:
        all_names = re.findall(r"`(\w+)`", names)
        values = default.split(", ")
        each = values if len(values) == len(all_names) else [default] * len(all_names)
        named.update(zip(all_names, each, strict=True))
    return named


def test_the_document_names_every_variable_that_is_read_and_no_other(tmp_path: Path) -> None:
    read = {name for start in STARTS for name in asked_for(start, tmp_path)}
    assert set(documented()) == read


def test_the_document_says_the_defaults_that_hold(tmp_path: Path) -> None:
    embedded, production = asked_for({}, tmp_path), asked_for(PRODUCTION, tmp_path)
    wrong = {}
    for name, default in documented().items():
        if default in NO_VALUE or name == "VAR_DIR":
            continue
        first, _, second = default.partition("; ")
        is_of_production = second.endswith("with `DATABASE_URL`")
        expected = {"embedded": first, "production": second.split()[0] if is_of_production else first}
        if name == "DEMO":
            expected = {"embedded": second.split()[0], "production": first}
        for kind, asked in (("embedded", embedded), ("production", production)):
            value = "" if expected[kind] == "none" else expected[kind].strip("`")
            actual = "" if asked.get(name) == "None" else asked.get(name, value)
            if actual != value and name != "BASE_URL":
                wrong[f"{name}, {kind}"] = (value, actual)
    assert wrong == {}
