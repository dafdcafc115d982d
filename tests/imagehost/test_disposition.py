"""The header that names a file to the browser that saves it."""

import pytest
from django.http import HttpResponse

from imagehost.original_names import disposition


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("shot.png", "inline; filename=\"shot.png\"; filename*=UTF-8''shot.png"),
        ("my shot (1).png", "inline; filename=\"my shot (1).png\"; filename*=UTF-8''my%20shot%20%281%29.png"),
        ("Übung.png", "inline; filename=\"Ubung.png\"; filename*=UTF-8''%C3%9Cbung.png"),
        ("日本.png", "inline; filename=\"__.png\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.png"),
        ('a"b\\c/d.png', "inline; filename=\"a_b_c_d.png\"; filename*=UTF-8''a_b_c_d.png"),
        (
            "a\r\nSet-Cookie: x=1.png",
            "inline; filename=\"aSet-Cookie_ x=1.png\"; filename*=UTF-8''aSet-Cookie%3A%20x%3D1.png",
        ),
        ("exe\u202egnp.\x00jpg", "inline; filename=\"exegnp.jpg\"; filename*=UTF-8''exegnp.jpg"),
        ("half \ud800.gif", "inline; filename=\"half .gif\"; filename*=UTF-8''half%20.gif"),
        ("two  spaces.png", "inline; filename=\"two spaces.png\"; filename*=UTF-8''two%20%20spaces.png"),
        ("\n", "inline; filename=\"file\"; filename*=UTF-8''file"),
    ],
)
def test_a_name_is_told_in_ascii_and_in_full(name: str, header: str) -> None:
    assert disposition(name) == header
    assert HttpResponse(headers={"Content-Disposition": header})["Content-Disposition"] == header


def test_an_attachment_says_so() -> None:
    assert (
        disposition("folder.zip", attachment=True) == "attachment; filename=\"folder.zip\"; filename*=UTF-8''folder.zip"
    )
