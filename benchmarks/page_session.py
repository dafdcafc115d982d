"""A signed-in browser for the pages: `python -m benchmarks.page_session`, with the service's settings.

Makes a member with an email address, a few keys and a profile, and the people of the demo. Prints the cookie of a
session of the member, the path of the dashboard, the name of the member, and that of a profile with all sections,
comments and replies, as JSON.
"""

from __future__ import annotations

import json


def main() -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from accounts import users
    from accounts.api_keys import keys
    from accounts.models import Permission, User
    from demo import seeding

    name = "benchmark-reader"
    user = User.objects.by_username(name).first() or users.create(
        username=name, email="reader@benchmark.example", password=users.new_password(), by=None, has_verified_email=True
    )
    for permission in (Permission.ACCOUNT, Permission.LOOKUP_USER):
        keys.issue(owner=user, permissions=[permission], name=f"Key: {permission}", by=None)
    client = Client()
    client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    filled = seeding.seed()["users"][0]["username"]
    print(json.dumps({"cookie": cookie, "dashboard": reverse("dashboard"), "name": name, "filled": filled}))


if __name__ == "__main__":
    main()
