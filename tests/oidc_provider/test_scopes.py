"""The `scope` parameter: one parser for every endpoint (RFC 6749 §3.3)."""

import pytest

from oidc_provider.applications import scopes


@pytest.mark.parametrize("text", ["openid", "openid identify", "openid openid", "unknown !#[]~"])
def test_names_have_one_space_between_two(text: str) -> None:
    assert scopes.parse(text) == text.split(" ")


@pytest.mark.parametrize(
    "text", ["", " ", " openid", "openid ", "a  b", "a\tb", "a\nb", "a\u00a0b", "a\n", 'a"b', "a\\b", "é", "a\x00"]
)
def test_everything_else_is_malformed(text: str) -> None:
    assert scopes.parse(text) == []


def test_the_documents_order_counts_and_each_name_once() -> None:
    assert scopes.in_order(scopes.parse("identify unknown openid identify")) == ["openid", "identify"]
