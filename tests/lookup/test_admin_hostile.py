"""What a browser can send to the forms of the app: whatever it is, a form error and never a server error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import forms
from django.contrib.admin import site
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.test import RequestFactory

from accounts.models import User
from lookup.models import Asset, BadgeTier, Link, Profile, Section
from tests.factories import lookup as make
from tests.factories.accounts import StaffFactory, UserFactory
from tests.lookup.admin_forms import MAKE, READ_ONLY, errors, model_of, page, post, save, sent, superuser, values_of

pytestmark = pytest.mark.django_db

Rows = dict[str, Model]
WRITTEN = sorted(name for name in MAKE if model_of(name) not in READ_ONLY and name != "commentlike")
# Numbers beyond every column, what is no number, text beyond every column, and what PostgreSQL cannot store.
TYPED = ["9" * 30, "NaN", "\U0001f331" * 3000, "a\x00b"]


@pytest.fixture(scope="module")
def rows(module_db: None) -> Rows:
    """A row of each model that has a form."""
    return {name: MAKE[name]() for name in WRITTEN}


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
