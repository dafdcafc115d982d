"""An upgrade, and the replacement of every secret, on two hosts, while people work."""

from __future__ import annotations

import dataclasses
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.journeys import hosts, services
from tests.journeys.hosts import Installation, Release
from tests.journeys.member import Member
from tests.journeys.processes import Server
from tests.support import migration_safety, previous_release, programs

pytestmark = pytest.mark.live
INSTALL_SECONDS = 600


@pytest.fixture
def previous(tmp_path: Path) -> Release:
    commit, remark = previous_release.commit()
    sys.stderr.write(f"{remark}\n")
    code = tmp_path / "previous"
    previous_release.check_out(commit, code)
    lock = code / "requirements.lock"
    has_all = previous_release.packages(lock) <= previous_release.packages(previous_release.ROOT / lock.name)
    return Release(code, sys.executable if has_all else _installed(lock, tmp_path / "venv"))


def _installed(lock: Path, folder: Path) -> str:
    """A Python with the packages of `lock` only."""
    install = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--requirement", str(lock)]
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=INSTALL_SECONDS)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", *install], check=True, timeout=INSTALL_SECONDS)
    return str(folder / "bin" / "python")


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with hosts.installed(tmp_path) as installation:
        yield installation


def test_the_previous_release_goes_on_while_and_after_this_one_migrates(
    installation: Installation, previous: Release
) -> None:
    installation.operator("old", previous).do("prepare")
    first = installation.host("old", previous)
    first.wait_until_ready()
    installation.front.lead_to(first)
    jobs = installation.program("old", "run_jobs", previous)
    member = installation.member("old", previous)
    member.sign_in()
    member.do_everything("Before")

    _start_before_the_migrations(installation)
    with _in_use(member) as problems:
        installation.do("new", "migrate", "--verbosity", "0")
    assert problems == []
    member.do_everything("During")
    installation.do("old", "run_jobs", "--once", release=previous)
    assert jobs.process.poll() is None

    # Both releases side by side.
    second = installation.host("new")
    second.wait_until_ready()
    for number, server in enumerate((second, first, second)):
        installation.front.lead_to(server)
        member.do_everything(f"Beside {number}")
    installation.do("new", "run_jobs", "--once")
    newcomer = installation.member("new")
    newcomer.sign_in()
    installation.front.lead_to(first)
    newcomer.do_everything("New account, previous release")
    assert installation.errors() == []
    with services.database(os.environ["DATABASE_URL"]) as new:
        installation.do("new", "migrate", "--verbosity", "0", values={"DATABASE_URL": new})
        assert _schema(installation.values["DATABASE_URL"]) == _schema(new)


def _schema(database_url: str) -> list[str]:
    """Return the lines that make the tables, sorted: columns that were added later stand last in an older database."""
    program = str(programs.found("postgres")["postgres"].resolve().with_name("pg_dump"))
    command = [program, "--schema-only", "--no-owner", "--no-privileges", database_url]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(line.rstrip(",") for line in lines if not line.startswith(("--", "\\")))


def _start_before_the_migrations(installation: Installation) -> None:
    """This release is not ready, so that it gets no requests."""
    installation.do("new", "collectstatic", "--noinput", "--verbosity", "0")
    early = installation.host("new")
    commit, _ = previous_release.commit()
    waiting = len(list(migration_safety.new_migrations(previous_release.migrations(commit))))
    expected = f"{waiting} migrations are waiting" if waiting else "ok"
    assert _state_of_migrations(early.base_url) == expected
    early.stop()


def _state_of_migrations(base_url: str) -> str:
    """Return the answer of /readyz about them, once it answers."""
    while True:
        try:
            return str(requests.get(f"{base_url}/readyz", timeout=30).json()["parts"]["migrations"])
        except requests.ConnectionError:
            threading.Event().wait(0.1)


class _in_use:  # noqa: N801 - a context manager
    """The member looks up their own profile and refreshes tokens all the time. Yields the failures."""

    def __init__(self, member: Member) -> None:
        self._member, self._is_over, self._problems = member, threading.Event(), list[str]()
        self._thread = threading.Thread(target=self._use)

    def __enter__(self) -> list[str]:
        self._thread.start()
        return self._problems

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _use(self) -> None:
        while not self._is_over.is_set():
            try:
                self._member.look_up()
                self._member.refresh()
                self._member.browser.open("/dashboard/profile/")
            except Exception as error:  # any fails the test
                self._problems.append(repr(error))
                return


NAMES = ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "SIGNING_KEY_ENCRYPTION_KEYS")


@dataclasses.dataclass
class Pair:
    """Two hosts, each with its own environment."""

    installation: Installation
    running: dict[str, Server] = dataclasses.field(default_factory=dict)

    def restart(self, name: str, values: dict[str, str]) -> None:
        """Start one host with these values and wait until it is ready."""
        if name in self.running:
            self.running[name].stop()
        self.running[name] = self.installation.host(name, values=values)
        self.running[name].wait_until_ready()

    def lead_to(self, name: str) -> None:
        self.installation.front.lead_to(self.running[name])


def test_a_session_goes_on_on_both_hosts_in_each_step(installation: Installation) -> None:
    old_key, new_key = installation.values["SECRET_KEY"], secrets.token_urlsafe(48)
    old_secret, new_secret = installation.values["SIGNING_KEY_ENCRYPTION_KEYS"], secrets.token_urlsafe(48)
    before = dict(zip(NAMES, (old_key, "", old_secret), strict=True))
    steps = [  # as docs/operations.md says
        dict(zip(NAMES, (old_key, new_key, f"{old_secret},{new_secret}"), strict=True)),
        dict(zip(NAMES, (new_key, old_key, f"{new_secret},{old_secret}"), strict=True)),
        dict(zip(NAMES, (new_key, "", new_secret), strict=True)),
    ]
    installation.do("first", "migrate", "--verbosity", "0")
    installation.do("first", "signing_keys", "ensure")
    for name in ("first", "second"):
        installation.do(name, "collectstatic", "--noinput", "--verbosity", "0")
    pair = Pair(installation)
    for name in ("first", "second"):
        pair.restart(name, before)
    pair.lead_to("first")
    member = installation.member("first")
    member.sign_in()
    for number, values in enumerate(steps):
        for restarted in ("first", "second"):
            pair.restart(restarted, values)
            for name in ("second", "first"):  # a page of one host is sent to the other
                pair.lead_to(name)
                member.browser.open("/dashboard/profile/")
                pair.lead_to("first" if name == "second" else "second")
                member.browser.press("Save", description=f"Step {number} on {name}")
                assert "Profile saved." in member.browser.text
                member.sign_in_again()
                member.refresh()
        if number == 1:
            done = installation.do("first", "signing_keys", "reencrypt", values=values).stdout
            assert done.endswith("1 keys changed. The other secrets are no longer needed: remove them.\n")
            member.refresh()
    member.do_everything("Rotated")
    report = installation.do("first", "doctor", "secrets", "signing keys", values=steps[-1]).stdout
    assert "no earlier one is configured" in report
    assert installation.errors() == []
