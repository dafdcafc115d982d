"""The query of a small request says what Django's says."""

import pytest
from django.http import QueryDict

from infrastructure.requests import request_context

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
