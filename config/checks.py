"""System checks of the settings (`manage.py check --deploy`)."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError
from django.utils import timezone

from accounts.webhooks import signatures
from config import serve
from oidc_provider.token import signing

TAG = "config"  # of the checks that look only at settings


@register(Tags.urls, TAG)
def check_content_url(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check that files on the service's own host have one place. `app_configs`: the apps to look at, or None."""
    where, base = urlsplit(settings.IMAGE_CDN_URL), urlsplit(settings.BASE_URL)
    if where.netloc != base.netloc or settings.IMAGE_CDN_URL.removeprefix(settings.BASE_URL) == "/media":
        return []
    sentence = f"IMAGE_CDN_URL is on the service's own host: it must be {settings.BASE_URL}/media."
    return [Error(sentence, hint="Or name a host of its own, such as https://files.example.org.", id="config.E006")]


@register(Tags.files, TAG)
def check_delivery(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check that the server that delivers files can read them. `app_configs`: the apps to look at, or None."""
    is_folder = settings.STORAGES["imagehost"]["BACKEND"].endswith("FolderStorage")
    if settings.FILE_DELIVERY == "accel" and not is_folder:
        sentence = "FILE_DELIVERY is accel, but files lie in S3_BUCKET, where nginx cannot read them."
        return [Error(sentence, hint="Use redirect, or direct.", id="config.E007")]
    if settings.FILE_DELIVERY == "redirect" and is_folder:
        sentence = "FILE_DELIVERY is redirect without S3_BUCKET: files are sent directly."
        return [checks.Warning(sentence, id="config.W002")]
    return []


@register(Tags.security, deploy=True)
def check_production(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check the settings of a production start. `app_configs`: Django passes the apps to look at, or None."""
    messages: list[CheckMessage] = [
        Error(problem.sentence, hint=problem.fix, id=problem.id) for problem in serve.problems()
    ]
    if settings.ALLOW_UNSAFE_START:
        allowed = ", ".join(settings.ALLOW_UNSAFE_START)
        hint = "Unset it: it is for measuring and for tests."
        messages.append(checks.Warning(f"ALLOW_UNSAFE_START lets pass: {allowed}.", hint=hint, id="config.W001"))
    if not settings.STAFF_SECOND_FACTOR:
        sentence = "Staff need no second factor: a stolen password is enough to do what staff can do."
        messages.append(checks.Warning(sentence, hint="Unset STAFF_SECOND_FACTOR.", id="config.W003"))
    if settings.EMBEDDED:
        messages.append(Error("DATABASE_URL is not set: this is the embedded default.", id="config.E001"))
    if not settings.REDIS_URL:
        messages.append(
            Error("REDIS_URL is not set: limits and caches would differ between processes.", id="config.E003")
        )
    if not settings.HTTPS:
        messages.append(Error("BASE_URL is not https.", id="config.E004"))
    return messages


@register(Tags.security, deploy=True)
def check_connections(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check that connections to other machines are encrypted, unless the operator says that their network is private.
    `app_configs`: as above."""
    if settings.EMBEDDED or settings.PRIVATE_NETWORK:
        return []
    hint = "Use {} in the address; or set PRIVATE_NETWORK=1 where no others can read or join that network."
    database = settings.DATABASES["default"]  # by default without TLS
    is_secured = database.get("OPTIONS", {}).get("sslmode") in ("require", "verify-ca", "verify-full")
    is_plain_database = not is_secured and not all(map(serve.is_local, str(database.get("HOST") or "").split(",")))
    plain = [
        ("PostgreSQL", "sslmode=verify-full", "config.W004", is_plain_database),
        ("Redis", "rediss://", "config.W005", any(map(_is_plain_redis, settings.CACHES.values()))),
    ]
    return [
        checks.Warning(f"The connection to {name} is not encrypted.", hint=hint.format(scheme), id=code)
        for name, scheme, code, is_plain in plain
        if is_plain
    ]


def _is_plain_redis(cache: dict[str, Any]) -> bool:
    """Return whether it is a Redis reached in the clear; behind sentinels, by their hosts.

    Any: an entry of CACHES.
    """
    parts = urlsplit(str(cache.get("LOCATION", "")))
    sentinels = [host for host, _ in cache.get("OPTIONS", {}).get("SENTINELS", ())]
    return parts.scheme == "redis" and not all(map(serve.is_local, sentinels or [parts.hostname or ""]))


@register(Tags.security, deploy=True)
def check_encryption_keys(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check that signing keys and secrets of webhooks can be decrypted, where there is a database with the tables."""
    try:
        unreadable = [f"the signing key {kid}" for kid in signing.unreadable(timezone.now())]
        if count := signatures.unreadable():
            unreadable.append(f"the secrets of {count} webhooks")
    except DatabaseError:
        return []
    hint = "Put the secret that it was encrypted with behind the new one; docs/operations.md, Signing keys."
    sentence = "SIGNING_KEY_ENCRYPTION_KEYS does not decrypt {}."
    return [Error(sentence.format(what), hint=hint, id="config.E008") for what in unreadable]
