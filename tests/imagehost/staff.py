"""Staff at the browser, on the pages of the image host."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.messages import get_messages
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories.accounts import UserFactory


def url_of(name: str) -> str:
    return f"/admin/imagehost/{name}/"


def helper(*rights: str) -> Client:
    """A browser signed in as a member of staff with these rights in the app alone."""
    user = UserFactory(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="imagehost", codename__in=rights))
    client = Client()
    client.force_login(user)
    return client


def cost_of(browser: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(url).status_code == 200
    return len(queries)


def listed(answer: Any) -> list[Model]:
    """Any: the test client's answer."""
    return list(answer.context["cl"].result_list)


def messages_of(answer: Any) -> list[str]:
    """Any: the test client's answer."""
    return [str(message) for message in get_messages(answer.wsgi_request)]
