"""The WSGI application, whose lookups and documentation fail with an error that holds secrets."""

from __future__ import annotations

from typing import NoReturn

from config.web.wsgi import application  # loads Django
from dashboard.documentation import rendering
from lookup.documents import resolve

__all__ = ["application"]
SECRET = "client_secret=s3cret in postgres://id:s3cret@db/id"


def fail(*_: object, **__: object) -> NoReturn:
    raise RuntimeError(SECRET)


resolve.answer_to = fail
rendering.rendered = fail  # type: ignore[assignment]  # it is one whose answers are kept
