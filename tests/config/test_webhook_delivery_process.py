"""Delivery by `run_jobs` as processes of their own: they are killed, receivers fail, one is slow; nothing is lost."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints, outbox
from accounts.webhooks.outbox import Message
from tests.factories.accounts import UserFactory
from tests.support import processes, webhook_receiver
from tests.support.webhook_receiver import Receiver, Request

ROOT = Path(__file__).parents[2]
EVENT = EventType.KEY_DISABLED
EVENTS = 1000
PEOPLE = 10  # whose events go to each endpoint
KILLS = 6
PATIENCE = 120.0  # seconds
SEED = 33

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]


class Fleet:
    """Processes that deliver. Each may be killed at any time; another takes its place."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._started = 0
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.config.jobs_app.delivering", str(connection.settings_dict["NAME"])]
        self._started += 1
        with (self._directory / f"log-{self._started}").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.running.append(process)

    def kill(self, number: int) -> None:
        processes.kill_group(self.running.pop(number))

    def end(self) -> list[int]:
        """Ask all to end, and return their exit codes."""
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        return [process.wait(30) for process in self.running]

    def logs(self) -> str:
        return "".join(path.read_text() for path in sorted(self._directory.glob("log-*")))


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path)
    yield fleet
    for process in fleet.running:
        processes.kill_group(process)


@pytest.fixture
def receivers(settings: Settings) -> Iterator[list[Receiver]]:
    """Two receivers; endpoints are paths of them."""
    settings.WEBHOOKS_TO_LOOPBACK = True
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(webhook_receiver.running()) for _ in range(2)]


def added(receiver: Receiver, count: int) -> list[WebhookEndpoint]:
    """Add endpoints, each at a path of its own; the receiver knows their secrets."""
    made: list[WebhookEndpoint] = []
    while len(made) < count:
        owner = UserFactory()
        for _ in range(min(count - len(made), endpoints.MAX_ENDPOINTS)):
            url = f"{receiver.url}/{len(made)}"
            endpoint, secret = endpoints.create(by=owner, url=url, events=[EVENT], user=owner)
            receiver.secrets.append(secret)
            made.append(endpoint)
    return made


def posted(chosen: Sequence[WebhookEndpoint], count: int, *, people: int = PEOPLE) -> list[WebhookDelivery]:
    """Write `count` events: of each endpoint in turn, of each person in turn."""
    outbox.post(
        Message(
            endpoint.pk,
            EVENT,
            f"person-{number // len(chosen) % people}",
            {"number": number, "person": number // len(chosen) % people},
        )
        for number, endpoint in ((number, chosen[number % len(chosen)]) for number in range(count))
    )
    return list(WebhookDelivery.objects.filter(endpoint__in=chosen).order_by("pk"))


def in_order(requests: Sequence[Request]) -> dict[tuple[str, int], list[int]]:
    """Return the numbers of the events by endpoint and person, in the order in which each came first."""
    lanes: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for request in requests:
        data = request.content["data"]
        lane = lanes[request.path, data["person"]]
        if data["number"] not in lane:
            lane.append(data["number"])
    return dict(lanes)


def test_a_thousand_events_survive_kills_and_failures(fleet: Fleet, receivers: list[Receiver]) -> None:
    """None is lost, a repetition has the id of the first, and the order of each person's events is kept."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    receiver, _ = receivers
    receiver.failures, receiver.seconds = 150, 0.02
    rows = posted(added(receiver, 10), EVENTS)
    for _ in range(2):
        fleet.start()
    for count in sorted(chance.sample(range(50, EVENTS - 100), KILLS)):
        receiver.wait_for(count, seconds=PATIENCE)
        fleet.kill(0)  # the older one: the other may still be starting
        fleet.start()
    ids = {row.message_id: row for row in rows}
    receiver.wait_until(lambda: not WebhookDelivery.objects.waiting().exists(), seconds=PATIENCE)
    assert set(fleet.end()) <= {0, -signal.SIGTERM}  # the signal itself ends one that is still starting
    assert "Traceback" not in fleet.logs()

    arrived = Counter(receiver.ids())
    assert set(arrived) == set(ids)
    assert len(arrived) == EVENTS
    assert receiver.failures == 0
    assert receiver.ids(401) == []  # every signature was valid
    bodies = {(request.id, request.body) for request in receiver.requests}
    assert len(bodies) == EVENTS  # each attempt of a message is the same message
    lanes = in_order([request for request in receiver.requests if request.status == 200])
    assert len(lanes) == 10 * PEOPLE
    assert all(numbers == sorted(numbers) for numbers in lanes.values())
    # A repetition is the work of a kill, which loses what was under way and no more.
    assert sum(arrived.values()) - EVENTS <= KILLS * 32
    delivered = WebhookDelivery.objects.filter(delivered_at__isnull=False, last_status=200, claimed_until=None)
    assert delivered.count() == EVENTS


def test_what_a_killed_worker_had_under_way_comes_again_with_the_same_id(
    fleet: Fleet, receivers: list[Receiver]
) -> None:
    receiver, _ = receivers
    receiver.held.set()
    (row,) = posted(added(receiver, 1), 1)
    fleet.start()
    receiver.wait_until(lambda: receiver.most_at_once == 1)
    fleet.kill(0)
    receiver.held.clear()
    fleet.start()
    requests = receiver.wait_for(2)
    assert [request.id for request in requests] == [row.message_id] * 2
    assert requests[0].body == requests[1].body
    receiver.wait_until(lambda: WebhookDelivery.objects.get().delivered_at is not None)


def test_receivers_that_never_answer_delay_no_others(fleet: Fleet, receivers: list[Receiver]) -> None:
    """They hold the half of the places that they may. When the others' events have arrived, none of their attempts
    has ended."""
    slow, quick = receivers
    known = added(quick, 20)
    posted(known, 20)
    fleet.start()
    quick.wait_for(20)
    slow.held.set()
    waiting = posted(added(slow, 5), 400, people=80)
    slow.wait_until(lambda: slow.most_at_once == 16)
    posted(known, 200)
    quick.wait_for(220)
    assert len(in_order(quick.requests)) == 200
    assert not WebhookDelivery.objects.filter(pk__in=[row.pk for row in waiting], attempts__gt=0).exists()
    assert slow.most_at_once == 16
