"""What programs load: those that serve no page load no admin, form or HTTP client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib import admin
from django.core import checks

from accounts.models import User

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
OF_PAGES = {
    "accounts.admin",
    "aiohttp",
    "av",
    "boto3",
    "config.urls",
    "django.contrib.postgres",
    "django.test",
    "fido2",
    "hikari",
    "PIL",
    "psycopg",
    "redis",
    "requests",
}


def loaded(tmp_path: Path, code: str) -> set[str]:
    """The modules that a new process of the embedded default has loaded after `code`."""
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path)}
    script = f"import django; django.setup(); {code}; import json, sys; print(json.dumps([*sys.modules]))"
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
    )
    return set(json.loads(found.stdout))


@pytest.mark.parametrize("code", ["pass", "from config.management.commands import run_jobs"])
def test_a_program_without_pages_loads_nothing_of_them(tmp_path: Path, code: str) -> None:
    modules = loaded(tmp_path, code)
    assert "oidc_provider.models.applications" in modules
    assert OF_PAGES & modules == set()


@pytest.mark.parametrize("server", ["embedded", "wsgi"])
def test_the_web_server_has_loaded_every_view_before_it_answers(tmp_path: Path, server: str) -> None:
    modules = loaded(
        tmp_path, f"from config.web import {server}\nimport gc\nassert gc.isenabled() and gc.get_freeze_count()"
    )
    assert {"config.urls", "accounts.admin", "lookup.views.profile_page"} <= modules
    assert {"hikari", "aiohttp", "av", "boto3", "django_redis", "lxml", "PIL", "psycopg", "redis"} & modules == set()


def test_the_check_of_the_admin_sees_every_model_in_it() -> None:
    assert checks.run_checks(tags=[checks.Tags.admin]) == []
    assert admin.site.is_registered(User)
