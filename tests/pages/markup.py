"""What must hold for every page: what is wrong with it, in words."""

from typing import Any

from lxml import html

DATA_BLOCKS = {"application/json", "application/ld+json"}  # not executed, so the policy has nothing to say about it


def parsed(text: str) -> Any:
    """The document; `Any` because lxml's types know the elements of XML, not those of HTML."""
    return html.document_fromstring(text)


def page_of(response: Any) -> Any:
    """`response`: of a view or of the test client, which Django gives no common public type."""
    return parsed(response.content.decode())


def problems_of(response: Any) -> list[str]:
    """`response`: as for `page_of`."""
    problems = problems_of_text(response.content.decode())
    if "script-src 'self'" not in response.headers.get("Content-Security-Policy", ""):
        problems.append("no strict Content-Security-Policy")
    return problems


def problems_of_text(text: str) -> list[str]:
    page = parsed(text)
    problems = [f"inline script: {script.text}" for script in page.iter("script") if _is_inline(script)]
    problems += [f"inline style in <{element.tag}>" for element in page.xpath("//*[@style] | //style")]
    problems += [f"event handler in <{element.tag}>" for element in page.xpath("//*[@*[starts-with(name(), 'on')]]")]
    problems += [f"no label: {_described(field)}" for field in page.xpath(FIELDS) if not _is_labelled(page, field)]
    problems += [f"loads from elsewhere: {url}" for url in page.xpath(LOADED) if "//" in url]
    problems += [f"id twice: {name}" for name in _repeated(page.xpath("//@id"))]
    problems += [f"{len(page.xpath('//h1'))} main headings"] if len(page.xpath("//h1")) != 1 else []
    problems += ["no title"] if not page.findtext(".//title", "").strip(" ·\n") else []
    return problems


FIELDS = "//input[not(@type='hidden') and not(@hidden)] | //select | //textarea"
LOADED = (
    "//script/@src | //link[not(@rel='canonical' or @rel='alternate')]/@href | //img/@src[not(starts-with(., 'data:'))]"
)


def _is_inline(script: Any) -> bool:
    return not script.get("src") and script.get("type") not in DATA_BLOCKS


def _is_labelled(page: Any, field: Any) -> bool:
    label = page.xpath("//label[@for=$id]", id=field.get("id", "-"))
    return bool(field.get("aria-label")) or bool(label and label[0].text_content().strip())


def _described(field: Any) -> str:
    return str(html.tostring(field, encoding="unicode")).strip()


def _repeated(ids: list[str]) -> set[str]:
    return {name for name in ids if ids.count(name) > 1}
