"""Readers of the image host's pages."""

from __future__ import annotations

from typing import Any

from django.contrib.messages import get_messages

from tests.pages.markup import page_of

HOME = "/dashboard/imagehost/"
HOSTILE = '<script>alert("1")</script>'


def messages_of(answer: Any) -> list[str]:
    """The messages that wait for the next page; any: the test client's answer."""
    return [str(message) for message in get_messages(answer.wsgi_request)]


def text_of(answer: Any) -> str:
    """What a reader sees, spaces put together; any: as above."""
    return " ".join(page_of(answer).xpath("string(//main)").split())


def titles_of(answer: Any) -> list[str]:
    """Of the files that are shown; any: as above."""
    found = page_of(answer).xpath("//li[contains(@class, 'shot')]//span[@class='shot__title']")
    return [title.text_content() for title in found]
