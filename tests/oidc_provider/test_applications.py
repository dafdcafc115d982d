"""Operations on apps, the rules of registration and of names, and the command that registers one."""

from __future__ import annotations

import contextlib
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import AuditEvent, User
from oidc_provider.applications import application_rules, applications, logos
from oidc_provider.models import AccessToken, Application, Approval, SigningKey
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import CLIENT_SECRET, ApplicationFactory
from tests.oidc_provider.protocol import App
from tests.support.threads import together

pytestmark = pytest.mark.django_db

URL = "https://app.example/callback"


def register(owner: User, **values: Any) -> applications.RegisteredApp:
    good = {"name": "My app", "redirect_urls": [URL], "scopes": ["openid", "identify"], "by": owner}
    return applications.register(owner=owner, **{**good, **values})


def verbs() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("verb", flat=True))


def test_a_registered_app_knows_its_secret_and_stores_its_hash() -> None:
    owner = UserFactory()
    registered = register(owner, scopes=["offline_access", "openid"], homepage_url="https://app.example/")
    app = Application.objects.get()
    assert app == registered.application
    assert app.check_secret(registered.client_secret)
    assert registered.client_secret not in str(Application.objects.values().get())
    assert app.registered_scopes == ["openid", "offline_access"]
    assert app.redirect_urls == [URL]
    assert app.homepage_url == "https://app.example/"
    event = AuditEvent.objects.get()
    assert (event.verb, event.actor) == ("application:registered", owner)
    assert registered.client_secret not in str(event.data)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": " My app"}, "name"),
        ({"name": settings.SITE_NAME.upper()}, "name"),
        ({"name": "The OFFICIAL app"}, "name"),
        ({"name": "My\x00app"}, "name"),
        ({"name": "My\u202eapp"}, "name"),
        ({"name": "trusted app"}, "name"),
        ({"redirect_urls": ["http://app.example/cb"]}, "redirect_urls"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["openid", "profile"]}, "scopes"),
        ({"scopes": ["openid", "openid"]}, "scopes"),
        ({"scopes": ["openid", "email"]}, "scopes"),
        ({"privacy_url": "javascript:alert(1)"}, "privacy_url"),
        ({"terms_url": "https://bank.example@evil.example/"}, "terms_url"),
    ],
)
def test_a_bad_app_is_refused_by_field(values: dict[str, Any], field: str) -> None:
    owner = UserFactory(unlocked_scopes=["connections"])
    ApplicationFactory(name="Trusted app", is_verified=True)
    with pytest.raises(ValidationError) as refusal:
        register(owner, **values)
    assert list(refusal.value.message_dict) == [field]
    assert Application.objects.count() == 1
    assert verbs() == []


def test_a_scope_that_staff_unlocked_can_be_registered_and_openid_is_not_forced() -> None:
    owner = UserFactory(unlocked_scopes=["email"])
    assert register(owner, scopes=["email"]).application.registered_scopes == ["email"]


def test_a_banned_owner_registers_nothing() -> None:
    with pytest.raises(ValidationError, match="banned"):
        register(UserFactory(is_active=False))


def test_redirect_urls_are_replaced() -> None:
    app = ApplicationFactory()
    applications.change_redirect_urls(application=app, redirect_urls=[URL, "http://127.0.0.1/cb"], by=None)
    app.refresh_from_db()
    assert app.redirect_urls == [URL, "http://127.0.0.1/cb"]
    with pytest.raises(ValidationError):
        applications.change_redirect_urls(application=app, redirect_urls=["http://evil.example/"], by=None)
    applications.change_redirect_urls(application=app, redirect_urls=app.redirect_urls, by=None)
    assert verbs() == ["application:redirect_urls_changed"]


def test_scopes_are_replaced_within_what_is_unlocked() -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    changed = applications.change_scopes(application=app, scopes=["offline_access", "openid"], by=None)
    assert changed.registered_scopes == ["openid", "offline_access"]
    with pytest.raises(ValidationError, match="locked"):
        applications.change_scopes(application=app, scopes=["openid", "email"], by=None)
    assert verbs() == ["application:scopes_changed"]


def test_a_changed_name_drops_the_verification_and_a_changed_link_does_not() -> None:
    app = ApplicationFactory(is_verified=True)
    assert applications.change_details(application=app, by=None, support_url="https://app.example/help").is_verified
    assert applications.change_details(application=app, by=None, name=app.name).is_verified
    assert not applications.change_details(application=app, by=None, name="Another name").is_verified
    with pytest.raises(TypeError):
        applications.change_details(application=app, by=None, client_id="x")
    assert verbs() == ["application:details_changed", "application:details_changed", "application:unverified"]


def test_a_reset_secret_replaces_the_old_one_at_once() -> None:
    app = ApplicationFactory(secret_changed_at=timezone.now() - timedelta(days=1))
    before = timezone.now()
    secret = applications.reset_secret(application=app, by=None)
    app.refresh_from_db()
    assert app.secret_changed_at >= before
    assert app.check_secret(secret)
    assert not app.check_secret(CLIENT_SECRET)
    assert secret not in str(AuditEvent.objects.values().get())


def test_a_suspension_and_a_restore_are_recorded_once() -> None:
    staff, app = StaffFactory(), ApplicationFactory()
    applications.suspend(application=app, by=staff, reason="Phishing")
    applications.suspend(application=app, by=staff, reason="Phishing again")
    app.refresh_from_db()
    assert app.is_suspended
    assert app.suspension_reason == "Phishing"
    applications.restore(application=app, by=staff, reason="Solved")
    applications.restore(application=app, by=staff, reason="Solved again")
    restored = Application.objects.get(pk=app.pk)
    assert not restored.is_suspended
    assert restored.suspension_reason == ""
    assert verbs() == ["application:suspended", "application:restored"]


def test_relocking_takes_the_scope_from_every_app_of_that_owner() -> None:
    owner = UserFactory()
    for scope in ("email", "connections"):
        applications.unlock_scope(owner=owner, scope=scope, by=None, reason="Asked")
    first = register(owner, scopes=["openid", "email", "connections"]).application
    second = register(owner, scopes=["openid"]).application
    foreign = ApplicationFactory(registered_scopes=["openid", "email"])
    assert applications.relock_scope(owner=owner, scope="email", by=None, reason="Misuse").unlocked_scopes == [
        "connections"
    ]
    scopes = dict(Application.objects.values_list("pk", "registered_scopes"))
    assert scopes == {
        first.pk: ["openid", "connections"],
        second.pk: ["openid"],
        foreign.pk: ["openid", "email"],
    }
    event = AuditEvent.objects.get(verb="user:scope_relocked")
    assert event.data == {"scope": "email", "client_ids": [first.client_id]}
    with pytest.raises(ValidationError):
        applications.change_scopes(application=first, scopes=["openid", "email"], by=None)
    with pytest.raises(ValidationError):
        applications.unlock_scope(owner=owner, scope="openid", by=None, reason="x")


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_relock_is_not_missed_by_an_app_that_is_registered_at_the_same_moment() -> None:
    owner = UserFactory(unlocked_scopes=["email"])

    def act(number: int) -> None:
        if number == 0:
            applications.relock_scope(owner=owner, scope="email", by=None, reason="Misuse")
            return
        with contextlib.suppress(ValidationError):
            register(owner, name=f"App {number}", scopes=["openid", "email"])

    together(2, act)
    assert "email" not in [scope for app in Application.objects.all() for scope in app.registered_scopes]
    assert verbs().count("user:scope_relocked") == 1


def test_revoking_the_tokens_of_an_app_keeps_its_approvals(app: App, other_app: App, browser: Client) -> None:
    staff = StaffFactory()
    for each in (app, other_app):
        each.sign_in(browser, "openid")
    applications.revoke_tokens(application=app.application, by=staff, reason="Leaked")
    assert AccessToken.objects.get().application == other_app.application
    assert Approval.objects.filter(application=app.application).exists()
    event = AuditEvent.objects.get(verb="application:tokens_revoked")
    assert (event.actor, event.reason) == (staff, "Leaked")


def picture(size: tuple[int, int] = (600, 300), kind: str = "JPEG") -> io.BytesIO:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, kind, comment=b"secret place")
    file.seek(0)
    return file


def test_a_logo_is_encoded_anew_and_drops_the_verification() -> None:
    app = ApplicationFactory(is_verified=True)
    logos.change(application=app, png=logos.encode(picture()), by=None)
    png = logos.of(app)
    assert png is not None
    with Image.open(io.BytesIO(png)) as image:
        assert (image.format, image.size) == ("PNG", (256, 128))
    assert b"secret place" not in png
    app.refresh_from_db()
    assert not app.is_verified
    applications.verify(application=app, by=None)
    logos.remove(application=app, by=None)
    logos.remove(application=app, by=None)
    assert logos.of(app) is None
    app.refresh_from_db()
    assert not app.is_verified
    changed = ["application:logo_changed", "application:unverified", "application:verified"]
    assert verbs() == [*changed, "application:logo_removed", "application:unverified"]


def bomb() -> io.BytesIO:
    return picture((5000, 4000), "PNG")


def many_scans() -> io.BytesIO:
    """A progressive JPEG whose last scan comes 300 times: small, and slow to decode."""
    file = io.BytesIO()
    Image.new("L", (600, 600), 128).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    return io.BytesIO(content[:-2] + content[content.rindex(b"\xff\xda") : -2] * 300 + content[-2:])


@pytest.mark.parametrize(
    "upload",
    [
        io.BytesIO(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        io.BytesIO(b""),
        io.BytesIO(picture().getvalue()[:200]),
        io.BytesIO(picture(kind="BMP").getvalue()),
        io.BytesIO(picture(kind="PNG").getvalue() + b"x" * 1024 * 1024),
        bomb(),
        many_scans(),
    ],
    ids=["svg", "empty", "cut", "another format", "too many bytes", "too many pixels", "too many scans"],
)
def test_what_is_no_small_picture_is_refused(upload: io.BytesIO) -> None:
    upload.seek(0)
    with pytest.raises(ValidationError):
        logos.encode(upload)


def _command(*arguments: str) -> str:
    output = io.StringIO()
    call_command("register_app", *arguments, stdout=output)
    return output.getvalue()


def test_the_app_it_registers_can_sign_people_in(signing_key: SigningKey, user: User, browser: Client) -> None:
    facts = json.loads(
        _command("--owner", "ada", "--name", "Notes", "--redirect", URL, "--scope", "openid", "identify", "--json")
    )
    application = Application.objects.get()
    assert facts == {
        "client_id": application.client_id,
        "client_secret": facts["client_secret"],
        "redirect_uris": [URL],
        "scopes": ["openid", "identify"],
    }
    assert application.user == user
    assert App(application, facts["client_secret"]).sign_in(browser, "openid identify")["token_type"] == "Bearer"


def test_for_people_it_prints_one_fact_a_line(user: User) -> None:
    lines = _command("--owner", "Ada", "--name", "Notes", "--redirect", URL, "--scope", "openid").splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["client_id", "client_secret", "redirect_uris", "scopes"]


@pytest.mark.parametrize(
    "name",
    [
        "goblin pool",
        "Goblin-Pool.",
        "G0blin P00l",
        "Gob1in PooI",
        "Gob|!n Pool",
        "Göblin Pööl",
        "G\u043eblin P\u043e\u043el",
        "\uff27oblin Pool",
        "Gobl\u0131n Pool",
        "G\u00f8blin P\u00f8\u00f8l",
        "Gobli\u039d Pool",
    ],
)
def test_these_look_like_goblin_pool(name: str) -> None:
    assert application_rules.skeleton(name) == application_rules.skeleton("Goblin Pool")


@pytest.mark.parametrize("name", ["Goblin Pools", "Pool Goblin", "!?"])
def test_these_do_not(name: str) -> None:
    assert application_rules.skeleton(name) != application_rules.skeleton("Goblin Pool")


@pytest.mark.parametrize("name", ["\u0397\u0395\u0391RTH", "\u0126earth"])
@pytest.mark.django_db
def test_capitals_and_strokes_do_not_hide_the_name_of_the_service(name: str) -> None:
    problems = application_rules.name_problems(name, UserFactory.create())
    assert problems == ["The name looks like that of the service itself, Hearth."]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("\u3164", "The name contains control or invisible characters."),
        ("\U0001d159", "The name contains control or invisible characters."),
        ("My\u2800app", "The name contains control or invisible characters."),
        ("\u0301\u0301", "The name has no visible letter."),
    ],
)
@pytest.mark.django_db
def test_a_name_that_cannot_be_seen_is_refused(name: str, message: str) -> None:
    assert application_rules.name_problems(name, UserFactory.create()) == [message]


@pytest.mark.django_db
def test_a_name_in_another_script_or_of_a_sign_is_none_of_these() -> None:
    owner = UserFactory.create()
    for name in ("\u5bb6\u5ead", "\u0645\u0646\u0632\u0644", "\U0001f525", "???", "Caf\u00e9"):
        assert application_rules.name_problems(name, owner) == []


@pytest.mark.django_db
def test_an_unverified_app_may_be_looked_alike_and_ones_own_verified_app_too() -> None:
    owner: User = UserFactory.create()
    ApplicationFactory.create(name="Goblin Pool")
    ApplicationFactory.create(name="My pool", is_verified=True, user=owner)
    assert application_rules.name_problems("G0blin Pool", owner) == []
    assert application_rules.name_problems("My p00l", owner) == []


@pytest.mark.django_db
def test_names_of_signs_alone_do_not_look_like_one_another() -> None:
    ApplicationFactory.create(name="???", is_verified=True)
    assert application_rules.name_problems("...", UserFactory.create()) == []
