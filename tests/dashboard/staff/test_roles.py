"""The roles of staff: what each may do, and that none of them leads to more."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import CommandError, call_command

from accounts.models import AuditEvent, User
from dashboard import roles
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"
SUPERUSERS_ONLY = {
    *("account", "admin", "auth", "contenttypes", "mfa", "oauth2_provider", "sessions", "socialaccount"),
    "usersessions",
}
RIGHTS = {"is_superuser": "on", "is_staff": "on"}


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def held_by(name: str) -> set[str]:
    rows = Group.objects.get(name=name).permissions.values_list("content_type__app_label", "codename")
    return {f"{app_label}.{codename}" for app_label, codename in rows}


def a_permission(name: str) -> Permission:
    app_label, codename = name.split(".")
    return Permission.objects.get(content_type__app_label=app_label, codename=codename)


@pytest.fixture
def made() -> None:
    run("create_roles")


@pytest.fixture
def at_desk(made: None) -> Any:
    """A browser of a member of staff with the role alone."""

    def sign_in(role: str) -> Browser:
        person = UserFactory(is_staff=True)
        person.groups.add(Group.objects.get(name=role))
        browser = Browser()
        browser.client.force_login(person)
        return browser

    return sign_in


def status(browser: Browser, path: str) -> int:
    return int(browser.client.get(path).status_code)


def staff_of(browser: Browser) -> User:
    person = browser.user()
    assert person is not None
    return person


class TestCommand:
    def test_it_makes_each_role_once(self) -> None:
        assert "Support: " in run("create_roles")
        assert run("create_roles") == "".join(f"{role.name}: nothing to do\n" for role in roles.ROLES)
        assert set(Group.objects.values_list("name", flat=True)) == {role.name for role in roles.ROLES}
        assert list(AuditEvent.objects.values_list("verb", flat=True)) == ["role:created"] * len(roles.ROLES)

    def test_after_an_upgrade_it_adds_what_is_new_and_keeps_what_operators_added(self, made: None) -> None:
        moderators = Group.objects.get(name="Moderator")
        moderators.permissions.remove(a_permission("accounts.ban_user"))
        moderators.permissions.add(a_permission("lookup.change_comment"))
        assert "Moderator: 1 permissions added\n" in run("create_roles")
        assert {"accounts.ban_user", "lookup.change_comment"} <= held_by("Moderator")
        event = AuditEvent.objects.get(verb="role:changed")
        assert (event.object_name, event.data) == ("Moderator", {"added": ["accounts.ban_user"], "removed": []})

    def test_it_removes_what_operators_added_where_it_is_asked_to(self, made: None) -> None:
        Group.objects.get(name="Auditor").permissions.add(a_permission("accounts.ban_user"))
        other = Group.objects.create(name="Night shift")
        other.permissions.add(a_permission("accounts.ban_user"))
        assert "Auditor: removed: accounts.ban_user\n" in run("create_roles", "--exact")
        assert held_by("Auditor") == set(roles.ROLES[-1].permissions or ())
        assert held_by("Night shift") == {"accounts.ban_user"}

    def test_without_the_permissions_of_a_migration_it_says_so(self) -> None:
        a_permission("accounts.export_auditevent").delete()
        with pytest.raises(CommandError, match=r"no permission accounts\.export_auditevent\. Run manage\.py migrate"):
            run("create_roles")
        assert not Group.objects.exists()


def test_every_permission_is_in_a_role_or_for_superusers_alone(made: None) -> None:
    in_roles = set().union(*(held_by(role.name) for role in roles.ROLES))
    rows = Permission.objects.values_list("content_type__app_label", "codename")
    others = {f"{app}.{name}" for app, name in rows if app not in SUPERUSERS_ONLY}
    assert others == in_roles
    assert not set(roles.OWN_APPS) & SUPERUSERS_ONLY


def test_the_auditor_changes_nothing_and_the_document_has_the_same_table(made: None) -> None:
    verbs = {name.partition(".")[2].partition("_")[0] for name in held_by("Auditor")}
    assert verbs == {"view", "export"}
    rows = {f"| {role.name} | {role.purpose} |" for role in roles.ROLES}
    assert rows <= set(OPERATIONS.read_text().splitlines())


@pytest.mark.parametrize(
    ("role", "opened", "closed"),
    [
        (
            "Support",
            ["/dashboard/staff/", "/dashboard/staff/people/", "/admin/accounts/user/"],
            ["auditevent", "group"],
        ),
        (
            "Moderator",
            [
                "/dashboard/staff/reports/",
                "/dashboard/staff/files/",
                "/dashboard/staff/people/",
                "/admin/lookup/comment/",
                "/admin/imagehost/file/",
            ],
            ["apikey"],
        ),
        ("App reviewer", ["/dashboard/staff/", "/dashboard/staff/apps/"], ["apikey", "auditevent"]),
        ("Operator", ["/dashboard/staff/", "/admin/accounts/apikey/", "/admin/accounts/auditevent/"], ["group"]),
        ("Auditor", ["/admin/accounts/auditevent/", "/admin/accounts/jobrun/"], ["user", "apikey", "group"]),
    ],
)
def test_each_role_opens_its_pages(at_desk: Any, role: str, opened: list[str], closed: list[str]) -> None:
    browser = at_desk(role)
    assert {path: status(browser, path) for path in opened} == dict.fromkeys(opened, 200)
    paths = [f"/admin/{'auth' if model == 'group' else 'accounts'}/{model}/" for model in closed]
    assert {path: status(browser, path) for path in paths} == dict.fromkeys(paths, 403)


@pytest.mark.parametrize(
    ("role", "acts"),
    [
        ("Support", {"ban": 403, "reset_password": 403, "reset_second_factor": 403, "delete": 403}),
        ("Moderator", {"ban": 200, "reset_password": 403, "reset_second_factor": 403, "unlock_scope": 403}),
        ("App reviewer", {"unlock_scope": 200, "ban": 403, "reset_second_factor": 403}),
        ("Operator", {"ban": 200, "reset_password": 200, "reset_second_factor": 200, "unlock_scope": 200}),
    ],
)
def test_each_role_has_its_acts(at_desk: Any, role: str, acts: dict[str, int]) -> None:
    ada, browser = UserFactory(), at_desk(role)
    assert {act: status(browser, f"/admin/accounts/user/act/{act}/?id={ada.pk}") for act in acts} == acts


class TestEscalation:
    """Staff give neither themselves nor others rights that they do not have."""

    @pytest.mark.parametrize("role", ["Support", "Moderator", "App reviewer", "Operator", "Auditor"])
    def test_a_change_of_ones_own_account_in_the_admin_is_refused(self, at_desk: Any, role: str) -> None:
        browser = at_desk(role)
        browser.client.handler.enforce_csrf_checks = False
        me = staff_of(browser)
        operators = Group.objects.get(name="Operator").pk
        answer = browser.client.post(
            f"/admin/accounts/user/{me.pk}/change/", {"username": me.username, "groups": operators, **RIGHTS}
        )
        assert answer.status_code == 403
        fresh = User.objects.get(pk=me.pk)
        assert [group.name for group in fresh.groups.all()] == [role]
        assert not fresh.is_superuser
        assert not fresh.user_permissions.exists()

    def test_an_operator_who_changes_a_user_gives_no_rights(self, at_desk: Any) -> None:
        ada, browser = UserFactory(username="Ada"), at_desk("Operator")
        browser.open(f"/admin/accounts/user/{ada.pk}/change/")
        form = browser.form("display_name")
        assert not {"is_staff", "is_superuser", "groups", "user_permissions"} & set(form.fields)
        form.fields["display_name"] = "Countess"
        given = {"groups": [Group.objects.get(name="Operator").pk], "user_permissions": [1], **RIGHTS}
        answer = browser.client.post(f"/admin/accounts/user/{ada.pk}/change/", {**dict(form.form_values()), **given})
        assert answer.status_code == 302
        ada.refresh_from_db()
        assert ada.display_name == "Countess"
        self.assert_without_rights(ada)

    def test_an_operator_who_adds_a_user_gives_no_rights(self, at_desk: Any) -> None:
        browser = at_desk("Operator").open("/admin/accounts/user/add/")
        form = browser.form("password1")
        given = {"username": "Eve", "email": "eve@example.org", "password1": "a long pass phrase", **RIGHTS}
        given["password2"] = given["password1"]
        browser.client.post("/admin/accounts/user/add/", {**dict(form.form_values()), **given})
        self.assert_without_rights(User.objects.get(username="Eve"))

    @pytest.mark.parametrize("act", ["ban", "reset_password", "reset_second_factor", "delete"])
    def test_an_operator_does_nothing_to_a_superuser(self, at_desk: Any, act: str) -> None:
        boss, browser = StaffFactory(username="Boss"), at_desk("Operator")
        before = User.objects.filter(pk=boss.pk).values().get()
        browser.open(f"/admin/accounts/user/act/{act}/?id={boss.pk}").submit(reason="Because")
        assert "superuser" in browser.text
        assert User.objects.filter(pk=boss.pk).values().get() == before

    def test_an_operator_changes_no_group(self, at_desk: Any) -> None:
        browser = at_desk("Operator")
        group = Group.objects.get(name="Operator").pk
        for path in ("/admin/auth/group/", "/admin/auth/group/add/", f"/admin/auth/group/{group}/change/"):
            assert status(browser, path) == 403

    def test_an_app_of_staff_is_no_way_in(self, at_desk: Any) -> None:
        app = ApplicationFactory(user=StaffFactory())
        browser = at_desk("Operator").open(f"/admin/oidc_provider/application/act/reset_secret/?id={app.pk}")
        browser.submit(reason="Because")
        assert "superuser" in browser.text
        secret = app.client_secret
        app.refresh_from_db()
        assert app.client_secret == secret

    def assert_without_rights(self, person: User) -> None:
        assert not person.is_superuser
        assert not person.is_staff
        assert not person.groups.exists()
        assert not person.user_permissions.exists()


class TestOperatorWithRole:
    @pytest.fixture(autouse=True)
    def password(self, monkeypatch: Any) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("a long pass phrase\n"))

    def test_they_are_staff_with_that_role_alone(self, made: None) -> None:
        arguments = ("--email", "ann@example.org", "--password-stdin", "--role", "app REVIEWER")
        assert run("create_operator", "Ann", *arguments) == "Made Ann, App reviewer (uid 0).\n"
        ann = User.objects.get()
        assert (ann.is_staff, ann.is_superuser) == (True, False)
        assert list(ann.groups.values_list("name", flat=True)) == ["App reviewer"]
        assert ann.second_factor_grace_from is not None
        assert AuditEvent.objects.get(verb="user:changed").data == {"changed": ["groups"], "groups": ["App reviewer"]}

    def test_an_unknown_role_is_named_and_no_account_is_made(self, made: None) -> None:
        with pytest.raises(CommandError, match="There is no role King; there are: App reviewer, Auditor, Moderator"):
            run("create_operator", "Ann", "--email", "ann@example.org", "--password-stdin", "--role", "King")
        assert not User.objects.exists()
