"""What the pages say of the dashboard is so: its names, its limits, its keys, its ready code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import engines
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.api_keys import keys
from accounts.models import User
from dashboard.api_keys import queries as keys_queries
from dashboard.api_keys.forms import Overlap
from dashboard.client_apps import code_samples
from dashboard.client_apps.code_samples import STACKS, Stack
from dashboard.documentation import contents, expansion, personalization
from dashboard.imagehost import uploaders
from dashboard.management.commands import remind_of_keys
from imagehost.folders import folders, rules
from oidc_provider import redirects
from oidc_provider.applications import application_rules
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import page_of

NAMES = {  # by the page that has a link or a button of this name
    "dashboard": ("Apps", "API keys"),
    "application": ("Settings", "Try it", "Requests", "Code"),
    "api_key": ("Request a permission", "Revoke", "Replace with a new key", "Change name or expiry"),
}


def text_of(slug: str) -> str:
    return personalization.visitor().fill(expansion.as_text(contents.pages()[slug]))


@pytest.mark.django_db
@pytest.mark.parametrize("page", NAMES)
def test_what_a_page_calls_by_name_is_called_so_in_the_dashboard(signed_in: Client, reader: User, page: str) -> None:
    app = ApplicationFactory.create(user=reader)
    issued = keys.issue(owner=reader, permissions=["imagehost:upload"], name="Mine", by=reader)
    arguments = {"application": [app.client_id], "api_key": [issued.key.prefix]}.get(page, [])
    shown = page_of(signed_in.get(reverse(page, args=arguments)))
    named = {" ".join(each.text_content().split()) for each in shown.xpath("//a | //button")}
    assert set(NAMES[page]) <= named


def test_every_name_is_looked_up() -> None:
    printed = {name for page in contents.pages().values() for name in re.findall(r"\*\*(.+?)\*\*", page.source)}
    assert printed == {name for names in NAMES.values() for name in names}


def test_the_limits_of_an_account_are_those_of_the_code() -> None:
    text = text_of("limits")
    assert f"| Apps of an account | {application_rules.MAX_APPLICATIONS} |" in text
    assert f"| Keys of an account that work at the same time | {keys.MAX_LIVE} |" in text
    assert f"| Keys made by the uploaders page | {uploaders.MAX_A_DAY} within a day |" in text
    assert f"| {redirects.MAX_URLS}, each at most {redirects.MAX_LENGTH} characters |" in text
    assert f"at most {folders.MAX_FOLDERS} folders and {rules.MAX_RULES} folder rules" in text


def test_the_life_of_a_key_is_that_of_the_code() -> None:
    text = text_of("api-keys")
    assert remind_of_keys.WITHIN == keys_queries.SOON
    assert f"In the {remind_of_keys.WITHIN.days} days before, you get one email" in text
    assert f"in its last {remind_of_keys.WITHIN.days} days" in text_of("changes")
    offered = [int(hours) for hours in Overlap.values]
    assert offered == [0, 1, keys.LONGEST_OVERLAP.total_seconds() // 3600]
    assert f"when the old one stops: at once, or after {offered[1]} or {offered[2]} hours" in text


def test_the_secret_has_the_name_that_it_has_in_the_file_of_a_new_secret() -> None:
    named = set(re.findall(r"`(CLIENT_\w+)`", text_of("sign-in")))
    (directory,) = (Path(folder) for engine in engines.all() for folder in engine.dirs)
    file = (directory / "dashboard" / "client_apps" / "secret.html").read_text()
    assert [f"\n{name}={{{{ client_secret }}}}" in file for name in named] == [True]


LIBRARIES = [stack for stack in STACKS if stack.name != "curl"]


def test_every_library_with_ready_code_has_a_row() -> None:
    assert set(re.findall(r"^\| ([^|`]+?) \|", section(), re.MULTILINE)) == {
        "Library",
        "---",
        *(stack.title for stack in LIBRARIES),
    }


@pytest.mark.parametrize("stack", LIBRARIES, ids=lambda stack: stack.name)
def test_a_librarys_settings_stand_in_its_ready_code(stack: Stack) -> None:
    app = ApplicationFactory.build(user=User(), registered_scopes=["openid", "identify"])
    sample = code_samples.sample_of(stack, app, "https://app.example/callback")
    [row] = re.findall(rf"^\| {re.escape(stack.title)} \| (.+) \|$", section(), re.MULTILINE)
    settings = [setting for setting in re.findall(r"`([^`]+)`", row) if setting]
    assert settings
    assert [setting for setting in settings if squeezed(setting) not in squeezed(sample.code)] == []


def section() -> str:
    return text_of("sign-in/client-libraries").split("## Settings by library")[1].split("\n## ")[0]


def squeezed(code: str) -> str:
    return "".join(code.split())


@pytest.mark.parametrize(("seconds", "words"), [(1_800, "30 minutes"), (7_200, "2 hours")])
def test_a_changed_lifetime_is_named_on_the_pages(settings: Settings, seconds: int, words: str) -> None:
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "ACCESS_TOKEN_EXPIRE_SECONDS": seconds}
    for slug in ("limits", "sign-in"):
        assert f"| Access token | {words} |" in expansion.fill(
            contents.pages()[slug].source.replace("{{ stacks }}\n", "")
        )
