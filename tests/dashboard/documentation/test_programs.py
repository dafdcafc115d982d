"""The programs that are written for a sample, and their colors. That they run is tested in test_samples.py."""

from __future__ import annotations

import re

import pytest

from dashboard.client_apps.code_samples import STACKS, colored, open_code
from dashboard.documentation import programs
from tests.pages.markup import parsed

BASE = "https://host.example"
FORM = """POST /token 200
basic {{ reader.client_id }}:$SECRET
form redirect_uri=https://app.example/cb?a=1&b=2
form code=$CODE
"""
UPLOAD = """POST /upload 200
header X-API-Key: $API_KEY
part key=a "b"
file file=picture.png
"""
QUERY = """GET /user 200
query value=a b/c&d
bearer $API_KEY
shows status
"""


def written(block: str, language: str) -> str:
    return programs.LANGUAGES[language](programs.parse(block), BASE)


def test_the_values_of_a_form_are_encoded_by_the_program() -> None:
    assert written(FORM, "sh") == (
        'curl "https://host.example/token" \\\n'
        "  --fail-with-body \\\n"
        '  --user "{{ reader.client_id }}:$SECRET" \\\n'
        '  --data-urlencode "redirect_uri=https://app.example/cb?a=1&b=2" \\\n'
        '  --data-urlencode "code=$CODE"'
    )
    python = written(FORM, "python")
    assert '"redirect_uri": "https://app.example/cb?a=1&b=2",\n        "code": os.environ["CODE"],' in python
    assert 'body: new URLSearchParams({\n    redirect_uri: "https://app' in written(FORM, "js")


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("sh", ['--form-string "key=a \\"b\\""', '--form "file=@picture.png"']),
        ("python", ['data={"key": "a \\"b\\""},', 'files={"file": open("picture.png", "rb")},']),
        ("js", ['form.append("key", "a \\"b\\"");', 'await openAsBlob("picture.png"), "picture.png");']),
    ],
)
def test_a_file_is_sent_as_a_part_of_a_form(language: str, lines: list[str]) -> None:
    text = written(UPLOAD, language)
    assert [line for line in lines if line not in text] == []


def test_a_query_is_encoded() -> None:
    assert '"https://host.example/user?value=a%20b%2Fc%26d"' in written(QUERY, "js")
    assert 'params={"value": "a b/c&d"}' in written(QUERY, "python")


def test_curl_has_a_line_for_each_parameter_of_a_query() -> None:
    assert written(QUERY, "sh").startswith(
        'curl --get "https://host.example/user" \\\n  --data-urlencode "value=a b/c&d" \\\n'
    )
    posted = written(QUERY.replace("GET", "POST"), "sh")
    assert posted.startswith('curl "https://host.example/user?value=a%20b%2Fc%26d" \\\n')


def test_a_line_that_is_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="Unknown line of a request: cookie a=b"):
        programs.parse("GET / 200\ncookie a=b")


def test_each_language_has_colors() -> None:
    for stack in STACKS:
        html = colored(open_code(stack), stack.fence)
        assert {"code-comment", "code-text"} <= set(re.findall(r'class="([\w-]+)"', html)), stack.name


@pytest.mark.parametrize("code", ["", "\n", "<b>&amp;</b> \"'`${x}`", "ReaderPlaceZ", "a\n\n  b\n", "{{ reader.uid }}"])
def test_any_text_stays_as_it_is(code: str) -> None:
    for language in ("sh", "python", "js", "ts", "json", "go", "php", "java", "html", "css", "text"):
        assert parsed(f"<pre>x{colored(code, language)}x</pre>").text_content() == f"x{code}x", language


def test_a_value_of_the_reader_stays_in_one_piece() -> None:
    html = colored('f("{{ reader.username }}", {{ reader.port }})', "python")
    assert "{{ reader.username }}" in html
    assert "{{ reader.port }}" in html
