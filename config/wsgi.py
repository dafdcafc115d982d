"""The WSGI application under the name that servers and Django's convention use."""

from config.web.wsgi import application

__all__ = ["application"]
