"""Passwords that many people use are refused."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize(
    "password",
    [
        "password1",  # of Django's list
        "1qaz2wsx3edc4rfv",
        "PASSWORD12345678",
        "iloveyou1234567890",
        "qwertyuiop123456789",
        "liverpool2010",
        "Manchesterunited",
    ],
)
def test_a_password_of_a_breach_is_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        validate_password(password)
    assert refused.value.messages == ["This password is too common."]


@pytest.mark.parametrize("password", ["correct horse battery staple", "x7-Ölpest-Gezeiten", "🐎🔋 staple horse"])
def test_another_password_is_taken(password: str) -> None:
    validate_password(password)


def test_a_check_is_quick_and_keeps_nothing_in_memory() -> None:
    validate_password("a password that nobody uses")  # reads Django's list
    tracemalloc.start()
    began_at = time.perf_counter()
    for number in range(50):
        validate_password(f"a password that nobody uses {number}")
    seconds, (_, peak) = time.perf_counter() - began_at, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 5
    assert peak < 1_000_000
