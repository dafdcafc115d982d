"""Reads and fills the forms of the editor's pages as a browser does, files too, and reads the lookup."""

from __future__ import annotations

import functools
import io
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from accounts.models import Permission, User
from tests.dashboard.profile.sounds_and_fonts import sound
from tests.factories.accounts import ApiKeyFactory
from tests.lookup import answers
from tests.pages.markup import page_of
from tests.support.browser import Browser

ROOT = "/dashboard/profile"


class Editor(Browser):
    """Signed in as `user`, whose lists it reads as anybody with a key reads them."""

    def __init__(self, user: User) -> None:
        super().__init__()
        self.username = user.username
        ApiKeyFactory(secret=answers.LOOKUP_SECRET, permissions=[Permission.LOOKUP_USER.value])
        self.client.force_login(user)

    def open(self, path: str) -> Editor:
        super().open(path)
        return self

    def fill(self, path: str, **values: Any) -> Editor:
        """Open the page and send its form with these values: texts, booleans for boxes, lists for several boxes, and
        files."""
        self.open(path)
        assert self.response.status_code == 200, self.response.status_code
        return self.send(path, **values)

    def send(self, path: str, **values: Any) -> Editor:
        """The same with the page that is open."""
        field = next(name for name in values if not name.endswith("-clear"))
        form = next(form for form in self.page.forms if form.method == "POST" and field in form.fields)
        texts = {name: value for name, value in values.items() if isinstance(value, str | bool)}
        for name, value in texts.items():
            form.fields[name] = value
        data: dict[str, Any] = {}
        for name, value in form.form_values():
            data.setdefault(name, []).append(value)
        self.response = self.client.post(path, data | {k: v for k, v in values.items() if k not in texts}, follow=True)
        return self

    def press(self, url: str, **values: str | list[str]) -> Editor:
        """The button whose form is sent to `url`, with the token of the page that is open."""
        token = self.page.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
        self.response = self.client.post(url, {"csrfmiddlewaretoken": token, **values}, follow=True)
        return self

    def looked_up(self, *includes: str) -> dict[str, Any]:
        """What the lookup answers of the user."""
        answer = answers.user(self.username, *includes)
        assert answer.status == 200, answer.body
        body: dict[str, Any] = answer.body
        return body

    def shown(self, include: str) -> Any:
        """That part of the lookup."""
        return self.looked_up(include)[include]


@functools.cache
def _png(width: int, height: int) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, height), "#1b5e4b").save(content, "PNG")
    return content.getvalue()


def picture(width: int = 64, height: int = 48) -> SimpleUploadedFile:
    return SimpleUploadedFile("view.png", _png(width, height), "image/png")


def song() -> SimpleUploadedFile:
    return SimpleUploadedFile("song.mp3", sound("mp3"), "audio/mpeg")


def filled(client: Client, path: str, field: str) -> dict[str, Any]:
    """What a browser would send of the untouched form that has a field of that name."""
    forms = [form for form in page_of(client.get(path)).forms if field in form.fields]
    assert len(forms) == 1, f"{len(forms)} forms of {path} have a field {field!r}"
    return {name: value for name, value in forms[0].form_values() if name != "csrfmiddlewaretoken"}


def said(response: Any) -> str:
    """What a reader sees, with single spaces. `response`: of the test client, which Django gives no public type."""
    return " ".join(page_of(response).text_content().split())
