"""Every list and page of the app in the admin: it opens, costs the same for any number of rows, and keeps secrets."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from lookup.models import (
    BadgeTier,
    LinkDay,
    Profile,
    ProfileBlock,
    ProfileDay,
    UserDocument,
    Visit,
    VisitBatch,
    VisitSalt,
)
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.admin_forms import HASH, MAKE, READ_ONLY, helper, model_of, page, superuser, visit

pytestmark = pytest.mark.django_db

# The salts are secrets, the batches noise, and the days their owners'; tiers are on the page of their badge.
HIDDEN: set[type[Model]] = {VisitSalt, VisitBatch, BadgeTier, ProfileBlock, ProfileDay, LinkDay}

every_page = pytest.mark.parametrize("name", MAKE)


@pytest.fixture(scope="module")
def rows(module_db: None) -> dict[str, Model]:
    """A row of each model."""
    return {name: make_row() for name, make_row in MAKE.items()}


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
    assert get_resolver().url_patterns  # which load the admin
    models = set(apps.get_app_config("lookup").get_models())
    assert {model for model in models if site.is_registered(model)} == models - HIDDEN
    assert {model_of(name) for name in MAKE} == models - HIDDEN


@every_page
def test_every_list_can_be_searched_and_filtered(rows: dict[str, Model], name: str) -> None:
    browser, row, url = superuser(), rows[name], page(model_of(name))
    for term in (str(row.pk), "9" * 30, '\U0001f331 "'):
        assert browser.get(url, {"q": term}).status_code == 200
    assert browser.get(url, {"q": "\x00"}).status_code == 400
    for choice in site.get_model_admin(model_of(name)).list_filter:
        if isinstance(choice, type):  # a filter of our own, with its own test
            continue
        field, wanted = (choice[0], "isempty") if isinstance(choice, tuple) else (str(choice), "exact")
        value = 1 if wanted == "isempty" else getattr(row, str(field))
        answer = browser.get(url, {f"{field}__{wanted}": int(value) if isinstance(value, bool) else value})
        assert [answer.status_code, answer.context["cl"].get_filters_params() != {}] == [200, True]


@every_page
def test_an_object_is_opened_by_staff_who_may_see_it_and_written_by_those_who_may_change_it(
    rows: dict[str, Model], name: str
) -> None:
    row, url = rows[name], page(model_of(name))
    change = f"{url}{row.pk}/change/"
    viewer, stranger = helper(f"view_{name}"), helper()
    assert viewer.get(url).status_code == 200
    assert viewer.get(change).status_code == (403 if name == "visit" else 200)
    assert viewer.post(change, {}).status_code == 403
    assert viewer.get(f"{url}add/").status_code == 403
    assert viewer.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    for closed in (url, change, f"{url}add/"):
        assert stranger.get(closed).status_code == 403


@every_page
def test_forms_cost_the_same_however_many_rows_there_are(rows: dict[str, Model], name: str) -> None:
    """No form holds a choice of all users, profiles or files. Profiles, and rows that are rendered or counted, cannot
    be added."""
    browser, url = superuser(), page(model_of(name))
    forms = [f"{url}{rows[name].pk}/change/", f"{url}add/"]
    for form in forms:
        browser.get(form)
    before = [look_of(browser, form) for form in forms]
    is_closed = model_of(name) in READ_ONLY or name == "profile"
    assert [status for status, _, _ in before] == [403 if name == "visit" else 200, 403 if is_closed else 200]
    for _ in range(2):
        MAKE[name]()
    assert [look_of(browser, form) for form in forms] == before


@pytest.mark.parametrize("name", sorted(model._meta.model_name or "" for model in READ_ONLY))
def test_what_is_rendered_and_counted_is_read_only(rows: dict[str, Model], name: str) -> None:
    browser, row, url = superuser(), rows[name], page(model_of(name))
    assert browser.post(f"{url}add/", {}).status_code == 403
    assert browser.post(f"{url}{row.pk}/change/", {}).status_code == 403
    assert browser.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    browser.post(url, {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
    assert type(row)._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize("name", sorted(model._meta.model_name or "" for model in HIDDEN))
def test_salts_and_batches_have_no_page(name: str) -> None:
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
    for number in range(3):
        make.ProfileFactory(user=user, name=f"Mask {number}")
    assert cost_of(browser, url) == before
    html = browser.get(url).content.decode()
    assert "Mask 2" in html
    assert "4321" in html
    assert f"/admin/lookup/profile/{make.main_profile(user).pk}/change/" in html


def test_a_profile_leads_to_its_content() -> None:
    browser, link = superuser(), make.LinkFactory()
    make.LinkFactory()
    html = browser.get(f"{page(Profile)}{link.profile_id}/change/").content.decode()
    url = f"/admin/lookup/link/?profile__id__exact={link.profile_id}"
    assert f'<a href="{url}">links (1)</a>' in html
    assert list(browser.get(url).context["cl"].result_list) == [link]
