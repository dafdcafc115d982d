"""The ASGI application under the name that servers and Django's convention use."""

from config.web.asgi import application

__all__ = ["application"]
