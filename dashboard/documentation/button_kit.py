"""What the page of sign-in buttons shows: each picture with its HTML, and the button as HTML and CSS."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.utils.safestring import SafeString

from dashboard.client_apps import sign_in_buttons

STYLES = Path(settings.BASE_DIR, "static/css/sign_in_button.css")
FILE = "sign-in-button.html"


def markdown() -> str:
    """Return a choice for each variant, with the HTML of its pictures."""
    parts = [":::choices Variant"]
    for name, variant in sign_in_buttons.VARIANTS.items():
        parts += [f"### {variant.title}", f"Files `{name}-…`, {variant.use}."]
        parts += [
            f"```html {button.name}.svg\n{sign_in_buttons.linked(button, '/login')}\n```"
            for button in sign_in_buttons.buttons().values()
            if button.variant is variant
        ]
    return "\n\n".join([*parts, ":::"])


def styled() -> str:
    """Return the button as HTML and CSS, in Markdown."""
    inner = _inner(settings.BASE_URL)
    lines = [
        f'<a class="sign-in-with" href="/login">{inner}</a>',
        f'<button class="sign-in-with sign-in-with--dark" type="submit">{inner}</button>',
        f'<button class="sign-in-with sign-in-with--neutral" type="submit" disabled>{inner}</button>',
    ]
    styles = STYLES.read_text(encoding="utf-8").rstrip()
    return f"```html {FILE}\n{chr(10).join(lines)}\n```\n\n```css sign-in-button.css\n{styles}\n```"


def preview(file: str) -> SafeString:
    """Return HTML to show above the code of a file, "" for none."""
    if file == FILE:
        return SafeString("".join(_styled_preview(name) for name in sign_in_buttons.VARIANTS))
    button = sign_in_buttons.buttons().get(file.removesuffix(".svg"))
    return _on_ground(button.name.partition("-")[0], button.image()) if button else SafeString("")


def download_path(file: str) -> str:
    """Return the path of a picture of this page, "" for other files."""
    button = sign_in_buttons.buttons().get(file.removesuffix(".svg"))
    return button.path if button else ""


def _styled_preview(variant: str) -> SafeString:
    """Return each size, and a disabled one. They are buttons that do nothing, to be looked at and focused."""
    choices = (" sign-in-with--small", ""), ("", ""), (" sign-in-with--large", ""), ("", " disabled")
    return _on_ground(
        variant,
        "".join(
            f'<button class="sign-in-with sign-in-with--{variant}{size}" type="button"{disabled}>{_inner()}</button>'
            for size, disabled in choices
        ),
    )


def _on_ground(variant: str, inner: str) -> SafeString:
    return SafeString(f'<div class="kit kit--{variant}">{inner}</div>\n')


def _inner(origin: str = "") -> str:
    mark = f'<img src="{origin}{sign_in_buttons.PATH}/{sign_in_buttons.MARK}.svg" alt="" width="24" height="24">'
    return f"{mark}{sign_in_buttons.label_html()}"
