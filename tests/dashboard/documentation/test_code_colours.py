"""Syntax colours leave the text of every sample as it is."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.client_apps.code_samples import STACKS, Stack, coloured, open_code
from dashboard.documentation import contents
from tests.pages.markup import page_of, parsed

FENCE = re.compile(r"^```\w+[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("slug", contents.pages())
def test_the_code_of_a_page_is_that_of_its_markdown(client: Client, slug: str) -> None:
    page = contents.pages()[slug]
    codes = page_of(client.get(page.path)).xpath("//article//pre/code[starts-with(@id, 'code-')]")
    expected = [code.rstrip() for code in FENCE.findall(client.get(page.twin_path).content.decode())]
    assert [code.text_content() for code in codes] == expected


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.name)
def test_each_language_has_colours(stack: Stack) -> None:
    html = coloured(open_code(stack), stack.fence)
    assert {"code-comment", "code-text"} <= set(re.findall(r'class="([\w-]+)"', html))


@pytest.mark.parametrize("language", ["sh", "python", "js", "ts", "json", "go", "php", "java", "html", "css", "text"])
@pytest.mark.parametrize("code", ["", "\n", "<b>&amp;</b> \"'`${x}`", "ReaderPlaceZ", "a\n\n  b\n", "{{ reader.uid }}"])
def test_any_text_stays_as_it_is(language: str, code: str) -> None:
    assert parsed(f"<pre>x{coloured(code, language)}x</pre>").text_content() == f"x{code}x"


def test_a_value_of_the_reader_stays_in_one_piece() -> None:
    html = coloured('f("{{ reader.username }}", {{ reader.port }})', "python")
    assert "{{ reader.username }}" in html
    assert "{{ reader.port }}" in html
