"""A site with django-allauth and one provider, configured by a settings file of the dashboard.

    python allauth_site.py settings.py port

/ tells in JSON who is signed in.
"""

from __future__ import annotations

import sys
from pathlib import Path
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, URLResolver, include, path

APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages"]
PROCESSORS = ["django.template.context_processors.request", "django.contrib.messages.context_processors.messages"]


def signed_in_user(request: HttpRequest) -> JsonResponse:
    from allauth.socialaccount.models import SocialAccount

    account = SocialAccount.objects.get(user=request.user)
    return JsonResponse({"uid": account.uid, "userinfo": account.extra_data["userinfo"]})


urlpatterns: list[URLPattern | URLResolver] = []  # filled once the settings are there, which allauth reads


def main() -> None:
    shown, port = sys.argv[1:]
    names: dict[str, list[str]] = {"INSTALLED_APPS": [*APPS, "allauth", "allauth.account"]}
    exec(Path(shown).read_text(), names)  # noqa: S102 - this is what a settings file is for
    settings.configure(
        INSTALLED_APPS=names["INSTALLED_APPS"],
        SOCIALACCOUNT_PROVIDERS=names["SOCIALACCOUNT_PROVIDERS"],
        SOCIALACCOUNT_LOGIN_ON_GET=True,
        SECRET_KEY="of-this-site-alone",
        ROOT_URLCONF=__name__,
        LOGIN_REDIRECT_URL="/",
        ALLOWED_HOSTS=["127.0.0.1"],
        USE_TZ=True,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{shown}.sqlite3"}},
        EMAIL_BACKEND="django.core.mail.backends.dummy.EmailBackend",
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "allauth.account.middleware.AccountMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": PROCESSORS},
            }
        ],
    )
    django.setup()
    urlpatterns.extend([path("accounts/", include("allauth.urls")), path("", signed_in_user)])
    call_command("migrate", verbosity=0)
    make_server("127.0.0.1", int(port), get_wsgi_application()).serve_forever()


if __name__ == "__main__":
    main()
