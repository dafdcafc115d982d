"""The Content-Security-Policy of every page: no inline script or style, no other host."""

import functools
from urllib.parse import urlsplit

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",  # allauth's TOTP page shows its QR code as a data URL
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


@functools.lru_cache(maxsize=256)
def header(
    *form_actions: str,
    images: tuple[str, ...] = (),
    media: tuple[str, ...] | None = None,
    has_frames: bool = False,
    is_framed: bool = False,
) -> str:
    """The header's value; `form_actions` are more places that the answer to a form may redirect to.

    Browsers apply form-action to the whole chain of redirects that a form's answer starts. `images`: more origins of
    pictures. `media`: the page plays sounds and films, ours and those of these origins. `has_frames`: it shows pages of
    ours in frames; `is_framed`: it may be such a page.
    """
    policy = {
        **POLICY,
        "img-src": " ".join([POLICY["img-src"], *images]),
        "form-action": " ".join(["'self'", *form_actions]),
    }
    if media is not None:
        policy["media-src"] = " ".join(["'self'", *media])
    if has_frames:
        policy["frame-src"] = "'self'"
    if is_framed:
        policy["frame-ancestors"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in policy.items())


HEADER = "Content-Security-Policy"
WAITING_FORM_ACTIONS = "waiting_form_actions"  # session key: services to which accounts are being linked


def origin_of(url: str) -> str:
    """Return scheme, host and port, as a source of the policy."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
