"""Forms of users, keys and apps: each change goes through its operation, and what it refuses is a form error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import ApiKey, AuditEvent, User
from oidc_provider.models import Application
from tests.factories.accounts import AliasFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db

# What no browser sends; PostgreSQL refuses to look for a NUL.
HOSTILE = ["a\x00b", "x", "9" * 40]


APP = {"name": "App", "redirect_uris": "https://a.example/cb", "registered_scopes": ["openid"]}
# The page of what a user owns, the field of the owner, and the other fields of a new one.
OWNED = [
    ("accounts/apikey", ApiKey, "owner", {"name": "Bot", "allowed": ["lookup:user"]}),
    ("oidc_provider/application", Application, "user", APP),
]


@pytest.mark.parametrize("owner", HOSTILE)
@pytest.mark.parametrize(("page", "model", "field", "values"), OWNED)
def test_the_owner_of_a_new_key_or_app_is_a_user(
    browser: Client, page: str, model: Any, field: str, values: dict[str, Any], owner: str
) -> None:
    answer = browser.post(f"/admin/{page}/add/", {**values, field: owner})
    assert (answer.status_code, list(answer.context["adminform"].form.errors)) == (200, [field])
    assert not model.objects.exists()
    browser.post(f"/admin/{page}/add/", {**values, field: UserFactory().pk})
    assert model.objects.exists()


def form_of(answer: Any) -> dict[str, Any]:
    """The values of the page's form and of its inlines' management forms, as a browser would send them."""
    form = answer.context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    for inline in answer.context["inline_admin_formsets"]:
        values |= {f"{inline.formset.prefix}-TOTAL_FORMS": 0, f"{inline.formset.prefix}-INITIAL_FORMS": 0}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def test_a_user_is_added_with_a_uid(browser: Client, staff: User) -> None:
    values = {"username": "Newcomer", "email": "New@example.org", "password1": "a long pass phrase"}
    answer = browser.post("/admin/accounts/user/add/", {**values, "password2": "a long pass phrase"})
    assert answer.status_code == 302, answer.context["errors"]
    user = User.objects.by_username("newcomer").get()
    assert user.uid == staff.uid + 1
    assert user.check_password("a long pass phrase")
    assert AuditEvent.objects.get().verb == "user:created"


def test_a_taken_name_is_a_form_error(browser: Client) -> None:
    AliasFactory(name="Taken", key="TAKEN")
    values = {"username": "taken", "email": "n@example.org", "password1": "a long pass phrase"}
    answer = browser.post("/admin/accounts/user/add/", {**values, "password2": "a long pass phrase"})
    assert answer.status_code == 200
    assert "already taken" in answer.content.decode()


def test_an_address_in_another_spelling_is_a_form_error(browser: Client) -> None:
    values = {"username": "Newcomer", "email": "new@straße.example", "password1": "a long pass phrase"}
    answer = browser.post("/admin/accounts/user/add/", {**values, "password2": "a long pass phrase"})
    assert answer.status_code == 200
    assert "Mail to this domain goes to strasse.example." in answer.content.decode()


def test_a_user_is_changed_through_the_operation(browser: Client) -> None:
    user = UserFactory()
    url = f"/admin/accounts/user/{user.pk}/change/"
    values = form_of(browser.get(url))
    answer = browser.post(url, {**values, "plan": "PREMIUM", "username": "Renamed"})
    assert answer.status_code == 302, answer.context["errors"]
    user.refresh_from_db()
    assert (user.plan, user.username) == ("PREMIUM", "Renamed")
    changed = AuditEvent.objects.get()
    assert (changed.verb, changed.data["changed"]) == ("user:changed", ["plan", "username"])


def test_a_helper_cannot_make_anybody_staff(helper_with: Callable[..., Client]) -> None:
    user, superuser = UserFactory(), StaffFactory()
    browser = helper_with("accounts.change_user")
    url = f"/admin/accounts/user/{user.pk}/change/"
    values = form_of(browser.get(url))
    browser.post(url, {**values, "plan": "PREMIUM", "is_staff": "on", "is_superuser": "on"})
    user.refresh_from_db()
    assert (user.plan, user.is_staff, user.is_superuser) == ("PREMIUM", False, False)
    assert browser.post(f"/admin/accounts/user/{superuser.pk}/change/", values).status_code == 403


def test_an_app_is_changed_through_the_operations(browser: Client) -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    url = f"/admin/oidc_provider/application/{app.pk}/change/"
    values = form_of(browser.get(url))
    lines = "https://a.example/cb\nhttps://b.example/cb"
    answer = browser.post(url, {**values, "name": "Renamed", "redirect_uris": lines})
    assert answer.status_code == 302, answer.context["errors"]
    app = Application.objects.get()
    assert (app.name, app.redirect_urls) == ("Renamed", ["https://a.example/cb", "https://b.example/cb"])
    verbs = AuditEvent.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["application:redirect_urls_changed", "application:details_changed"]


def test_a_bad_change_of_an_app_is_a_form_error(browser: Client) -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    url = f"/admin/oidc_provider/application/{app.pk}/change/"
    values = {**form_of(browser.get(url)), "redirect_uris": "http://evil.example/", "registered_scopes": ["email"]}
    answer = browser.post(url, values)
    assert set(answer.context["adminform"].form.errors) == {"redirect_uris", "registered_scopes"}
    assert not AuditEvent.objects.exists()
