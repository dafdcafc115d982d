"""The environment of every test: settings, databases, empty caches, no skips."""

import os
from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from tests.support import databases, environment, metric_values

environment.prepare()
pytest_plugins = ["tests.support.client", "tests.support.no_skips", "tests.support.live_servers"]


def pytest_configure() -> None:
    """Before Django is set up."""
    from django.conf import settings

    from config.observability import outages

    outages.PERIOD = 3600.0  # the end of an outage that a test provoked is logged in no other test
    metric_values.prepare()
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},  # nothing is collected
    }
    settings.WRITE_NOTES_IN_BACKGROUND = False
    settings.LIMIT_STORE = settings.LIMIT_STORE if settings.REDIS_URL else "tests.support.movable_limits.MovableLimits"
    settings.HOSTS = [*settings.HOSTS, "testserver"]  # of Django's test client
    if settings.REDIS_URL:
        settings.REDIS_URL = environment.own_redis(settings.REDIS_URL)
        settings.CACHES = {name: {**cache, "LOCATION": settings.REDIS_URL} for name, cache in settings.CACHES.items()}
    # Argon2 as in production, with little work; tests/accounts/test_passwords.py runs the real one.
    settings.PASSWORD_HASHERS = ["tests.support.hasher.QuickArgon2PasswordHasher", *settings.PASSWORD_HASHERS[1:]]


def pytest_report_header() -> str:
    from django.conf import settings

    engine = settings.DATABASES["default"]["ENGINE"].rpartition(".")[2]
    return f"database: {engine}, limits: {settings.LIMIT_STORE.rpartition('.')[2]}"


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Each worker has a copy of the migrated database. pytest-django would migrate one in each."""
    from django.db import connection
    from django.test import TransactionTestCase

    template = os.environ.get(databases.VARIABLE)
    if template is None:  # pytest was called by itself
        directory = tmp_path_factory.mktemp("template")
        template = databases.migrated_template(directory, os.environ.get("DATABASE_URL", ""))[databases.VARIABLE]
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: databases.empty())
        with databases.copied(connection.settings_dict, template):
            yield
            connection.close()


@pytest.fixture(scope="module")
def module_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around a module: what its module-scoped fixtures write is there for each test, which must not
    commit (`transaction=True`) and whose own writes are rolled back as ever."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _nothing_is_left_over() -> None:
    """Limits and caches start empty: the in-process ones, and this worker's own Redis database."""
    from django.conf import settings
    from django.core.cache import cache, caches

    from accounts.api_keys import uses
    from config.observability import access_log
    from config.operations import parallel_calls
    from infrastructure import limits
    from oidc_provider import request_log
    from oidc_provider.token import signing

    limits._store.cache_clear()
    parallel_calls._runs.clear()
    signing.forget_cached_signer()
    for each in (uses.buffer, access_log.buffer, request_log.buffer, caches["pages"]):
        each.clear()
    if settings.REDIS_URL:
        from django_redis import get_redis_connection

        get_redis_connection("default").flushdb()
    else:
        cache.clear()
