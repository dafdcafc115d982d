"""Staff at the browser: forms of the admin, sent back as a browser would send them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client

from tests.factories.accounts import StaffFactory, UserFactory

Values = dict[str, Any]  # Any: what a browser sends


def superuser() -> Client:
    """A browser signed in as somebody who may do everything."""
    client = Client()
    client.force_login(StaffFactory())
    return client


def helper(*rights: str) -> Client:
    """A browser signed in as a member of staff with these rights in the app alone."""
    user = UserFactory(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="lookup", codename__in=rights))
    client = Client()
    client.force_login(user)
    return client


def page(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def sent(answer: Any) -> Values:
    """What a browser sends when nobody touches the page's form; any: the test client's answer."""
    values = values_of(answer.context["adminform"].form)
    for inline in answer.context["inline_admin_formsets"]:
        values |= values_of(inline.formset.management_form)
        for form in inline.formset.forms:
            values |= values_of(form)
    return values


def values_of(form: forms.BaseForm) -> Values:
    """What a browser sends of an untouched form, hidden initial values too: by these a form with a default tells what
    was changed."""
    values: Values = {}
    for bound in form:
        names = [bound.html_name, *([bound.html_initial_name] if bound.field.show_hidden_initial else [])]
        for name in names:
            values |= _of_field(bound, name)
    return values


def _of_field(bound: forms.BoundField, name: str) -> Values:
    value = bound.value()
    if isinstance(bound.field.widget, forms.MultiWidget):
        parts = bound.field.widget.decompress(value) or ()
        return {f"{name}_{place}": part for place, part in enumerate(parts)}
    if isinstance(value, bool):
        return {name: "on"} if value else {}
    return {} if value is None else {name: value}


def post(browser: Client, url: str, /, **changes: Any) -> Any:
    """Open the form, change these fields (None: an unticked box) and send it; any: the test client's answer."""
    opened = browser.get(url)
    assert opened.status_code == 200
    values = {**sent(opened), **changes}
    return browser.post(url, {name: value for name, value in values.items() if value is not None})


def save(browser: Client, url: str, /, **changes: Any) -> None:
    answer = post(browser, url, **changes)
    assert answer.status_code == 302, dict(answer.context["adminform"].form.errors) or answer.context["errors"]


def errors(browser: Client, url: str, /, **changes: Any) -> dict[str, list[str]]:
    """The sentences of a refused form, by field."""
    answer = post(browser, url, **changes)
    assert answer.status_code == 200
    return {name: list(sentences) for name, sentences in answer.context["adminform"].form.errors.items()}
