"""The installation itself: settings, migrations, signing keys, static files, jobs, presence."""

from collections.abc import Iterator
from importlib import import_module

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import checks
from django.core.signing import BadSignature, TimestampSigner
from django.utils import timezone

from accounts.webhooks import signatures
from config import jobs
from config.doctor import Finding, failure, ok, warning
from config.operations import readiness
from oidc_provider.errors import SigningUnavailable
from oidc_provider.token import signing

MOST_SESSIONS = 10_000  # a tenth of a second
FINISH = "Where a rotation is over, remove the earlier secret on every host; docs/operations.md, Rotating secrets."
START_JOBS = "Start manage.py run_jobs (id-jobs.service), or the list for cron in docs/operations.md."


def settings_of_this_host() -> Iterator[Finding]:
    """Run Django's checks and ours, and the ones of a deployment where there is one."""
    found = checks.run_checks(include_deployment_checks=not settings.EMBEDDED)
    loud = [message for message in found if message.level >= checks.WARNING and not message.is_silenced()]
    for message in loud:
        report = failure if message.level >= checks.ERROR else warning
        yield report(f"{message.msg} ({message.id})", message.hint or "Change the setting, then start again.")
    if not loud:
        kind = "the embedded default, for a first look and small installations" if settings.EMBEDDED else "production"
        yield ok(f"agree with one another; this is {kind}")


def migrations() -> Iterator[Finding]:
    waiting = readiness.migrations()
    yield failure(waiting, "Run manage.py migrate.") if waiting else ok("all are applied")


def signing_keys() -> Iterator[Finding]:
    now = timezone.now()
    unreadable = signing.unreadable(now)
    for kid in unreadable:
        fix = (
            "Add the secret that it was encrypted with to SIGNING_KEY_ENCRYPTION_KEYS, or retire the key with --force."
        )
        yield failure(f"{kid} cannot be decrypted", fix)
    try:
        signing.check()
    except SigningUnavailable as error:
        if not unreadable:
            yield failure("no key signs id_tokens", str(error))
    else:
        yield ok(f"{signing.signer().kid} signs id_tokens")


def old_secrets() -> Iterator[Finding]:
    """Find secrets that only a rotation needs. While one is going on, warnings about them are right to be there."""
    earlier = len(settings.SIGNING_KEY_ENCRYPTION_KEYS) - 1
    waiting = signing.encrypted_by_earlier(timezone.now())
    webhooks = signatures.encrypted_by_earlier()
    if waiting or webhooks:
        fix = "Run manage.py signing_keys reencrypt once every host has the same secrets."
        for text in ([f"{len(waiting)} signing keys"] if waiting else []) + (
            [f"{webhooks} webhooks"] if webhooks else []
        ):
            yield warning(f"{text} are not encrypted with the first secret", fix)
    elif earlier:
        yield warning(f"no signing key needs the last {earlier} of SIGNING_KEY_ENCRYPTION_KEYS", FINISH)
    if settings.SECRET_KEY_FALLBACKS:
        count, needing = _sessions_by_key()
        text = f"{needing} of the {count} sessions that end next need SECRET_KEY_FALLBACKS"
        yield ok(text) if needing else warning(text, FINISH)
    if not (earlier or waiting or webhooks or settings.SECRET_KEY_FALLBACKS):
        yield ok("no earlier one is configured")


def _sessions_by_key() -> tuple[int, int]:
    """Return how many sessions were looked at, and how many of them need an earlier key than SECRET_KEY.

    What an earlier key signed was saved before the rotation, so it is among the sessions that end first.
    """
    current = TimestampSigner(salt=import_module(settings.SESSION_ENGINE).SessionStore().key_salt, fallback_keys=[])
    soonest = Session.objects.filter(expire_date__gt=timezone.now()).order_by("expire_date", "pk")
    count = needing = 0
    for data in soonest.values_list("session_data", flat=True)[:MOST_SESSIONS].iterator():
        count += 1
        try:
            current.unsign(data)
        except BadSignature:
            needing += 1
    return count, needing


def static_files() -> Iterator[Finding]:
    missing = readiness.static_files()
    if missing:
        yield failure("pages would answer 500", missing)
    else:
        yield ok("collected")


def periodic_jobs() -> Iterator[Finding]:
    now = timezone.now()
    scheduled = jobs.scheduled()
    if all(job.run.started_at is None for job in scheduled):
        yield warning("no job has run yet", START_JOBS)
        return
    for job in scheduled:
        if job.is_late(now) or job.run.last_error:
            yield failure(
                f"{job.name}: {job.state(now)}", START_JOBS if job.is_late(now) else "See the log of the jobs."
            )
            return
    yield ok(f"all {len(scheduled)} are on time")


def live_presence() -> Iterator[Finding]:
    if not settings.CHAT.guild_id:
        yield ok("off: CHAT_GUILD_ID names no chat server")
        return
    wrong = readiness.presence()
    fix = "Start manage.py run_presence_gateway (id-gateway@1.service) and read its log."
    yield warning(wrong, fix) if wrong else ok("the feed is fresh")
