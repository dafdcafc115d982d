"""A production build has no folder `demo`: the service starts, migrates and answers without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.once

# Python's own mark for a module that cannot be imported.
WITHOUT_DEMO = """
import sys
sys.modules["demo"] = None
import django
django.setup()
from django.apps import apps
from django.core.management import call_command, get_commands
from django.test import Client
import config.management.commands.run_embedded
assert not apps.is_installed("demo")
assert {"seed_demo", "simulate_chat_platform"}.isdisjoint(get_commands())
call_command("check")
call_command("makemigrations", check=True, verbosity=0)
print(Client().get("/healthz", headers={"host": "127.0.0.1"}).status_code)
"""


def test_production_runs_without_the_folder(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DEMO"}
    environment |= {"DATABASE_URL": "postgres://id@127.0.0.1:1/id", "VAR_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_DEMO],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split()[-1:], done.returncode) == (["200"], 0), done.stderr
