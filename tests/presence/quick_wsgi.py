"""The WSGI application with a heartbeat that a test can wait for."""

from config.web.wsgi import application
from presence.streaming import streams

__all__ = ["application"]

streams.HEARTBEAT = 0.25
