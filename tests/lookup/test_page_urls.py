"""The names of profiles and the paths of the service do not get in each other's way."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models.names import NAME_PATTERN, RESERVED_NAMES
from lookup.urls import NameConverter
from tests.factories.accounts import UserFactory

FIRST_SEGMENT = re.compile(r"\^?\(?(?:\?:)?((?:[A-Za-z0-9_-]|\\?\.)+)")


def patterns(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Every path of the service, as its pattern is written."""
    for entry in resolver.url_patterns:
        whole = before + str(entry.pattern).removeprefix("^" if before else "").replace("[aA][pP][iI]", "api")
        if isinstance(entry, URLPattern):
            yield whole
        else:
            yield from patterns(entry, whole)


def test_the_first_word_of_every_path_is_reserved() -> None:
    found = [path for path in patterns(get_resolver()) if path and not path.startswith("<name:")]
    words = {match[1].replace("\\", "") if (match := FIRST_SEGMENT.match(path)) else path for path in found}
    assert {"api", "admin", "accounts", ".well-known", "docs", "profile", "healthz"} <= words
    assert words - set(RESERVED_NAMES) == set()
    assert "static" in RESERVED_NAMES  # no pattern: static files are served before the patterns are asked


def test_profiles_come_after_every_other_path() -> None:
    found = list(patterns(get_resolver()))
    assert [path.startswith("<name:") for path in found].index(True) == len(found) - 15


def test_a_reserved_word_is_no_name_of_a_profile_in_any_case() -> None:
    converter = NameConverter()
    for word in RESERVED_NAMES:
        for written in (word, word.upper(), word.title()):
            with pytest.raises(ValueError, match=r"^$"):
                converter.to_python(written)
    assert re.fullmatch(converter.regex, "A.b_c-9" * 4)
    assert rf"\A{converter.regex}\Z" == NAME_PATTERN


@pytest.mark.django_db
def test_a_reserved_word_without_a_page_asks_no_database() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lookup.documents.resolve.answer", lambda *_, **__: pytest.fail("looked up"))
        for path in ("/ads.txt", "/favicon.ico", "/www", "/WWW", "/www/", f"/www/links/{'a' * 32}"):
            assert Client().get(path).status_code == 404


@pytest.mark.django_db
def test_a_profile_is_found_with_a_slash_and_has_no_other_pages() -> None:
    UserFactory(username="ada")
    response = Client().get("/ada/")
    assert (response.status_code, response.headers["Location"]) == (301, "/ada")
    assert Client().get("/ada").status_code == 200
    for path in ("/ada/links", "/ada/other", "/ada//"):
        assert Client().get(path).status_code == 404
