"""Reads and fills the forms of the editor's pages as a browser does."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.pages.markup import page_of


def filled(client: Client, path: str, field: str) -> dict[str, Any]:
    """What a browser would send of the untouched form that has a field of that name."""
    forms = [form for form in page_of(client.get(path)).forms if field in form.fields]
    assert len(forms) == 1, f"{len(forms)} forms of {path} have a field {field!r}"
    return {name: value for name, value in forms[0].form_values() if name != "csrfmiddlewaretoken"}


def said(response: Any) -> str:
    """What a reader sees, with single spaces. `response`: of the test client, which Django gives no public type."""
    return " ".join(page_of(response).text_content().split())
