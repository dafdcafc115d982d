"""Every page and form of the app in the admin: whatever a browser sends is an answer, never a server error; the pages
cost the same for any number of rows, and keep secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.contrib.admin import site
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from accounts.models import User
from lookup.models import (
    Asset,
    BadgeTier,
    Link,
    LinkDay,
    Profile,
    ProfileBlock,
    ProfileDay,
    Section,
    UserDocument,
    Visit,
    VisitBatch,
    VisitSalt,
)
from tests.factories import lookup as make
from tests.factories.accounts import StaffFactory, UserFactory
from tests.lookup.admin_forms import (
    HASH,
    MAKE,
    READ_ONLY,
    errors,
    helper,
    model_of,
    page,
    post,
    save,
    sent,
    superuser,
    values_of,
    visit,
)

pytestmark = pytest.mark.django_db

Rows = dict[str, Model]
WRITTEN = sorted(name for name in MAKE if model_of(name) not in READ_ONLY and name != "commentlike")
# Numbers beyond every column, what is no number, text beyond every column, and what PostgreSQL cannot store.
TYPED = ["9" * 30, "NaN", "\U0001f331" * 3000, "a\x00b"]


@pytest.fixture(scope="module")
def rows(module_db: None) -> Rows:
    """A row of each model."""
    return {name: make_row() for name, make_row in MAKE.items()}


@pytest.fixture(scope="module")
def staff(module_db: None) -> User:
    return StaffFactory()


@pytest.fixture
def profile(db: None) -> Profile:
    return make.main_profile(UserFactory())


@pytest.fixture
def form_of(rows: Rows, staff: User) -> Callable[..., forms.ModelForm[Any]]:
    """The form of a row as staff would send it, with these changes."""
    request = RequestFactory().post("/")
    request.user = staff

    def fill_in(name: str, /, **changes: str) -> forms.ModelForm[Any]:
        def instance() -> Model:
            return model_of(name)._default_manager.get(pk=rows[name].pk)

        form = site.get_model_admin(model_of(name)).get_form(request, instance(), change=True)
        return form({**values_of(form(instance=instance())), **changes}, instance=instance())

    return fill_in


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_typed_into_a_field_is_refused_or_can_be_stored(
    form_of: Callable[..., forms.ModelForm[Any]], name: str
) -> None:
    typed = [
        field
        for field, kind in form_of(name).fields.items()
        if not isinstance(kind, forms.BooleanField) and not isinstance(kind.widget, forms.Select)
    ]
    for field in typed:
        for value in TYPED:
            form = form_of(name, **{field: value})
            if form.is_valid():
                form.instance.save()


# JSON that Python reads and a database or another reader does not.
JSON = [
    '["\\u0000"]',
    '{"\\u0000": 1}',
    '["\\ud800"]',
    "[NaN]",
    "[1e999]",
    "NaN",
    '"\\ud800"',
    "{",
    "[1" + "0" * 5000,
    "[" * 100_000,
]


@pytest.mark.parametrize(
    ("name", "column"),
    [("profile", "settings"), ("section", "config"), ("project", "tags"), ("profilebadge", "unlocked_tiers")],
)
def test_json_that_cannot_be_stored_is_a_form_error(
    rows: Rows, form_of: Callable[..., forms.ModelForm[Any]], name: str, column: str
) -> None:
    for text in JSON:
        assert set(form_of(name, **{column: text}).errors) == {column}
    url = f"{page(model_of(name))}{rows[name].pk}/change/"
    assert set(errors(superuser(), url, **{column: '["\\ud800"]'})) == {column}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " \tjavascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "//evil.example/",
        "/path",
        "mailto:",
        "mailto:nobody",
        "https://a b/",
        "https://",
        "ftp://a.example/",
        "",
    ],
)
def test_no_link_leads_elsewhere_than_to_the_web_or_a_mail_address(url: str) -> None:
    with pytest.raises(ValidationError):
        Link(url=url).clean()
    Link(url=url, is_text=True).clean()


@pytest.mark.parametrize("url", ["https://a.example/x?y=z#w", "http://a.example", "MAILTO:ada@example.org"])
def test_a_link_leads_to_the_web_or_to_a_mail_address(url: str) -> None:
    Link(url=url).clean()


def test_a_section_that_becomes_another_type_gets_the_configuration_of_that_type(profile: Profile) -> None:
    """The configuration is not changed in the form: what both types have in common is nothing."""
    section = make.SectionFactory(profile=profile, type="GALLERY", config={})
    save(superuser(), f"{page(Section)}{section.pk}/change/", type="GAMES")
    section.refresh_from_db()
    assert (section.type, section.config) == ("GAMES", {"gameIds": []})


def test_tiers_of_a_badge_are_checked_on_its_page() -> None:
    tier = make.BadgeTierFactory()
    url, browser = f"/admin/lookup/badge/{tier.badge_id}/change/", superuser()
    wrong = {"threshold": "NaN", "tier": "-1", "image": "../x", "color": "red"}
    answer = post(browser, url, **{f"tiers-0-{field}": value for field, value in wrong.items()})
    assert set(answer.context["inline_admin_formsets"][0].formset.forms[0].errors) == set(wrong)
    fields = {"tiers-TOTAL_FORMS": "2", "tiers-1-tier": tier.tier, "tiers-1-title": "x", "tiers-1-image": "x.svg"}
    twice = post(browser, url, **fields, **{"tiers-1-threshold": "1", "tiers-1-badge": tier.badge_id})
    assert (twice.status_code, BadgeTier.objects.get().image) == (200, tier.image)


@pytest.mark.parametrize("path", ["/x.png", "../x.png", "a/../b", "https://evil.example/x", "a b", "a//b", "x?y", ""])
def test_a_file_lies_under_the_cdn(path: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Asset(path=path, mime="image/png").clean_fields(exclude=["owner"])
    assert set(refusal.value.message_dict) == {"path"}


@pytest.mark.parametrize("name", ["profile", "alias", "asset", "comment", "feedbackvote"])
def test_what_the_page_shows_read_only_cannot_be_posted(rows: Rows, name: str) -> None:
    """Nor anything else that has no field."""
    made = model_of(name)._default_manager.filter(pk=rows[name].pk)
    before = made.values().get()
    browser, url, other = superuser(), f"{page(model_of(name))}{rows[name].pk}/change/", UserFactory().pk
    posed = {"user": other, "owner": other, "author": other, "voter": other, "parent": "", "is_main": "on"}
    counters = {"like_count": "99", "reply_count": "99", "imported_like_count": "99", "name": "X", "id": "f" * 32}
    taken = {"created_at_0": "2020-01-01", "created_at_1": "00:00"}
    opened = browser.get(url)
    editable = set(opened.context["adminform"].form.fields)
    fields = {key: value for key, value in {**posed, **counters, **taken}.items() if key not in editable}
    assert browser.post(url, {**sent(opened), **fields}).status_code == 302
    after = made.values().get()
    assert {key for key in before if before[key] != after[key]} <= {"updated_at"}


# The salts are secrets, the batches noise, and the days their owners'; tiers are on the page of their badge.
HIDDEN: set[type[Model]] = {VisitSalt, VisitBatch, BadgeTier, ProfileBlock, ProfileDay, LinkDay}

every_page = pytest.mark.parametrize("name", MAKE)


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
def test_every_list_can_be_searched_and_filtered(rows: Rows, name: str) -> None:
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
    rows: Rows, name: str
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
def test_forms_cost_the_same_however_many_rows_there_are(rows: Rows, name: str) -> None:
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
def test_what_is_rendered_and_counted_is_read_only(rows: Rows, name: str) -> None:
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
