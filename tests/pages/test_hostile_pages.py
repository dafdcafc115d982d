"""Pages answer what no browser sends with a page, never with a server error. No cache keeps a form's token."""

import pytest
from django.test import Client

from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import PendingRequestFactory

pytestmark = pytest.mark.django_db

OF_VISITORS = ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"]
OF_PEOPLE = [
    "/",
    "/accounts/2fa/",
    "/accounts/connected-apps/",
    "/accounts/email/",
    "/accounts/logout/",
    "/accounts/password/change/",
    "/accounts/reauthenticate/",
    "/accounts/sessions/",
    "/api/auth/oauth2/end-session",
    "/consent/pending",
    "/dashboard/",
    "/dashboard/teams/new/",
]
NEXT_PAGES = ["/accounts/login/", "/accounts/signup/", "/accounts/logout/", "/accounts/password/reset/"]


@pytest.mark.parametrize("path", NEXT_PAGES)
def test_a_next_that_is_no_page_of_ours_is_left_out(client: Client, path: str) -> None:
    for place in ("http://[", "https://evil.example/", "javascript:alert(1)"):
        answer = client.get(path, {"next": place})
        assert answer.status_code in {200, 302}
        assert place not in answer.headers.get("Location", "")


@pytest.mark.parametrize("path", ["/accounts/login/", "/", "/docs", "/admin/login/"])
def test_a_nul_byte_in_the_query_is_400(client: Client, path: str) -> None:
    assert client.get(f"{path}?next=%00&q=%00").status_code == 400
    assert client.get(f"{path}?next=%20").status_code in {200, 302}


@pytest.mark.parametrize("path", ["/accounts/connected-apps/", "/api/auth/oauth2/authorize"])
def test_a_session_cookie_with_a_nul_byte_is_no_session(client: Client, path: str) -> None:
    answer = client.get(path, HTTP_COOKIE='sessionid="\\000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"')
    assert answer.status_code == Client().get(path).status_code


@pytest.mark.parametrize("length", [255, 200_000])
def test_a_login_name_of_any_length_is_just_wrong(client: Client, length: int) -> None:
    answer = client.post("/accounts/login/", {"login": "x" * length, "password": "wrong"})
    assert answer.status_code == 200
    assert "at most 254 characters" in answer.content.decode()


@pytest.mark.parametrize("credential", ["[" * 5_000, "{", "null"])
def test_a_broken_passkey_goes_back_to_the_login_page(client: Client, credential: str) -> None:
    client.get("/accounts/2fa/webauthn/login/", headers={"x-requested-with": "XMLHttpRequest"})
    answer = client.post("/accounts/2fa/webauthn/login/", {"credential": credential})
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/")


@pytest.mark.parametrize(
    ("path", "policy"),
    [
        ("/", "same-origin"),
        ("/admin/login/", "same-origin"),
        ("/accounts/login/", "unsafe-none"),
        ("/consent/unknown", "unsafe-none"),
        ("/api/auth/oauth2/authorize", "unsafe-none"),
    ],
)
def test_the_pages_of_a_sign_in_leave_a_popup_its_opener(client: Client, path: str, policy: str) -> None:
    assert client.get(path)["Cross-Origin-Opener-Policy"] == policy


@pytest.mark.parametrize("path", [*OF_VISITORS, *OF_PEOPLE])
def test_a_form_is_not_stored(client: Client, path: str) -> None:
    if path in OF_PEOPLE:
        client.force_login(UserFactory())
        PendingRequestFactory(id="pending")
    answer = client.get(path)
    assert b"csrfmiddlewaretoken" in answer.content
    assert {"private", "no-store"} <= set(answer["Cache-Control"].split(", "))


def test_a_page_without_a_form_may_be_stored(client: Client) -> None:
    answer = client.get("/docs/")
    assert b"csrfmiddlewaretoken" not in answer.content
    assert "no-store" not in answer.headers.get("Cache-Control", "")
