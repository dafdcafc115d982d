"""Cookies over https: every one of ours has the prefix `__Host-`, or `__Secure-` with a path, and what it asks for."""

from __future__ import annotations

import json
import subprocess
import sys
from http.cookies import SimpleCookie

import pytest
from django.conf import settings

from tests.support.environment import ROOT
from tests.support.session import outer_environment

SCRIPT = """
import django, json
django.setup()
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory
from accounts.sign_up import known_devices, waiting_apps
from accounts.second_factor_pages import PasskeyLoginView
from config.web.middleware import PrefixedCookieStorage

response, request = HttpResponse(), RequestFactory().get("/")
waiting_apps.add(request, response, form_action="https://app.example", login_hint="")
storage = PrefixedCookieStorage(request)
storage.add(20, "Saved.")
storage.update(response)
print(json.dumps({
    "narrow": [known_devices.COOKIE, PasskeyLoginView.COOKIE],
    "names": [settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME],
    "storage": settings.MESSAGE_STORAGE,
    "lines": [morsel.OutputString() for morsel in response.cookies.values()],
    "domains": [settings.SESSION_COOKIE_DOMAIN, settings.CSRF_COOKIE_DOMAIN],
    "paths": [settings.SESSION_COOKIE_PATH, settings.CSRF_COOKIE_PATH],
    "secure": [settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE],
}))
"""


@pytest.mark.parametrize(("base_url", "prefix"), [("https://id.example.org", "__Host-"), ("http://127.0.0.1:8000", "")])
def test_over_https_every_cookie_is_of_this_host_alone(base_url: str, prefix: str) -> None:
    environment = {**outer_environment(), "BASE_URL": base_url, "VAR_DIR": str(settings.VAR_DIR)}
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert found["names"] == [f"{prefix}sessionid", f"{prefix}csrftoken"]
    narrow = "__Secure-" if prefix else ""
    assert found["narrow"] == [f"{narrow}known_device", f"{narrow}passkey_challenge"]
    assert (found["domains"], found["paths"]) == ([None, None], ["/", "/"])
    assert found["secure"] == [bool(prefix)] * 2
    assert found["storage"] == "config.web.middleware.MessageStorage"
    assert len(found["lines"]) == 2
    for line in found["lines"]:
        (morsel,) = SimpleCookie(line).values()
        assert morsel.key.startswith(f"{prefix}waiting_apps" if "waiting" in morsel.key else f"{prefix}messages")
        assert (morsel["path"], morsel["domain"], bool(morsel["secure"])) == ("/", "", bool(prefix))
