"""The state of the service that the database and Redis know, read at each scrape of /metrics.

Each host's web process says the same, so a rule takes the largest value (`max by (name)`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from redis.exceptions import RedisError

from accounts.databases import replicas
from config import jobs, readiness, rounds
from imagehost import previews
from oidc_provider.models import SigningKey
from presence import store
from presence.store import StoreUnavailable

LIMIT = 0.9  # seconds for all of it; `readiness` has as many for its parts
Samples = list[tuple[tuple[str, ...], float]]  # values of the labels, value


class Family(NamedTuple):
    """A metric of the state. `only_grows`: it is a counter, which begins anew with the process that counts."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    only_grows: bool = False


READY = Family("hearth_ready", "1: this part of /readyz is ready.", ("part",))
READ = Family("hearth_state_read", "1: this scrape could read this part of the state.", ("part",))
JOB_LATE = Family("hearth_job_late", "1: the job should have succeeded by now.", ("name",))
JOB_FAILED = Family("hearth_job_failed", "1: the last run of the job that ended has failed.", ("name",))
JOB_SUCCESS = Family("hearth_job_last_success_timestamp_seconds", "When the job succeeded last.", ("name",))
JOB_SECONDS = Family("hearth_job_duration_seconds", "How long the last run of the job that ended took.", ("name",))
SIGNING_SINCE = Family("hearth_signing_key_since_timestamp_seconds", "Since when the signing key signs.")
PREVIEWS_DUE = Family("hearth_previews_due", "Thumbnails and posters that could be made now.")
PREVIEWS_DUE_SINCE = Family("hearth_previews_longest_wait_seconds", "How long the first of them has been due.")
FEED_EXPECTED = Family("hearth_presence_feed_expected", "1: CHAT_GUILD_ID names a chat server.")
FEED_ALIVE = Family("hearth_presence_feed_timestamp_seconds", "When the gateway worker last said that it follows.")
MEMBERS = Family("hearth_presence_members", "Members of the chat server that the worker knows.")
RECONNECTS = Family("hearth_presence_reconnects", "Sessions that the worker has lost.", ("cause",), only_grows=True)
REPLICA_LAG = Family(
    "hearth_replica_lag_seconds", "How far the replica is behind; infinite where it may not be read.", ("replica",)
)

Found = dict[Family, Samples]
FAMILIES = (
    *(READY, READ, JOB_LATE, JOB_FAILED, JOB_SUCCESS, JOB_SECONDS, SIGNING_SINCE, PREVIEWS_DUE, PREVIEWS_DUE_SINCE),
    *(FEED_EXPECTED, FEED_ALIVE, MEMBERS, RECONNECTS, REPLICA_LAG),
)


def read() -> Iterator[tuple[Family, Samples]]:
    """Every family with what is known of it, within two seconds. 3 queries, and those of /readyz."""
    answers = rounds.ask(GROUPS, limit=LIMIT)
    found: Found = {READ: [((part,), float(answered.answer is not None)) for part, answered in answers.items()]}
    for answered in answers.values():
        found |= answered.answer or {}
    parts = readiness.parts().items()
    found[READY] = [((name,), float(part.state == "ok")) for name, part in parts if not readiness.is_optional(name)]
    return ((family, found.get(family, [])) for family in FAMILIES)


def _reading(read_part: Callable[[datetime], Found]) -> Callable[[], Found | None]:
    """None where what it asks is away."""

    def tried() -> Found | None:
        try:
            return read_part(timezone.now())
        except (DatabaseError, RedisError, StoreUnavailable):
            return None

    return tried


def _jobs(now: datetime) -> Found:
    """1 query."""
    found: Found = {JOB_LATE: [], JOB_FAILED: [], JOB_SUCCESS: [], JOB_SECONDS: []}
    for job in jobs.scheduled():
        labels = (job.name,)
        found[JOB_LATE].append((labels, float(job.is_late(now))))
        found[JOB_FAILED].append((labels, float(bool(job.run.last_error))))
        if job.run.succeeded_at is not None:
            found[JOB_SUCCESS].append((labels, job.run.succeeded_at.timestamp()))
        if job.run.duration_ms is not None:
            found[JOB_SECONDS].append((labels, job.run.duration_ms / 1000))
    return found


def _signing_key(now: datetime) -> Found:
    """1 query."""
    since = SigningKey.objects.signing().values_list("signing_since", flat=True).first()
    return {SIGNING_SINCE: [((), since.timestamp())]} if since else {}


def _previews(now: datetime) -> Found:
    """1 query."""
    backlog = previews.backlog(now)
    return {PREVIEWS_DUE: [((), backlog.due)], PREVIEWS_DUE_SINCE: [((), backlog.longest_wait.total_seconds())]}


def _replica_lags(now: datetime) -> Found:
    """A few queries on each replica and the primary, on connections of their own."""
    return {REPLICA_LAG: [((one.name,), one.measured().lag) for one in replicas.configured()]}


def _presence(now: datetime) -> Found:
    """2 round trips to Redis."""
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


GROUPS: tuple[rounds.Questions[Found | None], ...] = (
    {"jobs": _reading(_jobs), "signing_key": _reading(_signing_key), "previews": _reading(_previews)},
    {"presence": _reading(_presence)},
    {"replicas": _reading(_replica_lags)},
)
