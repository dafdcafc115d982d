"""Every regular expression of the apps takes a time that grows with the length of the text, and no faster."""

from __future__ import annotations

import re

import pytest
from django import forms

from tests.support import patterns
from tests.support.patterns import Found

pytestmark = pytest.mark.once

FOUND = patterns.collected()
# Patterns that read texts of ours, which no user sends.
OWN_TEXTS = {
    "config.web.door._GROUP",  # routes of URLs
    "dashboard.documentation.expansion._BLOCK",  # pages of the documentation
    "dashboard.documentation.expansion._CODE",
    "dashboard.documentation.expansion._DESCRIPTION",  # its drawings
    "dashboard.documentation.explorer._BLOCK",
}


@pytest.mark.parametrize("module", sorted({found.module for found in FOUND}))
def test_a_long_text_takes_no_longer_than_its_length_asks_for(module: str) -> None:
    tried = {one.place: patterns.slow_text(one) for one in FOUND if one.module == module and one.place not in OWN_TEXTS}
    assert {place: text for place, text in tried.items() if text is not None} == {}


# Texts whose length is checked before a pattern by what reads them, or that meet none.
CHECKED_BY_THEIR_READERS = {
    "accounts.second_factor_pages.AddForm.credential",  # JSON
    "accounts.second_factor_pages.AddForm.name",
    "accounts.second_factor_pages.AuthenticateForm.credential",
    "accounts.second_factor_pages.LoginForm.credential",
    "accounts.second_factor_pages.ReauthenticateForm.credential",
    "accounts.second_factor_pages.SignupForm.credential",
    "accounts.second_factor_pages.SignupForm.name",
    "dashboard.imagehost.forms.AppealForm.text",  # lookup.social.decisions.appeal
    "dashboard.profile.content_forms.CustomBadgeForm.icon_svg",  # lookup.shapes.svg.svg_problems
    "dashboard.profile.content_forms.LinkForm.icon_svg",
    "dashboard.profile.content_forms.ProjectForm.tags",  # lookup.shapes.strict_fields.problem_of_text, for each
    "dashboard.profile.section_forms.SkillForm.icon_svg",
    "lookup.page.forms.CommentForm.content",  # lookup.social.comments.validated
    "lookup.page.forms.ReportForm.text",  # lookup.social.reports.validated
    "oidc_provider.admin.ApplicationForm.homepage_url",  # django.core.validators.URLValidator
    "oidc_provider.admin.ApplicationForm.privacy_url",
    "oidc_provider.admin.ApplicationForm.redirect_uris",  # oidc_provider.redirects.problem_of
    "oidc_provider.admin.ApplicationForm.support_url",
    "oidc_provider.admin.ApplicationForm.terms_url",
}


def test_every_text_of_a_form_has_a_longest_length() -> None:
    fields = patterns.fields_of_forms().items()
    texts = {name: field for name, field in fields if isinstance(field, forms.CharField)}
    is_password = forms.PasswordInput  # hashed, and met by no pattern
    unbounded = {
        name for name, field in texts.items() if field.max_length is None and not isinstance(field.widget, is_password)
    }
    assert unbounded - CHECKED_BY_THEIR_READERS == set()
    assert CHECKED_BY_THEIR_READERS - unbounded == set()


def test_patterns_of_every_kind_of_place_are_found() -> None:
    places = {
        *OWN_TEXTS,
        "infrastructure.text_rules.find_unstorable.__self__",  # a method of a pattern
        "accounts.templatetags.account_pages._BROWSERS.4.1",  # a row of a table
        "presence.store.records.Ending._SHAPE",  # an attribute of a class
        "dashboard.profile.import_preview",  # the argument of a function, whose line is left out
        "lookup.models.badges.validate_color.regex",  # a validator of a column
        "the URL <name:name>/comments/<link_id:comment_id>",
    }
    assert places - {re.sub(r":[0-9]+\Z", "", found.place) for found in FOUND} == set()


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"[^\s:/?#@]+(?:\.[^\s:/?#@]+)+(?::\d{1,5})?", "fullmatch"),
        (r"\bVersion/(\d+)\S* (?:Mobile/\S+ )?Safari/", "search"),
        (r"^r/(?P<first>.+)/(?P<second>.+)/\Z", "search"),
        (r"\s+\Z", "search"),
        (rb"[^@]+@(?:\w\.|\w\.\w\.)*;", "fullmatch"),  # two letters in turn, behind a beginning that comes once
    ],
)
def test_a_pattern_that_backtracks_is_found_out(pattern: str | bytes, method: str) -> None:
    assert patterns.slow_text(Found("here", "here", re.compile(pattern), frozenset({method})))
