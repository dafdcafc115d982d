"""A browser without JavaScript: opens pages, fills forms, follows redirects."""

from __future__ import annotations

from typing import Any

import lxml.html
from django.contrib.auth import get_user
from django.test import Client

from accounts.models import User


class Browser:
    """Speaks through Django's test client with CSRF checks on, and sends only what the page's own form holds.

    After each step `response` is the last answer (redirects followed) and `page` its parsed HTML.
    """

    def __init__(self, **environment: Any) -> None:
        """`environment`: WSGI variables of every request, such as REMOTE_ADDR."""
        self.client = Client(enforce_csrf_checks=True, **environment)
        self.response: Any = None  # Django gives test responses no public type

    @property
    def page(self) -> lxml.html.HtmlElement:
        return lxml.html.fromstring(self.response.content)

    @property
    def text(self) -> str:
        """What a reader sees, with single spaces."""
        return " ".join(self.page.text_content().split())

    def user(self) -> User | None:
        """Who is signed in."""
        user = get_user(self.client)
        return user if isinstance(user, User) else None

    def open(self, path: str) -> Browser:
        self.response = self.client.get(path, follow=True)
        return self

    def form(self, field: str) -> lxml.html.FormElement:
        """The one form of the page with an input named `field`."""
        forms = [form for form in self.page.forms if field in form.fields]
        assert len(forms) == 1, f"{len(forms)} forms of {self.response.request['PATH_INFO']} have a field {field!r}"
        return forms[0]

    def submit(self, **values: str) -> Browser:
        """Fill the form that has all of `values`, and send it as a browser does: by POST, with its hidden fields."""
        form = self.form(next(iter(values)))
        assert form.method == "POST"
        for name, value in values.items():
            form.fields[name] = value
        target = form.get("action") or self.response.request["PATH_INFO"]
        self.response = self.client.post(target, dict(form.form_values()), follow=True)
        return self

    def errors(self) -> list[str]:
        """The complaints of the form that came back, of all its fields."""
        form = self.response.context["form"]
        return [message for messages in form.errors.values() for message in messages]
