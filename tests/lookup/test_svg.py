"""Which SVG icons are stored: drawings, and nothing that could load, run, or be read as something else in HTML."""

import time

import pytest

from lookup.shapes import svg

SPACE = 'xmlns="http://www.w3.org/2000/svg"'
XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'


def drawing(inside: str, attributes: str = SPACE) -> str:
    return f"<svg {attributes}>{inside}</svg>"


ALLOWED = {
    "empty drawing": drawing(""),
    "no namespace": "<svg><path d='M0 0h1'/></svg>",
    "a prefix": f'<s:svg {SPACE.replace("xmlns", "xmlns:s")}><s:path d="M0 0"/></s:svg>',
    "white space around": f"\n {drawing('<g/>')} \n",
    "a stroke icon": drawing(
        '<path d="M5 12h14"/><path d="m12 5 7 7-7 7"/>',
        f'{SPACE} width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
        'stroke-linecap="round" stroke-linejoin="round" class="icon icon-arrow" aria-hidden="true" role="img"',
    ),
    "every shape": drawing(
        '<g transform="translate(1, 2) rotate (45)"><circle cx="1" cy="1" r="1"/><rect x="0" y="0" rx="1" width="1" '
        'height="1"/><ellipse cx="1" cy="1" rx="1" ry="2"/><line x1="0" y1="0" x2="1" y2="1"/>'
        '<polyline points="0,0 1,1"/><polygon points="0,0 1,1 2,2"/></g>'
    ),
    "a gradient": drawing(
        '<defs><linearGradient id="a" gradientTransform="rotate(90)"><stop offset="0" stop-color="#fff"/>'
        '</linearGradient><radialGradient id="b" href="#a" fx="1"/></defs><path d="M0 0" fill="url(#b)"/>'
    ),
    "clip path and mask": drawing(
        '<clipPath id="c"><path d="M0 0"/></clipPath><mask id="m" mask-type="alpha"><path d="M0 0"/></mask>'
        "<g clip-path=\"url( '#c' )\" style=\"mask: url('#m'); fill: rgb(1, 2, 3)\"/>"
    ),
    "use of a symbol": drawing(
        '<symbol id="s" viewBox="0 0 1 1"><path d="M0 0"/></symbol><use href="#s"/><use xlink:href="#s"/>',
        f"{SPACE} {XLINK}",
    ),
    "text": drawing(
        '<title>A &amp; B (x)</title><desc>d</desc><text font-family="Inter, serif">a<tspan>b</tspan></text>'
    ),
    "a plain comment": drawing("<!--! Icon by its maker - License https://icons.example/license. --><path d='M0 0'/>"),
    "old editor's style": drawing("", f'{SPACE} style="enable-background:new 0 0 24 24;" xml:space="preserve"'),
}

ELEMENT = "is not allowed."
VALUE = "The value of the attribute fill is not allowed."
MARKUP = "Remove everything in"
REFERENCE = "may only name an id of the drawing"
REFUSED = {
    "plain text": ("icon", "not well-formed"),
    "two roots": (drawing("") * 2, "not well-formed"),
    "HTML": ("<p>x</p>", "outermost element"),
    "not in capitals": ("<SVG/>", "outermost element"),
    "NUL": (drawing("\x00"), "cannot be stored"),
    "lone surrogate": (drawing("<title>\ud800</title>"), "cannot be stored"),
    "control character": (drawing("\x01"), "not well-formed"),
    "20 kB and one byte": (drawing("x" * (20 * 1024 + 1 - len(drawing("")))), "20481 bytes; at most 20480"),
    "20 kB in bytes, not characters": (drawing("é" * 10_240), "at most 20480"),
    "a document type": (f"<!DOCTYPE svg>{drawing('')}", MARKUP),
    "an entity": (f'<!DOCTYPE svg [<!ENTITY a "b">]>{drawing("&a;")}', MARKUP),
    "an XML declaration": (f'<?xml version="1.0"?>{drawing("")}', MARKUP),
    "a style sheet": (f'<?xml-stylesheet href="https://e.example/x.css"?>{drawing("")}', MARKUP),
    "CDATA": (drawing("<title><![CDATA[ ><img src=x onerror=alert(1)> ]]></title>"), MARKUP),
    "a comment that HTML ends early": (drawing("<!--><img src=x onerror=alert(1)>-->"), MARKUP),
    "markup made of a comment": (drawing("<!<!-- -->-- >"), MARKUP),
    "script": (drawing("<script>alert(1)</script>"), "The element script " + ELEMENT),
    "script in the other namespace": (drawing('<script xmlns="http://www.w3.org/1999/xhtml"/>'), ELEMENT),
    "style sheet inside": (drawing("<style>*{x:y}</style>"), "The element style " + ELEMENT),
    "foreign object": (drawing("<foreignObject/>"), "The element foreignObject " + ELEMENT),
    "image": (drawing('<image href="#a"/>'), "The element image " + ELEMENT),
    "link": (drawing('<a href="#a"/>'), "The element a " + ELEMENT),
    "wrong case": (drawing("<Path/>"), "The element Path " + ELEMENT),
    "title with elements": (drawing("<title><g/></title>"), "may hold text only"),
    "handler": (drawing("", f'{SPACE} onload="alert(1)"'), "The attribute onload is not allowed."),
    "handler by prefix": (drawing('<g a:onload="x"/>', f'{SPACE} xmlns:a="urn:a"'), "onload is not allowed."),
    "data attribute": (drawing('<g data-hx-get="/x"/>'), "The attribute data-hx-get is not allowed."),
    "href to a page": (drawing('<use href="https://e.example/x.svg#a"/>'), REFERENCE),
    "href to a script": (drawing('<use href="javascript:alert(1)"/>'), REFERENCE),
    "empty href": (drawing('<use href=""/>'), REFERENCE),
    "href with white space": (drawing('<use href=" #a"/>'), REFERENCE),
    "old href": (drawing('<use xlink:href="//e.example/x#a"/>', f"{SPACE} {XLINK}"), REFERENCE),
    "href to nothing": (drawing('<use href="#a"/>'), "refers to #a, which it does not have"),
    "address to nothing": (drawing('<g fill="url(#a)"/>'), "refers to #a, which it does not have"),
    "address elsewhere": (drawing('<g fill="url(https://e.example/x#a)"/>'), VALUE),
    "address in capitals": (drawing('<g fill="URL(//e.example)"/>'), VALUE),
    "address by character reference": (drawing('<g fill="u&#114;l(//e.example)"/>'), VALUE),
    "address by CSS escape": (drawing(r'<g fill="u\72l(//e.example)"/>'), VALUE),
    "address with a space": (drawing('<g id="a" fill="url (#a)"/>'), VALUE),
    "address after a good one": (drawing('<g id="a" fill="url(#a) url(//e.example)"/>'), VALUE),
    "expression": (drawing('<g fill="expression(alert(1))"/>'), VALUE),
    "variable of the page": (drawing('<g fill="var(--x)"/>'), VALUE),
    "comment in a value": (drawing('<g fill="url/**/(//e.example)"/>'), VALUE),
    "address in a word": (drawing('<g class="url(//e.example)"/>'), "The attribute class must not hold"),
    "style with an address": (drawing('<g style="fill:url(//e.example)"/>'), "property fill is not allowed"),
    "style with an expression": (drawing('<g style="width:expression(alert(1))"/>'), "property width is not allowed"),
    "style that covers the page": (drawing('<g style="fill:red;position:fixed"/>'), "The property position"),
    "style with an import": (drawing("<g style=\"@import 'https://e.example'\"/>"), "The property @import"),
    "id with white space": (drawing('<g id="a b"/>'), "An id begins with a letter"),
    "one id twice": (drawing('<g id="a"/><g id="a"/>'), "The id a is used on two elements."),
    "a use of itself": (drawing('<g id="a"><use href="#a"/></g>'), "more than 64 deep"),
    "a use of itself by the old href": (
        drawing('<g id="a"><use xlink:href="#a"/></g>', f"{SPACE} {XLINK}"),
        "more than 64 deep",
    ),
    "old href to nothing": (drawing('<use xlink:href="#b"/>', f"{SPACE} {XLINK}"), "refers to #b"),
    "a mask of itself": (drawing('<mask id="m"><g mask="url(#m)"/></mask>'), "more than 64 deep"),
    "a deep nest": (drawing("<g>" * 2000 + "</g>" * 2000), "more than 64 deep"),
    "a billion circles": (
        drawing(
            '<g id="a0"><circle r="1"/></g>'
            + "".join(f'<g id="a{i}">{f"""<use href="#a{i - 1}"/>""" * 10}</g>' for i in range(1, 10))
        ),
        "More than 5000 elements would be drawn",
    ),
}


@pytest.mark.parametrize("icon", ALLOWED.values(), ids=ALLOWED.keys())
def test_a_drawing_is_stored(icon: str) -> None:
    assert svg.svg_problems(icon) == []


@pytest.mark.parametrize(("icon", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_more_than_a_drawing_is_refused_with_a_sentence(icon: str, sentence: str) -> None:
    problems = svg.svg_problems(icon)
    assert any(sentence in problem for problem in problems), problems


def test_an_icon_may_have_20_kilobytes() -> None:
    padding = "x" * (20 * 1024 - len(drawing("<title></title>")))
    assert svg.svg_problems(drawing(f"<title>{padding}</title>")) == []


def test_each_problem_is_reported_once() -> None:
    icon = drawing('<g onclick="x"/>' * 500 + "<script/>" * 500)
    assert svg.svg_problems(icon) == ["The attribute onclick is not allowed.", "The element script is not allowed."]


@pytest.mark.parametrize("value", ["(", " ", "url( ", "a ", ";"])
def test_no_value_takes_long_to_read(value: str) -> None:
    for attribute in ("fill='{}'", "style='fill:{}'", "class='{}'", "href='#{}'", "id='{}'"):
        icon = drawing(f"<g {attribute.format(value * (20_000 // len(value)))}/>")
        assert len(icon) <= svg.MAX_BYTES
        started = time.process_time()
        svg.svg_problems(icon)
        assert time.process_time() - started < 1
