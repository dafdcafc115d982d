"""Errors for Sentry, where SENTRY_DSN is set: log records of level ERROR, and exceptions that end a command.

The library's integration of Django is not used: it would add addresses, headers, cookies and forms. An event holds the
message, the traceback without local variables, the route and the id of the request; secrets are masked as in the log.
"""

from __future__ import annotations

import functools
import os
from multiprocessing.util import Finalize
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.observability import redaction
from infrastructure.requests import request_context

END_SECONDS = 3.0  # that the end of a process waits for Sentry


def prepare() -> None:
    """Start the library, whose handler `logs.options` names. ImproperlyConfigured: the DSN is malformed."""
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk
    from sentry_sdk.integrations.excepthook import ExcepthookIntegration
    from sentry_sdk.utils import BadDsn

    try:
        sentry_sdk.init(
            settings.SENTRY_DSN,
            default_integrations=False,
            auto_enabling_integrations=False,
            integrations=[ExcepthookIntegration()],
            before_send=_prepared,
            send_default_pii=False,
            include_local_variables=False,
            max_request_body_size="never",
            max_breadcrumbs=0,
            auto_session_tracking=False,
        )
    except BadDsn as error:
        raise ImproperlyConfigured(f"SENTRY_DSN cannot be used: {error}.") from None


def _prepared(event: Any, hint: dict[str, Any]) -> Any:
    """Return the event as it is sent."""
    _send_rest_at_end()
    context = request_context.current.get()
    tags: dict[str, str] = {}
    if context is not None:
        tags["run_id" if context.job else "request_id"] = context.request_id
    route = (context.job or context.route) if context is not None else ""
    if not route and (request := getattr(hint.get("log_record"), "request", None)) is not None:
        from config.web import middleware  # once apps are loaded

        route = middleware.route_of(request)
    if route:
        event["transaction"] = route
    event["extra"] = {}  # Django puts the request there
    event = redaction.redacted_value(event)
    event["tags"] = tags
    return event


@functools.cache
def _send_rest_at_end() -> None:
    """Flush when this process ends. A server's worker is a child of multiprocessing, which calls no atexit function."""
    import sentry_sdk

    Finalize(None, sentry_sdk.flush, (END_SECONDS,), exitpriority=0)


os.register_at_fork(after_in_child=_send_rest_at_end.cache_clear)
