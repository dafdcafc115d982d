"""Every page of the account, signed out and signed in: strict policy, labels, one heading, nothing inline."""

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.test import Client

from accounts.models import User
from tests.pages.markup import page_of, problems_of
from tests.support.second_factors import code_of

SIGNED_OUT = [
    "/",
    "/accounts/login/",
    "/accounts/login/?next=/accounts/sessions/",
    "/accounts/signup/",
    "/accounts/signup/passkey/",
    "/accounts/inactive/",
    "/accounts/password/reset/",
    "/accounts/password/reset/done/",
    "/accounts/password/reset/key/0-wrong/",
    "/accounts/password/reset/key/done/",
    "/accounts/3rdparty/login/cancelled/",
]
SIGNED_IN = [
    "/",
    "/accounts/email/",
    "/accounts/logout/",
    "/accounts/password/change/",
    "/accounts/password/reset/",
    "/accounts/reauthenticate/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/webauthn/",
    "/accounts/2fa/webauthn/add/",
    "/accounts/3rdparty/",
    "/accounts/sessions/",
    "/accounts/connected-apps/",
]


def wrong_pages(client: Client, paths: list[str]) -> dict[str, object]:
    """What is wrong with each page: its status or its problems."""
    answers = {path: client.get(path) for path in paths}
    found = {
        path: answer.status_code if answer.status_code != 200 else problems_of(answer)
        for path, answer in answers.items()
    }
    return {path: problems for path, problems in found.items() if problems}


@pytest.mark.django_db
def test_pages_keep_the_rules_for_a_visitor(client: Client) -> None:
    assert wrong_pages(client, SIGNED_OUT) == {}


def test_pages_keep_the_rules_for_a_user(signed_in: Client) -> None:
    assert wrong_pages(signed_in, SIGNED_IN) == {}


@pytest.mark.django_db
def test_account_pages_send_a_visitor_to_the_login_page(client: Client) -> None:
    for path in set(SIGNED_IN) - {*SIGNED_OUT, "/accounts/logout/"}:
        response = client.get(path)
        assert (response.status_code, response.headers["Location"][:22]) == (302, "/accounts/login/?next=")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/accounts/login/", {"login": "nobody", "password": "wrong"}),
        ("/accounts/login/", {}),
        ("/accounts/signup/", {"email": "no address", "username": "a b", "password1": "short"}),
        ("/accounts/password/reset/", {"email": "no address"}),
    ],
)
def test_a_form_with_errors_keeps_the_rules(client: Client, path: str, data: dict[str, str]) -> None:
    response = client.post(path, data)

    assert response.status_code == 200
    assert problems_of(response) == []


@pytest.mark.django_db
def test_an_error_is_tied_to_its_field(client: Client) -> None:
    response = client.post("/accounts/signup/", {"email": "no address", "username": "ada", "password1": "long enough"})

    page = page_of(response)
    field = page.get_element_by_id("id_email")
    assert field.get("aria-invalid") == "true"
    error = page.get_element_by_id(field.get("aria-describedby"))
    assert error.text_content().strip() == "Enter a valid email address."


@pytest.mark.django_db
def test_the_login_form_is_a_plain_form_and_the_passkey_button_needs_scripts(client: Client) -> None:
    page = page_of(client.get("/accounts/login/?next=/accounts/sessions/"))
    form = page.forms[0]
    assert (form.method, form.action) == ("POST", "/accounts/login/")
    assert set(form.fields) == {"csrfmiddlewaretoken", "login", "password", "next"}
    assert form.fields["next"] == "/accounts/sessions/"
    assert form.inputs["login"].get("autocomplete") == "username webauthn"
    button = page.get_element_by_id("passkey_login")
    assert "needs-scripts" in button.getparent().get("class").split()
    form = page.get_element_by_id(button.get("form"))
    assert form.action == "/accounts/2fa/webauthn/login/"
    assert form.fields["next"] == "/accounts/sessions/"


def test_a_new_code_is_sent_and_the_page_says_how_long_it_works(
    client: Client, db: None, mailoutbox: list[EmailMessage]
) -> None:
    data = {"email": "new@example.org", "username": "Newcomer", "password1": "long enough 9"}
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        response = client.post("/accounts/signup/", data, follow=True)
        assert (response.redirect_chain, problems_of(response)) == ([("/accounts/confirm-email/", 302)], [])
        assert "The code works for 15 more minutes." in " ".join(page_of(response).text_content().split())
        clock.shift(13 * 60 + 30)
        answer = client.post("/accounts/confirm-email/", {"action": "resend"}, follow=True)
        assert problems_of(answer) == []
        assert "The code works for 1 more minute." in " ".join(page_of(answer).text_content().split())
    first, second = mailoutbox
    assert (first.to, second.to) == (["new@example.org"], ["new@example.org"])
    assert first.body.startswith("Hello from Hearth!\n\nThe Hearth account Newcomer was set up")
    assert first.body != second.body


def test_the_code_page_does_not_tell_whether_an_address_has_an_account(
    user: User, mailoutbox: list[EmailMessage]
) -> None:
    pages: list[str] = []
    for email in (user.email, "fresh@example.org"):
        client = Client()
        data = {"email": email, "username": f"New{len(pages)}", "password1": "long enough 9"}
        client.post("/accounts/signup/", data)
        answer = client.post("/accounts/confirm-email/", {"action": "resend"}, follow=True)
        pages.append(" ".join(page_of(answer).text_content().replace(email, "").split()))
    assert pages[0] == pages[1]


def test_recovery_codes_can_be_copied_and_downloaded(signed_in: Client) -> None:
    page = page_of(signed_in.get("/accounts/2fa/totp/activate/"))
    code = code_of(page.get_element_by_id("authenticator_secret").value)
    response = signed_in.post("/accounts/2fa/totp/activate/", {"code": code}, follow=True)
    assert response.redirect_chain == [("/accounts/2fa/recovery-codes/", 302)]
    assert problems_of(response) == []
    page = page_of(response)
    assert page.findtext(".//h1") == "Recovery codes"
    codes = page.get_element_by_id("recovery-codes").text_content().split()
    buttons = page.xpath("//button[@data-copy='recovery-codes' or @data-download='recovery-codes']")
    assert (len(codes), [button.text_content() for button in buttons]) == (10, ["Copy all", "Download"])
    again = page_of(signed_in.get("/accounts/2fa/recovery-codes/"))
    assert "10 of 10 codes left" in " ".join(again.text_content().split())
    assert again.xpath("//*[@id='recovery-codes']") == []
    for path in ("/accounts/2fa/", "/accounts/2fa/totp/deactivate/", "/accounts/2fa/recovery-codes/generate/"):
        assert problems_of(signed_in.get(path)) == []


def test_no_page_keeps_the_capitals_of_the_stock_pages(signed_in: Client) -> None:
    for path in set(SIGNED_IN) - {"/", "/accounts/2fa/webauthn/"}:
        page = page_of(signed_in.get(path))
        for element in page.xpath("//main//h1 | //main//h2 | //main//button | //head/title"):
            words = element.text_content().split()[1:]
            capitals = [word for word in words if word[0].isupper() and word not in {"Ada", "Hearth"}]
            assert capitals == [], (path, element.text_content())
