"""The WSGI application under the name that servers and Django's convention use."""

from config.web import web_worker
from config.web.wsgi import application

__all__ = ["application"]

web_worker.use_huge_pages()
