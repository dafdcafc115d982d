"""GET /metrics for Prometheus: what the processes of this host have counted, and the state of the service.

The state is what the database and Redis know, read at each scrape. All hosts' web processes answer alike, so a rule
takes the largest value (`max by (name)`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from accounts.models import JobRun
from accounts.webhooks import claims
from config import jobs, views
from config.operations import backups, parallel_calls, readiness
from imagehost.storing import previews
from infrastructure.metrics import metrics_server
from oidc_provider.models import SigningKey
from presence.store import store

LIMIT = 0.9  # seconds for all of it; `readiness` has as many for its parts
Samples = list[tuple[tuple[str, ...], float]]  # values of the labels, value


class Family(NamedTuple):
    """A metric of the state. `only_grows`: a counter, which restarts with the process that counts."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    only_grows: bool = False


PROCESSES = Family("hearth_processes", "Processes of this host that have counted something and run.")
READY = Family("hearth_ready", "1: this part of /readyz is ready.", ("part",))
READ = Family("hearth_state_read", "1: this scrape could read this part of the state.", ("part",))
JOB_LATE = Family("hearth_job_late", "1: the job should have succeeded by now.", ("name",))
JOB_FAILED = Family("hearth_job_failed", "1: the last run of the job that ended has failed.", ("name",))
JOB_SUCCESS = Family("hearth_job_last_success_timestamp_seconds", "When the job succeeded last.", ("name",))
JOB_SECONDS = Family("hearth_job_duration_seconds", "How long the last run of the job that ended took.", ("name",))
BACKUP_SUCCESS = Family("hearth_backup_last_success_timestamp_seconds", "When the last backup was complete.")
BACKUP_FAILED = Family("hearth_backup_failed", "1: the last backup that ended has failed.")
SIGNING_SINCE = Family("hearth_signing_key_since_timestamp_seconds", "Since when the signing key signs.")
PREVIEWS_DUE = Family("hearth_previews_due", "Thumbnails and posters that could be made now.")
PREVIEWS_DUE_SINCE = Family("hearth_previews_longest_wait_seconds", "How long the first of them has been due.")
WEBHOOKS_DUE = Family("hearth_webhook_deliveries_due", "Webhooks and logouts that could be delivered now.")
WEBHOOKS_DUE_SINCE = Family(
    "hearth_webhook_deliveries_longest_wait_seconds", "How long the first of them has been due."
)
FEED_EXPECTED = Family("hearth_presence_feed_expected", "1: CHAT_GUILD_ID names a chat server.")
FEED_ALIVE = Family("hearth_presence_feed_timestamp_seconds", "When the gateway worker last said that it follows.")
MEMBERS = Family("hearth_presence_members", "Members of the chat server that the worker knows.")
RECONNECTS = Family("hearth_presence_reconnects", "Sessions that the worker has lost.", ("cause",), only_grows=True)

Found = dict[Family, Samples]
FAMILIES = (
    *(READY, READ, JOB_LATE, JOB_FAILED, JOB_SUCCESS, JOB_SECONDS, BACKUP_SUCCESS, BACKUP_FAILED),
    *(SIGNING_SINCE, PREVIEWS_DUE, PREVIEWS_DUE_SINCE, WEBHOOKS_DUE, WEBHOOKS_DUE_SINCE),
    *(FEED_EXPECTED, FEED_ALIVE, MEMBERS, RECONNECTS),
)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """404 without METRICS_TOKEN, 401 without its value in the header; 503 where the counts cannot be read.

    Takes at most three seconds. Leaves out what comes from the database or Redis while they are away.
    """
    if not settings.METRICS_TOKEN:
        return views.not_found(request)
    authorization = request.headers.get("Authorization", "")
    status, content_type, body = metrics_server.scraped(authorization, lambda counted: StateCollector(counted.running))
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return HttpResponse(body, status=status, content_type=content_type, headers=headers)


class StateCollector(Collector):
    """The state of the service, read when it is scraped. `processes`: that run on this host."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def collect(self) -> Iterator[Metric]:
        processes: Samples = [((), float(self._processes))]
        for family, samples in [(PROCESSES, processes), *state()]:
            kind, suffix = ("counter", "_total") if family.only_grows else ("gauge", "")
            metric = Metric(family.name, family.help, kind)
            for labels, value in samples:
                metric.add_sample(family.name + suffix, dict(zip(family.labels, labels, strict=True)), value)
            yield metric


def state() -> Iterator[tuple[Family, Samples]]:
    """Yield every family with its samples, within two seconds. 5 queries, and the queries of /readyz."""
    outcomes = parallel_calls.run(GROUPS, caller="metrics", limit=LIMIT)
    found: Found = {READ: [((part,), float(outcome.value is not None)) for part, outcome in outcomes.items()]}
    for outcome in outcomes.values():
        found |= outcome.value or {}
    parts = readiness.parts().items()
    found[READY] = [((name,), float(part.state == "ok")) for name, part in parts if not readiness.is_optional(name)]
    return ((family, found.get(family, [])) for family in FAMILIES)


def _reading(read_part: Callable[[datetime], Found]) -> Callable[[], Found | None]:
    """Return the reading; None where the server that it asks is away."""

    def tried() -> Found | None:
        try:
            return read_part(timezone.now())
        except readiness.AWAY:
            return None

    return tried


def _jobs(now: datetime) -> Found:
    """Read the jobs. 1 query."""
    found: Found = {JOB_LATE: [], JOB_FAILED: [], JOB_SUCCESS: [], JOB_SECONDS: []}
    for job in jobs.scheduled():
        labels = (job.name,)
        found[JOB_LATE].append((labels, float(job.is_late(now))))
        found[JOB_FAILED].append((labels, float(bool(job.run.last_error))))
        if (success := job.run.last_success(now)) is not None:
            found[JOB_SUCCESS].append((labels, success.timestamp()))
        if job.run.duration_ms is not None:
            found[JOB_SECONDS].append((labels, job.run.duration_ms / 1000))
    return found


def _backups(now: datetime) -> Found:
    """Return the outcome of the last backup; nothing where `manage.py backup` has never run. 1 query."""
    run = JobRun.objects.filter(pk=backups.RUN).first()
    if run is None:
        return {}
    since = run.last_success(now) or run.created_at
    return {BACKUP_SUCCESS: [((), since.timestamp())], BACKUP_FAILED: [((), float(bool(run.last_error)))]}


def _signing_key(now: datetime) -> Found:
    """Read the signing key. 1 query."""
    since = SigningKey.objects.signing().values_list("signing_since", flat=True).first()
    return {SIGNING_SINCE: [((), since.timestamp())]} if since else {}


def _previews(now: datetime) -> Found:
    """Read the previews. 1 query."""
    backlog = previews.backlog(now)
    return {PREVIEWS_DUE: [((), backlog.due)], PREVIEWS_DUE_SINCE: [((), backlog.longest_wait.total_seconds())]}


def _webhooks(now: datetime) -> Found:
    """Read the deliveries. 1 query."""
    backlog = claims.backlog(now)
    return {WEBHOOKS_DUE: [((), backlog.due)], WEBHOOKS_DUE_SINCE: [((), backlog.longest_wait.total_seconds())]}


def _presence(now: datetime) -> Found:
    """Read the presence. 2 round trips to Redis."""
    if not settings.CHAT.guild_id:
        return {FEED_EXPECTED: [((), 0)]}
    opened = store.opened()
    alive_at, stats = opened.alive_at(), opened.stats() or {}
    reconnects = stats.get("reconnects")
    lost = reconnects if isinstance(reconnects, dict) else {}
    return {
        FEED_EXPECTED: [((), 1)],
        FEED_ALIVE: [((), alive_at or 0)],
        MEMBERS: [((), float(str(stats.get("members", 0))))],
        RECONNECTS: [((str(cause),), float(str(number))) for cause, number in lost.items()],
    }


GROUPS: tuple[parallel_calls.Calls[Found | None], ...] = (
    {
        "jobs": _reading(_jobs),
        "backups": _reading(_backups),
        "signing_key": _reading(_signing_key),
        "previews": _reading(_previews),
        "webhooks": _reading(_webhooks),
    },
    {"presence": _reading(_presence)},
)
