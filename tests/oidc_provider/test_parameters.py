"""The strict readers of query strings, form bodies and the `scope` parameter (RFC 6749 §3.3)."""

import pytest

from oidc_provider import parameters
from oidc_provider.applications import scopes
from oidc_provider.errors import InvalidRequest
from oidc_provider.parameters import MAX_FIELDS


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("a=1&b=2", {"a": "1", "b": "2"}),
        ("&&a=1", {"a": "1"}),
        ("a", {}),
        ("a=", {}),
        ("=1", {"": "1"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1;b=2", {"a": "1;b=2"}),
        ("a=x+y", {"a": "x y"}),
        ("a=x%2By", {"a": "x+y"}),
        ("a=é", {"a": "é"}),
        ("%61=1", {"a": "1"}),
        ("a=%00", {"a": "\x00"}),
        ("A=1&a=2", {"A": "1", "a": "2"}),
    ],
)
def test_values_are_decoded_and_empty_ones_left_out(text: str, values: dict[str, str]) -> None:
    form = parameters.parse(text)
    assert (form.values, form.repeated, form.is_malformed) == (values, frozenset(), False)


@pytest.mark.parametrize(
    ("text", "repeated", "value"),
    [
        ("a=1&a=1", {"a"}, "1"),
        ("a=&a=2", {"a"}, "2"),
        ("a&a", {"a"}, ""),
        ("a=1&%61=2", {"a"}, "1"),
        ("a=1&b=1&a=2&b=2&c=3", {"a", "b"}, "1"),
    ],
)
def test_repeated_names_are_returned_and_the_first_value_is_kept(text: str, repeated: set[str], value: str) -> None:
    form = parameters.parse(text)
    assert (set(form.repeated), form.get("a"), form.is_malformed) == (repeated, value, False)


@pytest.mark.parametrize("text", ["a=%", "a=%zz", "a=1%&b=2", "%zz=1"])
def test_a_broken_escape_is_malformed(text: str) -> None:
    assert parameters.parse(text).is_malformed


@pytest.mark.parametrize("text", ["a=%FF", "a=%ED%A0%80", "%FF=1"])
def test_broken_utf_8_is_malformed_and_the_rest_can_still_be_read(text: str) -> None:
    form = parameters.parse(f"state=x&{text}")
    assert form.is_malformed
    assert form.get("state") == "x"


@pytest.mark.parametrize(("count", "is_malformed"), [(MAX_FIELDS, False), (MAX_FIELDS + 1, True)])
def test_too_many_fields_are_malformed(count: int, is_malformed: bool) -> None:
    form = parameters.parse("&".join(f"f{number}=1" for number in range(count)))
    assert form.is_malformed is is_malformed
    assert len(form.values) == (0 if is_malformed else count)


def test_a_name_that_is_not_there_is_the_empty_string() -> None:
    assert parameters.parse("a=1").get("b") == ""


def test_required_names_everything_that_is_missing() -> None:
    form = parameters.parse("a=1&b=")
    parameters.required(form, "a")
    with pytest.raises(InvalidRequest, match=r"Missing parameter: b, c\."):
        parameters.required(form, "a", "b", "c")


@pytest.mark.parametrize(
    "text", ["openid", "openid identify", "openid openid", "unknown !#[]~", " openid", "openid ", "a  b", "\ta \t b\t"]
)
def test_names_have_spaces_and_tabs_between_two(text: str) -> None:
    assert scopes.parse(text) == text.split()


@pytest.mark.parametrize("text", ["", " ", "\t", "a\nb", "a\u00a0b", "a\n", 'a"b', "a\\b", "é", "a\x00"])
def test_everything_else_is_malformed(text: str) -> None:
    assert scopes.parse(text) == []


def test_the_documents_order_counts_and_each_name_once() -> None:
    assert scopes.in_order(scopes.parse("identify unknown openid identify")) == ["openid", "identify"]
