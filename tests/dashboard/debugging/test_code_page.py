"""Ready code holds the app's real values, and every error that the provider can answer has its row in the guide."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from django.urls import reverse

import oidc_provider
from dashboard.client_apps import code_samples, error_guide
from dashboard.client_apps.code_samples import STACKS
from dashboard.client_apps.error_guide import ERRORS, PAGE
from oidc_provider import errors
from oidc_provider.errors import ProtocolError
from oidc_provider.models import Application
from tests.factories.oidc_provider import CLIENT_SECRET, REDIRECT_URL
from tests.pages.markup import problems_of
from tests.support.browser import Browser

HOSTILE = "https://app.example.org/cb?a='\"$(id)`id`${x}<<issuer>>%27;--"


def code_of(app: Application, stack: str, redirect_url: str = REDIRECT_URL) -> str:
    (found,) = [each for each in STACKS if each.name == stack]
    return code_samples.sample_of(found, app, redirect_url).code


def open_code(browser: Browser, app: Application, **query: str) -> Browser:
    browser.response = browser.client.get(reverse("application_code", args=[app.client_id]), query)
    return browser


def test_each_stack_has_a_page_with_the_values_of_the_app(app: Application, browser: Browser) -> None:
    for stack in STACKS:
        open_code(browser, app, stack=stack.name)
        code = browser_code(browser)
        assert code == code_of(app, stack.name)
        assert app.client_id in code
        assert "http://127.0.0.1:8000" in code
        assert "CLIENT_SECRET" in code
        assert problems_of(browser.response) == []
    assert browser_code(open_code(browser, app, stack="cobol")) == code_of(app, "curl")


def test_no_place_is_left_open_no_secret_is_filled_in_and_the_scopes_are_those_of_the_app(app: Application) -> None:
    app.registered_scopes = ["openid", "email"]
    for stack in STACKS:
        code = code_of(app, stack.name)
        assert "<<" not in code.replace("<<<", "")  # which is bash
        assert CLIENT_SECRET not in code
        assert app.client_secret not in code
        assert "openid" in code
        assert "email" in code
        assert "offline_access" not in code
        said = [line for line in code.splitlines() if not line.lstrip().startswith(("//", "#", "*"))]
        assert not [line for line in said if '"profile' in line.partition("//")[0].partition("#")[0]]


def test_shells_read_a_hostile_redirect_url_as_it_is(app: Application) -> None:
    lines = code_of(app, "curl", HOSTILE).splitlines()
    (line,) = [line for line in lines if line.startswith("redirect_url=")]
    command = ["bash", "-c", f'{line}\nprintf %s "$redirect_url"']
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout == HOSTILE


@pytest.mark.parametrize("stack", ["authlib", "requests-oauthlib"])
def test_python_reads_a_hostile_redirect_url_as_it_is(app: Application, stack: str) -> None:
    assigned = [node for node in ast.walk(ast.parse(code_of(app, stack, HOSTILE))) if isinstance(node, ast.Assign)]
    (value,) = [node.value for node in assigned if ast.unparse(node.targets[0]) == "REDIRECT_URL"]
    assert ast.literal_eval(value) == HOSTILE


def test_php_reads_a_hostile_redirect_url_as_it_is(app: Application) -> None:
    assert f"'redirectUri' => '{HOSTILE.replace(chr(39), chr(92) + chr(39))}'," in code_of(app, "php", HOSTILE)


@pytest.mark.parametrize("stack", ["openid-client", "go-oidc", "spring"])
def test_other_languages_get_double_quotes_and_no_bare_one_inside(app: Application, stack: str) -> None:
    assert HOSTILE.replace('"', '\\"') in code_of(app, stack, HOSTILE)


def test_django_allauth_gets_settings_that_python_reads(app: Application) -> None:
    """With a site of another provider's name and its own scopes; tests/journeys signs in with it."""
    ast.parse(code_of(app, "django-allauth"))
    assert '["openid", "identify", "email", "connections", "offline_access"]' in code_of(app, "django-allauth")


@pytest.mark.parametrize(
    ("redirect_url", "port"),
    [
        ("http://127.0.0.1:4567/cb", 4567),
        ("http://localhost:8080/cb", 8080),
        ("http://127.0.0.1/cb", 3000),
        ("org.example.app:/cb", 3000),
    ],
)
def test_programs_listen_where_a_redirect_url_of_the_own_machine_leads(
    app: Application, redirect_url: str, port: int
) -> None:
    assert f"app.run(port={port})" in code_of(app, "authlib", redirect_url)
    assert '@app.get("/cb")' in code_of(app, "authlib", redirect_url)


def test_the_reader_chooses_among_the_redirect_urls(app: Application, browser: Browser) -> None:
    second = "https://second.example.org/callback"
    app.redirect_uris = f"{REDIRECT_URL} {second}"
    app.save()
    assert REDIRECT_URL in browser_code(open_code(browser, app))
    assert second in browser_code(open_code(browser, app, redirect_url=second))
    assert "https://evil.example" not in browser_code(open_code(browser, app, redirect_url="https://evil.example"))


def browser_code(browser: Browser) -> str:
    return str(browser.page.xpath("//code[@id='sample-code']")[0].text_content())


@pytest.mark.parametrize(
    ("stack", "path"),
    [("authjs", "/api/auth/callback/hearth"), ("django-allauth", "/accounts/oidc/hearth/login/callback/")],
)
def test_a_library_with_a_callback_of_its_own_says_whether_it_is_registered(
    app: Application, browser: Browser, stack: str, path: str
) -> None:
    assert "It is not registered yet" in open_code(browser, app, stack=stack).text
    app.redirect_uris = f"{REDIRECT_URL} https://app.example.org{path}"
    app.save()
    open_code(browser, app, stack=stack)
    assert f"https://app.example.org{path}" in browser.text
    assert "It is registered." in browser.text


def test_an_app_without_openid_is_asked_to_register_it(app: Application, browser: Browser) -> None:
    assert "has not registered openid" not in open_code(browser, app).text
    app.registered_scopes = ["identify"]
    app.save()
    assert "has not registered openid" in open_code(browser, app).text


FOLDER = Path(oidc_provider.__file__).parent
SOURCE = "\n".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")) if path != FOLDER / "errors.py")
# Document 1, "Errors", and the first section of the decisions.
OF_THE_DOCUMENTS = """
    invalid_scope invalid_grant invalid_client unauthorized_client client_disabled 429 invalid_request
    unsupported_grant_type invalid_redirect unsupported_response_type request_not_supported request_uri_not_supported
    access_denied login_required consent_required insufficient_scope invalid_token
""".split()


def subclasses(of: type[ProtocolError]) -> set[type[ProtocolError]]:
    return {of}.union(*(subclasses(kind) for kind in of.__subclasses__()))


def test_every_code_of_the_documents_is_explained() -> None:
    assert set(OF_THE_DOCUMENTS) <= {row.code for row in ERRORS}


def test_every_error_class_has_a_row_with_its_code_and_status() -> None:
    kinds = subclasses(ProtocolError) - {ProtocolError}
    assert {(kind.error, kind.status) for kind in kinds} <= {(row.code, row.status) for row in ERRORS}


RAISED = re.compile(
    r"raise \w*?(Invalid\w+|Missing\w+|Insufficient\w+|Unauthorized\w+|Unsupported\w+)"
    r"\(f?\"([^\"{]+)"
)


def test_every_error_that_is_raised_with_words_is_explained_by_them() -> None:
    """Where a code has several causes, the row is chosen by the words; the remaining row says so by having none."""
    for name, words in sorted(set(RAISED.findall(SOURCE))):
        code = getattr(errors, name).error
        rows = [row for row in ERRORS if row.code == code]
        fits = [row for row in rows if row.said and (words.startswith(row.said) or row.said.startswith(words))]
        assert len(fits) == 1 or any(not row.said for row in rows), (words, rows)
        assert len(fits) <= 2, (words, rows)


def test_every_row_is_found_by_what_its_answer_says_and_can_be_linked_to() -> None:
    for row in ERRORS:
        assert [other.anchor for other in ERRORS].count(row.anchor) == 1
        assert re.fullmatch("[a-z0-9-]+", row.anchor)
        assert not row.said or f'"{row.said}' in SOURCE, row
        found = {
            error_guide.explain(endpoint=endpoint, code=row.code, description=f"{row.said} and so on")
            for endpoint in ("authorize", "token", "introspect", "revoke", "userinfo")
        }
        assert row in found or (row.where == PAGE and not row.said)  # a redirect with the same code comes first


def test_an_unknown_error_has_no_explanation() -> None:
    assert error_guide.explain(endpoint="token", code="teapot") is None
