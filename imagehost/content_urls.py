"""URLs of the host in IMAGE_CDN_URL, which serves only uploaded files."""

from urllib.parse import urlsplit

from django.conf import settings
from django.urls import path

from imagehost.views import content

_path = urlsplit(settings.IMAGE_CDN_URL).path.strip("/")

urlpatterns = [path(f"{_path}/<str:file_name>" if _path else "<str:file_name>", content.deliver)]
