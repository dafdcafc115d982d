"""The embedded default with the population of the measurements: SQLite, one web process, started as `make run` does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import engines
from benchmarks.bench import OURS, ROOT, Bench, Contender
from benchmarks.population import KEYS

BASE_URL = "http://127.0.0.1:8000"  # as the members are made: with another one each document is rendered anew


def environment(directory: Path, **more: str) -> dict[str, str]:
    """Settings of an embedded service with its state in `directory`."""
    return {
        **engines.outer(),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(directory / "var"),
        "BASE_URL": "http://127.0.0.1:{port}",
        "ALLOWED_HOSTS": "id.example.org",
        **more,
    }


def contender(directory: Path, **more: str) -> Contender:
    return Contender(OURS, [sys.executable, str(ROOT / "manage.py"), "run_embedded"], environment(directory, **more))


def populate(bench: Bench, directory: Path) -> list[str]:
    """Make the same members in a SQLite file, and the same keys; the names of members that a lookup may show."""
    (directory / "var").mkdir(parents=True)
    values = environment(directory, BASE_URL=BASE_URL)
    bench.manage("migrate", "--verbosity", "0", environment=values)
    bench.manage("seed_demo", "--users", str(bench.members), environment=values)
    own = [sys.executable, "-m", "benchmarks.population", "--keys", str(KEYS), "--folder", str(directory)]
    subprocess.run(own, cwd=ROOT, env=values, check=True, stdin=subprocess.DEVNULL)
    names: list[str] = json.loads((directory / "names.json").read_text())
    return names
