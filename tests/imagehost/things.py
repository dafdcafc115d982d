"""A file, an album and a folder of Ada that everybody sees, and the people around them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User
from imagehost.models import Album
from imagehost.moderation import Row
from lookup.models import Decision, Report
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FolderFactory
from tests.imagehost import objects
from tests.imagehost.public_pages import stored

KINDS = ["FILE", "ALBUM", "FOLDER"]
MODERATOR = ("view_report", "decide_report", "view_decision", "quarantine_file")


def made(kind: str, owner: User) -> Row:
    file = stored(content=objects.picture(), owner=owner, name="Picture1", original_name="lamp.png")
    if kind == "FILE":
        return file
    if kind == "ALBUM":
        return Album.objects.create(owner=owner, title="Lamps", file_ids=[file.pk.hex])
    return FolderFactory(owner=owner, name="Lamps", is_public=True)


def path_of(row: Row) -> str:
    """The path of its public page."""
    return row.page_url.removeprefix("http://127.0.0.1:8000") if hasattr(row, "page_url") else row.url[21:]


def member(*rights: str, is_superuser: bool = False) -> User:
    """A member of staff with these rights."""
    user: User = UserFactory(is_staff=True, is_superuser=is_superuser)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return user


def browser_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def send(client: Client, row: Row, reason: str = "SPAM", **values: str) -> Any:
    """Any: the test client's answer."""
    return client.post(f"{path_of(row)}/report", {"reason": reason, "text": "", **values})


def act(browser: Client, row: Report | Decision, name: str, words: str = "It sells lamps.") -> Any:
    """Run an action of the admin. Any: the test client's answer."""
    page = f"/admin/lookup/{row._meta.model_name}/act/{name}/"
    return browser.post(page, {"_selected_action": [row.pk], "reason": words}, follow=True)
