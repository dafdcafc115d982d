"""The address under which a request counts, and the parameters of its query."""

import pytest
from django.http import QueryDict
from django.test import RequestFactory
from pytest_django import Settings

from infrastructure.requests import request_context

HEADER = "X-Client-Address"
COUNTED = [
    ("192.0.2.1", "192.0.2.1"),
    ("2001:db8::1", "2001:db8::/64"),
    ("2001:db8:0:0:ffff:1:2:3", "2001:db8::/64"),
    ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
    ("fe80::1%eth0", "fe80::/64"),
    ("::1", "::/64"),
    ("::ffff:192.0.2.1", "192.0.2.1"),
]
GARBAGE = ["", "unknown", "192.0.2.256", "192.0.2.01", "192.0.2.1:443", "192.0.2.1, 198.51.100.7", "[2001:db8::1]"]


@pytest.mark.parametrize(("sent", "counted"), COUNTED)
def test_an_address_counts_by_its_network(sent: str, counted: str) -> None:
    assert request_context.normalized_address(sent) == counted


@pytest.mark.parametrize("sent", GARBAGE)
def test_what_is_no_address_counts_as_none(sent: str) -> None:
    assert request_context.normalized_address(sent) is None


@pytest.mark.parametrize(
    ("asked_for", "sent", "counted"),
    [("", "", "203.0.113.9"), (HEADER, "::ffff:192.0.2.1", "192.0.2.1"), (HEADER, "unknown", None), (HEADER, "", None)],
)
def test_the_peer_counts_unless_a_header_is_asked_for(
    settings: Settings, asked_for: str, sent: str, counted: str | None
) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = asked_for
    request = RequestFactory().get("/", headers={HEADER: sent}, REMOTE_ADDR="203.0.113.9")
    assert request_context.address_of(request.META) == counted


def test_a_peer_without_an_address_such_as_a_unix_socket_counts_as_unknown(settings: Settings) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = ""
    assert request_context.address_of(RequestFactory().get("/", REMOTE_ADDR="").META) == "unknown"


@pytest.mark.parametrize("other", ["X-Forwarded-For", "X-Real-IP"])
@pytest.mark.parametrize("asked_for", ["", HEADER])
def test_no_other_header_is_ever_believed(settings: Settings, asked_for: str, other: str) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = asked_for
    request = RequestFactory().get("/", headers={other: "198.51.100.7"}, REMOTE_ADDR="203.0.113.9")
    assert request_context.address_of(request.META) == (None if asked_for else "203.0.113.9")


QUERIES = ["", "a=1&b=2", "a=1&a=1&b=1", "a=1&a=2&a=3", "&a=1&&b&", "a=1=2", "=1&=1&a=1", "a=%31&a=1", "a+b=1&c=1%26"]


@pytest.mark.parametrize("text", QUERIES)
def test_a_parameter_has_its_value_or_none_where_it_is_repeated(text: str) -> None:
    query, django = request_context.Query(text), QueryDict(text)
    for name in ("", "a", "b", "a b", "c"):
        values = django.getlist(name, ["missing"])
        assert query.single(name, "missing") == (values[0] if len(values) == 1 else None)


@pytest.mark.parametrize("text", QUERIES)
def test_the_parameters_that_have_a_value_are_named_in_their_order(text: str) -> None:
    alone = tuple(name for name, values in QueryDict(text).lists() if values == ["1"])
    assert request_context.Query(text).names_of("1") == alone


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("type=uid&value=7&views=true", "7", "type=uid&views=true"),
        ("value=7&type=uid", "7", "type=uid"),
        ("type=uid&value=7", "7", "type=uid&"),
        ("value=&type=uid", "", "type=uid"),
        ("value=a=b", "a=b", ""),
        ("value=7&value=8", "7", "value=8"),
        *(
            (text, None, text)
            for text in ("", "type=uid", "value", "evalue=7", "evalue=7&value=8", "value=%37", "value=a+b")
        ),
        ("value=\xe4", None, "value=\xe4"),
    ],
)
def test_a_parameter_is_cut_out_of_a_query(text: str, value: str | None, rest: str) -> None:
    assert request_context.cut_parameter(text, "value") == (value, rest)
