"""Every list and page of the app in the admin: it opens, costs the same for one row and for ten, and keeps secrets."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from lookup.models import (
    BadgeTier,
    LeaderboardEntry,
    Profile,
    ProfileDocument,
    UserDocument,
    Visit,
    VisitBatch,
    VisitSalt,
)
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.admin_forms import helper, page, superuser
from tests.lookup.admin_rows import HASH, MAKE, visit

pytestmark = pytest.mark.django_db

# The salts are secrets and the batches noise; tiers stand on the page of their badge.
HIDDEN: set[type[Model]] = {VisitSalt, VisitBatch, BadgeTier}
READ_ONLY: set[type[Model]] = {UserDocument, ProfileDocument, LeaderboardEntry, Visit}


every_page = pytest.mark.parametrize("name", MAKE)


def model_of(name: str) -> type[Model]:
    return apps.get_model("lookup", name)


def cost_of(browser: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(url).status_code == 200
    return len(queries)


def look_of(browser: Client, url: str) -> tuple[int, int, int]:
    """Its status, queries and choices."""
    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(url)
    return answer.status_code, len(queries), answer.content.count(b"<option")


def test_every_model_has_its_pages() -> None:
    models = set(apps.get_app_config("lookup").get_models())
    assert {model for model in models if site.is_registered(model)} == models - HIDDEN
    assert {model_of(name) for name in MAKE} == models - HIDDEN


@every_page
def test_every_list_can_be_searched_and_filtered(name: str) -> None:
    browser, row = superuser(), MAKE[name]()
    url = page(model_of(name))
    for term in (str(row.pk), "-1", "9" * 30, "a b", "\U0001f331", '"', "x" * 5000):
        assert browser.get(url, {"q": term}).status_code == 200
    assert browser.get(url, {"q": "\x00"}).status_code == 400
    for choice in site.get_model_admin(model_of(name)).list_filter:
        field, wanted = (choice[0], "isempty") if isinstance(choice, tuple) else (str(choice), "exact")
        value = 1 if wanted == "isempty" else getattr(row, str(field))
        answer = browser.get(url, {f"{field}__{wanted}": int(value) if isinstance(value, bool) else value})
        assert [answer.status_code, answer.context["cl"].get_filters_params() != {}] == [200, True]


@every_page
def test_an_object_is_opened_by_staff_who_may_see_it_and_saved_by_those_who_may_change_it(name: str) -> None:
    row, url = MAKE[name](), page(model_of(name))
    change = f"{url}{row.pk}/change/"
    assert superuser().get(change).status_code == (403 if name == "visit" else 200)
    viewer, stranger = helper(f"view_{name}"), helper()
    assert viewer.get(url).status_code == 200
    assert viewer.get(change).status_code == (403 if name == "visit" else 200)
    assert viewer.post(change, {}).status_code == 403
    assert viewer.get(f"{url}add/").status_code == 403
    assert viewer.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    for closed in (url, change, f"{url}add/"):
        assert stranger.get(closed).status_code == 403


@every_page
def test_forms_cost_the_same_however_many_rows_there_are(name: str) -> None:
    """No choice of all users, profiles or files stands in any of them."""
    browser, url, row = superuser(), page(model_of(name)), MAKE[name]()
    forms = [f"{url}{row.pk}/change/", f"{url}add/"]
    for form in forms:
        browser.get(form)
    before = [look_of(browser, form) for form in forms]
    for _ in range(9):
        MAKE[name]()
    assert [look_of(browser, form) for form in forms] == before


@every_page
def test_what_can_be_added_has_a_form(name: str) -> None:
    model = model_of(name)
    is_closed = model in READ_ONLY or model is Profile
    assert superuser().get(f"{page(model)}add/").status_code == (403 if is_closed else 200)


@pytest.mark.parametrize("name", sorted(model._meta.model_name or "" for model in READ_ONLY))
def test_what_is_rendered_and_counted_is_read_only(name: str) -> None:
    browser, row, url = superuser(), MAKE[name](), page(model_of(name))
    assert browser.post(f"{url}add/", {}).status_code == 403
    assert browser.post(f"{url}{row.pk}/change/", {}).status_code == 403
    assert browser.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    browser.post(url, {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
    assert type(row)._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize("name", sorted(model._meta.model_name or "" for model in HIDDEN))
def test_what_is_not_for_eyes_has_no_page(name: str) -> None:
    browser = superuser()
    assert browser.get(f"/admin/lookup/{name}/").status_code == 404
    assert f"/admin/lookup/{name}/" not in browser.get("/admin/").content.decode()


def test_a_visitors_hash_is_on_no_page() -> None:
    browser, seen = superuser(), visit()
    html = browser.get(page(Visit)).content.decode()
    assert seen.user.username in html
    assert HASH[:8] not in html


def test_a_users_page_shows_profiles_and_counters_at_the_same_cost() -> None:
    browser, user = superuser(), UserFactory()
    UserDocument.objects.filter(user=user).update(views=4321)
    url = f"/admin/accounts/user/{user.pk}/change/"
    browser.get(url)
    before = cost_of(browser, url)
    for number in range(9):
        make.ProfileFactory(user=user, name=f"Mask {number}")
    assert cost_of(browser, url) == before
    html = browser.get(url).content.decode()
    assert "Mask 8" in html
    assert "4321" in html
    assert f"/admin/lookup/profile/{make.main_profile(user).pk}/change/" in html


def test_a_profile_leads_to_its_content() -> None:
    browser, link = superuser(), make.LinkFactory()
    make.LinkFactory()
    html = browser.get(f"{page(Profile)}{link.profile_id}/change/").content.decode()
    url = f"/admin/lookup/link/?profile__id__exact={link.profile_id}"
    assert f'<a href="{url}">links (1)</a>' in html
    assert list(browser.get(url).context["cl"].result_list) == [link]


@pytest.mark.parametrize("name", ["profile", "asset", "badge", "section", "comment"])
def test_choices_are_looked_up_not_listed(name: str) -> None:
    """Forms of a hundred thousand choices would not load."""
    fields = {
        "profile": ("link", "profile"),
        "asset": ("audio", "audio"),
        "badge": ("profilebadge", "badge"),
        "section": ("galleryitem", "section"),
        "comment": ("commentlike", "comment"),
    }
    model, field = fields[name]
    row = MAKE[name]()
    browser = superuser()
    query = {"app_label": "lookup", "model_name": model, "field_name": field, "term": str(row.pk)}
    found = browser.get("/admin/autocomplete/", query).json()["results"]
    assert [choice["id"] for choice in found] == [str(row.pk)]
    assert str(row.pk) not in browser.get(f"/admin/lookup/{model}/add/").content.decode()
