"""URLs of a host that serves uploaded files alone, as IMAGE_CDN_URL names it."""

from urllib.parse import urlsplit

from django.conf import settings
from django.urls import path

from imagehost.views import delivery

_path = urlsplit(settings.IMAGE_CDN_URL).path.strip("/")

urlpatterns = [path(f"{_path}/<str:file_name>" if _path else "<str:file_name>", delivery.deliver)]
