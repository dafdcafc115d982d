"""The environment of a test process. Nothing of the developer's own settings or state reaches a test."""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
APPS = ("accounts", "config", "dashboard", "demo", "imagehost", "infrastructure", "lookup", "oidc_provider", "presence")


def documented() -> list[str]:
    """The variables that docs/configuration.md names; `tests/config/test_configuration.py` holds it to the settings."""
    rows = [line for line in (ROOT / "docs" / "configuration.md").read_text().splitlines() if line.startswith("| `")]
    return sorted(set(re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PORT|HOST|DEMO)`", " ".join(rows))))


# What the settings and the client of S3 read; a shell that has one of them set must not change what is tested.
NAMES = (
    "AWS_ACCESS_KEY_ID AWS_CA_BUNDLE AWS_CONFIG_FILE AWS_DEFAULT_PROFILE AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 "
    "AWS_PROFILE AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SHARED_CREDENTIALS_FILE"
).split() + [name for name in documented() if name not in {"DATABASE_URL", "DEMO", "REDIS_URL", "VAR_DIR"}]

WORKER = os.environ.get("PYTEST_XDIST_WORKER")


def prepare() -> None:
    """Set the environment before Django reads it.

    DATABASE_URL and REDIS_URL decide on the engines: both are set, or neither. The workers of a parallel run share
    VAR_DIR; each has a database of its own.
    """
    for name in NAMES:
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["DEMO"] = "1"
    os.environ["ALLOW_UNSAFE_START"] = "edge"  # where a test loads what a server loads
    os.environ["STAFF_SECOND_FACTOR"] = "0"  # its own tests demand it
    os.environ["SECRET_KEY"] = "a-secret-key-of-the-tests-alone-" * 2
    os.environ["SIGNING_KEY_ENCRYPTION_KEYS"] = "an-encryption-key-of-the-tests-alone"
    if WORKER is None:
        os.environ["VAR_DIR"] = directory = tempfile.mkdtemp(prefix="tests-var-")
        (Path(directory) / "static").mkdir()  # whitenoise warns where it is missing
        atexit.register(shutil.rmtree, directory, ignore_errors=True)


def own_redis(url: str) -> str:
    """The Redis database of this process: each worker of a parallel run has one, so that it may empty it."""
    return f"{url.rpartition('/')[0]}/{WORKER.removeprefix('gw')}" if WORKER and url else url
