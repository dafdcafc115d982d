"""Every secret is replaced on two hosts, one after the other; sessions and tokens stay valid."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys import hosts
from tests.journeys.hosts import Installation
from tests.journeys.processes import Server

pytestmark = pytest.mark.live

NAMES = ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "SIGNING_KEY_ENCRYPTION_KEYS")


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with hosts.installed(tmp_path) as installation:
        yield installation


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
