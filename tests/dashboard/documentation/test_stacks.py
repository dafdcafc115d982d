"""The sign-in quickstart: the code of the dashboard's page Code, with the reader's own app. tests/journeys runs it."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts.models import User
from dashboard.client_apps import code_samples
from dashboard.client_apps.code_samples import STACKS
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db
FENCE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def codes(markdown: str) -> dict[str, str]:
    return dict(FENCE.findall(markdown))


def unquoted(code: str) -> str:
    """A shell needs quotes around some values alone; elsewhere they are double ones, or stay as they are."""
    return code.replace("'", "").rstrip()


def test_a_readers_code_is_that_of_the_page_of_the_newest_app(signed_in: Client, reader: User) -> None:
    ApplicationFactory.create(user=reader, redirect_uris="https://first.example/cb")
    app = ApplicationFactory.create(
        user=reader, redirect_uris="http://127.0.0.1:4567/signed-in", registered_scopes=["openid", "email"]
    )
    samples = [code_samples.sample_of(stack, app, app.redirect_urls[0]) for stack in STACKS]
    expected = {each.stack.file: unquoted(each.code) for each in samples}
    found = codes(signed_in.get("/docs/sign-in.md").content.decode())
    assert {name: unquoted(code) for name, code in found.items()} == expected
    page = page_of(signed_in.get("/docs/sign-in"))
    assert {unquoted(code.text_content()) for code in page.xpath("//fieldset//pre/code")} == set(expected.values())


def test_a_visitors_code_has_placeholders_and_registers_what_it_listens_to(client: Client) -> None:
    text = client.get("/docs/sign-in.md").content.decode()
    found = codes(text)
    assert list(found) == [*(stack.file for stack in STACKS if stack.name != "curl"), "sign-in.sh"]
    for code in found.values():
        assert "YOUR_CLIENT_ID" in code
        assert "identify" in code
        assert "<<" not in code.replace("<<<", "")
    assert "app.run(port=3000)" in found["app.py"]
    assert "redirect URL `http://127.0.0.1:3000/callback`" in text
    assert "`http://127.0.0.1:3000/accounts/oidc/hearth/login/callback/`" in text
    assert ":::" not in text


def test_the_stacks_are_radio_buttons_with_one_panel_each(client: Client) -> None:
    response = client.get("/docs/sign-in")
    assert problems_of(response) == []
    (group,) = page_of(response).xpath("//article//fieldset")
    assert group.xpath("string(legend)") == "Your stack"
    labels = [label.text_content() for label in group.xpath("label")]
    assert labels == [panel.xpath("string(h3)") for panel in group.xpath("div")]
    assert sorted(labels) == sorted(stack.title for stack in STACKS)
    assert group.xpath("input/@type") == ["radio"] * len(STACKS)
    assert group.xpath("input/@id") == group.xpath("label/@for")
    assert group.xpath("input[@checked]/@id") == ["choice-1"]
    assert len(set(group.xpath("input/@name"))) == 1
    assert [panel.xpath("count(.//pre)") for panel in group.xpath("div")] == [1] * len(STACKS)


def test_the_code_comes_before_the_flow_and_the_tables(client: Client) -> None:
    page = page_of(client.get("/docs/sign-in"))
    kinds = [each.tag for each in page.xpath("//article//*[self::pre or self::svg or self::table]")]
    assert kinds == [*["pre"] * len(STACKS), "svg", "table", "svg", "table"]


def test_each_stack_says_how_it_is_tested(client: Client) -> None:
    page = page_of(client.get("/docs/sign-in"))
    for stack in STACKS:
        (panel,) = [each for each in page.xpath("//fieldset/div") if each.xpath("string(h3)") == stack.title]
        assert stack.proof in panel.text_content()
        assert all(note in panel.text_content() for note in stack.notes)
