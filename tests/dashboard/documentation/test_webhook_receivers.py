"""The receivers of webhooks on the documentation's page: they accept what we sign, and refuse everything else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import attempts, delivering, endpoints, signatures
from dashboard.documentation import contents, expansion, personalization
from tests.dashboard.documentation import programs_of_pages
from tests.dashboard.documentation.programs_of_pages import Place
from tests.factories.accounts import UserFactory
from tests.support import node, ports, processes
from tests.support.environment import ROOT

SLUG = "patterns/webhooks"
SAMPLES = {"python": ROOT / "docs/samples/webhook_receiver.py", "js": ROOT / "docs/samples/webhook_receiver.mjs"}
BOTH = pytest.mark.parametrize("language", ["python", "js"])
SECONDS = 20


def text_of_page() -> str:
    return personalization.visitor().fill(expansion.as_text(contents.pages()[SLUG]))


@BOTH
def test_the_page_shows_the_samples_of_the_repository(language: str) -> None:
    assert programs_of_pages.program(text_of_page(), Place(SLUG, language, 0)) == SAMPLES[language].read_text()


def test_the_page_names_every_pause_between_attempts() -> None:
    units = {"seconds": 1, "minutes": 60, "hours": 3600}
    rows = re.findall(r"^\| \d+ \| (\d+) (seconds|minutes|hours)\b", text_of_page(), re.MULTILINE)
    assert tuple(timedelta(seconds=int(number) * units[unit]) for number, unit in rows) == attempts.PAUSES


@dataclass(frozen=True)
class Signed:
    """An event as it is sent: the headers and the body."""

    secret: str
    headers: dict[str, str]
    body: bytes


@pytest.fixture
def endpoint(db: None) -> tuple[WebhookEndpoint, str]:
    user: User = UserFactory.create()
    return endpoints.create(by=user, user=user, url="https://hooks.example.org/", events=["key.disabled"])


def signed(endpoint: tuple[WebhookEndpoint, str], *, age: int = 0) -> Signed:
    row, secret = endpoint
    delivery = endpoints.send_test(endpoint=row, by=row.user)  # type: ignore[arg-type]  # of a person
    row.refresh_from_db()
    body = signatures.body_of(delivery)
    at = timezone.now() - timedelta(seconds=age)
    return Signed(secret, signatures.headers_of(row, delivery.message_id, body, at), body)


@contextmanager
def receiver(language: str, secret: str, port: int, directory: Path) -> Iterator[Path]:
    """Start the sample at the port; yield the file with what it prints."""
    if language == "js":
        node.install()
        (directory / "node_modules").symlink_to(node.MODULES)
    sample, printed = directory / SAMPLES[language].name, directory / "printed"
    sample.write_text(SAMPLES[language].read_text())
    command = [sys.executable if language == "python" else str(node.PROGRAM), str(sample)]
    environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": secret, "PORT": str(port)}
    with printed.open("w") as output, (directory / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=directory, env=environment, stdout=output, stderr=log, start_new_session=True
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/")
            yield printed
        finally:
            processes.kill_group(process)


def _wait_for(url: str) -> None:
    give_up_at = time.monotonic() + SECONDS
    while True:
        try:
            requests.get(url, timeout=SECONDS)
        except requests.ConnectionError:
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
        else:
            return


@pytest.mark.live
@BOTH
def test_a_receiver_prints_each_event_once_and_refuses_what_is_not_signed(
    tmp_path: Path, language: str, endpoint: tuple[WebhookEndpoint, str]
) -> None:
    event, old = signed(endpoint), signed(endpoint, age=600)
    with ports.held() as (port,), receiver(language, event.secret, port, tmp_path) as printed:
        url = f"http://127.0.0.1:{port}/"
        bad = {**event.headers, "webhook-signature": "v1,AAAA"}
        odd = {**event.headers, "webhook-signature": "nonsense"}
        sent = [(event.headers, event.body), (event.headers, event.body), (event.headers, event.body + b" ")]
        sent += [(bad, event.body), (odd, event.body), ({}, event.body), (old.headers, old.body)]
        answers = [requests.post(url, data=body, headers=head, timeout=SECONDS).status_code for head, body in sent]
        lines = printed.read_text().splitlines()
    assert answers == [204, 204, 400, 400, 400, 400, 400]
    assert len(lines) == 1
    assert lines[0].startswith("test {")


@pytest.mark.live
@pytest.mark.django_db(transaction=True)
@BOTH
def test_the_worker_delivers_to_a_receiver_which_prints_the_event(
    tmp_path: Path, language: str, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    user = UserFactory.create()
    with ports.held() as (port,):
        url = f"http://127.0.0.1:{port}/hooks"
        row, secret = endpoints.create(by=user, user=user, url=url, events=["key.disabled"])
        endpoints.send_test(endpoint=row, by=user)
        with receiver(language, secret, port, tmp_path) as printed:
            delivering.deliver(until=timezone.now() + timedelta(seconds=SECONDS))
            lines = printed.read_text().splitlines()
    assert [line.split(maxsplit=1)[0] for line in lines] == ["test"]
    assert WebhookDelivery.objects.get().last_status == 204


@pytest.mark.live
@BOTH
def test_a_function_by_hand_accepts_either_secret_of_a_rotation_and_nothing_else(
    tmp_path: Path, language: str, endpoint: tuple[WebhookEndpoint, str]
) -> None:
    row, first = endpoint
    second = endpoints.rotate_secret(endpoint=row, by=row.user)  # type: ignore[arg-type]  # of a person
    event, old = signed(endpoint), signed(endpoint, age=600)
    assert len(event.headers["webhook-signature"].split()) == 2
    text = programs_of_pages.program(text_of_page(), Place(SLUG, language, 1))

    def run(event: Signed, secret: str, body: bytes) -> str:
        names = {name.upper().replace("-", "_"): value for name, value in event.headers.items()}
        values = {**names, "WEBHOOK_SECRET": secret, "BODY": body.decode()}
        return programs_of_pages.run(text, language, tmp_path, values)

    for secret in (first, second):
        assert programs_of_pages.read(run(event, secret, event.body), language) == json.loads(event.body)
    for refused in ((event, signatures.new_secret(), event.body), (event, first, b"{}"), (old, first, old.body)):
        with pytest.raises(AssertionError):
            run(*refused)
