"""`manage.py check --deploy` names what a production start forgot."""

import json
import re
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.checks import run_checks
from pytest_django import Settings

from accounts import plans
from config import serve
from config.checks import (
    check_connections,
    check_content_url,
    check_delivery,
    check_encryption_keys,
    check_production,
)
from config.web import request_body
from dashboard.profile import editing
from imagehost.errors import FileTooLarge
from oidc_provider.token import signing
from tests.factories.accounts import UserFactory, WebhookEndpointFactory

# The settings of a good production start, as far as our own checks look.
GOOD = {
    "EMBEDDED": False,
    "EDGE_CLIENT_ADDRESS_HEADER": "X-Client-Address",
    "REDIS_URL": "redis://127.0.0.1/0",
    "HTTPS": True,
    "RATE_LIMITS_ENABLED": True,
    "ALLOW_UNSAFE_START": [],
    "STAFF_SECOND_FACTOR": True,
    "WEBHOOKS_TO_LOOPBACK": False,
}
FORGOTTEN: list[tuple[str, Any, str, str]] = [
    ("EMBEDDED", True, "config.E001", "DATABASE_URL is not set: this is the embedded default."),
    (
        "EDGE_CLIENT_ADDRESS_HEADER",
        "",
        "config.E002",
        "EDGE_CLIENT_ADDRESS_HEADER is not set: every client would share the edge proxy's address.",
    ),
    ("REDIS_URL", "", "config.E003", "REDIS_URL is not set: limits and caches would differ between processes."),
    ("HTTPS", False, "config.E004", "BASE_URL is not https."),
    ("RATE_LIMITS_ENABLED", False, "config.E009", "Every rate limit is off."),
    (
        "WEBHOOKS_TO_LOOPBACK",
        True,
        "config.E013",
        "WEBHOOKS_TO_LOOPBACK is set: strangers' webhooks would reach servers on this machine.",
    ),
    ("SECRET_KEY", "short", "config.E011", "SECRET_KEY is an example, or too easy to guess (5 characters)."),
    ("ALLOW_UNSAFE_START", ["edge"], "config.W001", "ALLOW_UNSAFE_START lets pass: edge."),
    (
        "STAFF_SECOND_FACTOR",
        False,
        "config.W003",
        "Staff need no second factor: a stolen password is enough to do what staff can do.",
    ),
]


@pytest.fixture
def production(settings: Settings) -> Settings:
    for name, value in GOOD.items():
        setattr(settings, name, value)
    return settings


def test_a_good_production_start_has_nothing_to_say(production: Settings) -> None:
    assert check_production(None) == []


@pytest.mark.parametrize(("name", "value", "identifier", "sentence"), FORGOTTEN)
def test_what_was_forgotten_is_named(
    production: Settings, name: str, value: Any, identifier: str, sentence: str
) -> None:
    setattr(production, name, value)
    assert [(message.id, message.msg) for message in check_production(None)] == [(identifier, sentence)]


WEAK = "is an example, or too easy to guess"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SECRET_KEY", "FIFTY-RANDOM-CHARACTERS", f"SECRET_KEY {WEAK} (23 characters)."),
        ("SECRET_KEY", "ab" * 30, f"SECRET_KEY {WEAK} (60 characters)."),
        (
            "SIGNING_KEY_ENCRYPTION_KEYS",
            ["short", "an-earlier-one-" * 4],
            f"SIGNING_KEY_ENCRYPTION_KEYS {WEAK} (5 characters).",
        ),
        ("EMAIL_HOST_PASSWORD", "PASSWORD", "EMAIL_HOST_PASSWORD is the example's."),
    ],
)
def test_a_secret_that_others_know_is_named(production: Settings, name: str, value: Any, sentence: str) -> None:
    setattr(production, name, value)
    assert [problem.sentence for problem in serve.problems()] == [sentence]


@pytest.mark.django_db
def test_the_checks_belong_to_deploy_checks_and_to_no_other_run(production: Settings) -> None:
    production.HTTPS = False
    found = [
        {message.id for message in run_checks(tags=["security"], include_deployment_checks=is_deploy)}
        for is_deploy in (True, False)
    ]
    assert ["config.E004" in identifiers for identifiers in found] == [True, False]


@pytest.mark.parametrize(
    ("url", "identifiers"),
    [
        ("https://id.example.org/media", []),
        ("https://files.example.org", []),
        ("https://cdn.example.org/a/b", []),
        ("https://id.example.org/i", ["config.E006"]),
        ("https://id.example.org/media2", ["config.E006"]),
        ("https://id.example.org", ["config.E006"]),
    ],
)
def test_files_on_the_own_host_have_one_place(settings: Settings, url: str, identifiers: list[str]) -> None:
    settings.BASE_URL, settings.IMAGE_CDN_URL = "https://id.example.org", url
    assert [message.id for message in check_content_url(None)] == identifiers


@pytest.mark.parametrize(
    ("delivery", "backend", "identifiers"),
    [
        ("direct", "imagehost.storing.storage.FolderStorage", []),
        ("accel", "imagehost.storing.storage.FolderStorage", []),
        ("redirect", "imagehost.storing.storage.FolderStorage", ["config.W002"]),
        ("direct", "imagehost.storing.storage.S3Storage", []),
        ("accel", "imagehost.storing.storage.S3Storage", ["config.E007"]),
        ("redirect", "imagehost.storing.storage.S3Storage", []),
    ],
)
def test_the_server_that_delivers_files_must_have_them(
    settings: Settings, delivery: str, backend: str, identifiers: list[str]
) -> None:
    settings.FILE_DELIVERY = delivery
    settings.STORAGES = {**settings.STORAGES, "imagehost": {"BACKEND": backend}}
    assert [message.id for message in check_delivery(None)] == identifiers


def test_nginx_takes_what_the_largest_plan_allows() -> None:
    """What each path takes is asked of nginx itself (`test_deploy_nginx.py`)."""
    nginx = (configured.BASE_DIR / "deploy" / "nginx.conf").read_text()
    sizes = [int(size) * plans.MEGABYTE for size in re.findall(r"client_max_body_size (\d+)m;", nginx)]
    assert sizes == [request_body.PAGE_BODY, plans.LARGEST_BODY, editing.MAX_BODY + plans.MEGABYTE]
    (answer,) = re.findall(r"return 413 '(.*FILE_TOO_LARGE.*)';", nginx)
    assert json.loads(answer) == FileTooLarge(plans.LARGEST_FILE).body()


@pytest.mark.django_db
def test_a_signing_key_that_cannot_be_decrypted_is_named(settings: Settings) -> None:
    kid = signing.ensure_signing_key().kid
    assert check_encryption_keys(None) == []
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new", *settings.SIGNING_KEY_ENCRYPTION_KEYS]
    assert check_encryption_keys(None) == []
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new"]
    sentence = f"SIGNING_KEY_ENCRYPTION_KEYS does not decrypt the signing key {kid}."
    assert [(message.id, message.msg) for message in check_encryption_keys(None)] == [("config.E008", sentence)]


@pytest.mark.django_db
def test_webhooks_whose_secrets_cannot_be_decrypted_are_counted(settings: Settings) -> None:
    WebhookEndpointFactory(user=UserFactory())
    assert check_encryption_keys(None) == []
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new"]
    sentence = "SIGNING_KEY_ENCRYPTION_KEYS does not decrypt the secrets of 1 webhooks."
    assert [message.msg for message in check_encryption_keys(None)] == [sentence]


def test_nginx_asks_a_host_again_that_has_just_restarted() -> None:
    servers = re.findall(r"(?m)^ +server [\d.:]+(.*);", (configured.BASE_DIR / "deploy" / "nginx.conf").read_text())
    assert servers == [" fail_timeout=1s"] * 2


@pytest.mark.parametrize(
    ("host", "options", "redis", "found"),
    [
        ("127.0.0.1", {}, "redis://localhost:6379/0", []),
        ("", {}, "unix:///run/redis.sock", []),
        ("/run/postgresql", {}, "redis://[::1]/0", []),
        ("db.example.org", {"sslmode": "verify-full"}, "rediss://redis.example.org/0", []),
        ("db.example.org", {"sslmode": "prefer"}, "rediss://redis.example.org/0", ["config.W004"]),
        ("127.0.0.1,db.example.org", {}, "redis://127.0.0.1/0", ["config.W004"]),
        ("127.0.0.1", {}, "redis://redis:6379/0", ["config.W005"]),
        ("10.0.0.7", {}, "redis://10.0.0.8/0", ["config.W004", "config.W005"]),
    ],
)
def test_connections_that_leave_the_machine_are_encrypted(
    production: Settings,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    options: dict[str, str],
    redis: str,
    found: list[str],
) -> None:
    monkeypatch.setitem(configured.DATABASES, "default", {"HOST": host, "OPTIONS": options})
    production.CACHES = {"default": {"LOCATION": redis}, "presence": {"LOCATION": redis}}
    production.PRIVATE_NETWORK = False
    assert [message.id for message in check_connections(None)] == found
    production.PRIVATE_NETWORK = True
    assert check_connections(None) == []


@pytest.mark.parametrize(
    ("host", "scheme", "found"),
    [("127.0.0.1", "redis", []), ("10.0.0.8", "redis", ["config.W005"]), ("10.0.0.8", "rediss", [])],
)
def test_behind_sentinels_their_hosts_count(production: Settings, host: str, scheme: str, found: list[str]) -> None:
    sentinels = {"SENTINELS": [("127.0.0.1", 26379), (host, 26380)]}
    production.CACHES = {"default": {"LOCATION": f"{scheme}://primary/0", "OPTIONS": sentinels}}
    production.PRIVATE_NETWORK = False
    assert [each.id for each in check_connections(None) if each.id == "config.W005"] == found
