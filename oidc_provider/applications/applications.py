"""Registers, changes, suspends and deletes apps.

Operations that concern scopes lock the owner's row first, then the team's and the app's, as relocking does.
`roles.lock_teams` says the order of all locks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, users
from accounts.models import User
from oidc_provider import revocation
from oidc_provider.applications import app_events, application_rules, roles
from oidc_provider.applications.scopes import LOCKED_SCOPES, in_order
from oidc_provider.models import Application, Role, Team, new_client_id
from oidc_provider.models.applications import AppSecret

MOVED = "This app was handed over to another owner in the meantime. Open its page again."
NEW_LOOK = "The name or the logo changed."
NEW_OWNER = "The app has another owner of record."
_SECRET_COLUMNS = (
    *("client_secret", "secret_changed_at", "secret_hint", "secret_used_at"),
    *("second_secret", "second_secret_changed_at", "second_secret_hint", "second_secret_used_at", "updated"),
)


class AlreadyRegistered(Exception):
    """An app with this client id was registered before, and its secret was shown. It may be deleted now."""


@dataclass(frozen=True)
class RegisteredApp:
    """A new app. `client_secret` is not stored: show it once."""

    application: Application
    client_secret: str


@transaction.atomic
def register(
    *,
    owner: User,
    name: str,
    redirect_urls: Sequence[str],
    scopes: Sequence[str],
    by: User | None,
    client_id: str = "",
    staging_of: Application | None = None,
    **details: str,
) -> RegisteredApp:
    """Register an app and make its secret. ValidationError by argument (`application_rules`).

    `client_id`: from `new_client_id`, so that a form sent twice registers one app: AlreadyRegistered. `staging_of`: the
    live app of a staging app (`staging.create`). `details`: `application_rules.DETAILS` but the name, as far as given.
    """
    _check_names(details, application_rules.DETAILS)
    owner = _locked_owner(owner)
    _check_may_register(owner, client_id, by, staging_of)
    if staging_of is None:
        users.check_may_act_for(owner=owner, by=by)
    else:
        roles.check(application=staging_of, by=by)
    team = None if staging_of is None else staging_of.team
    _check(owner, team, name=name, redirect_urls=redirect_urls, scopes=scopes, **details)
    application = Application(
        client_id=client_id or new_client_id(),
        user=owner,
        team=team,
        name=name,
        redirect_uris=" ".join(redirect_urls),
        registered_scopes=in_order(scopes),
        staging_of=staging_of,
        **details,
    )
    secret = application.set_new_secret(timezone.now())
    application.save()
    _record("registered", application, by, redirect_urls=list(redirect_urls), scopes=application.registered_scopes)
    return RegisteredApp(application, secret)


@transaction.atomic
def change_redirect_urls(*, application: Application, redirect_urls: Sequence[str], by: User | None) -> Application:
    """Replace the redirect URLs. ValidationError({"redirect_urls": ...})."""
    application = _locked(application)
    roles.check(application=application, by=by)
    _check(application.user, application.team, redirect_urls=redirect_urls)
    before = application.redirect_urls
    if list(redirect_urls) != before:
        application.redirect_uris = " ".join(redirect_urls)
        application.save(update_fields=["redirect_uris", "updated"])
        _record("redirect_urls_changed", application, by, before=before, after=list(redirect_urls))
    return application


@transaction.atomic
def change_scopes(*, application: Application, scopes: Sequence[str], by: User | None) -> Application:
    """Replace the registered scopes. ValidationError({"scopes": ...}): unknown, or locked for the owner."""
    application = hold(application)
    roles.check(application=application, by=by)
    _check(application.user, application.team, scopes=scopes)
    before = application.registered_scopes
    after = in_order(scopes)
    if after != before:
        application.registered_scopes = after
        application.save(update_fields=["registered_scopes", "updated"])
        _record("scopes_changed", application, by, before=before, after=after)
    return application


@transaction.atomic
def change_details(*, application: Application, by: User | None, **values: str) -> Application:
    """Set name, links and logout URL (`application_rules.DETAILS`), as far as given. ValidationError by argument.

    A new name drops `is_verified`: staff vouched for the old one.
    """
    _check_names(values, application_rules.DETAILS)
    application = _locked(application)
    roles.check(application=application, by=by)
    changed = {name: value for name, value in values.items() if getattr(application, name) != value}
    _check(application.user, application.team, **changed)
    if not changed:
        return application
    before = {name: getattr(application, name) for name in changed}
    for name, value in changed.items():
        setattr(application, name, value)
    application.save(update_fields=[*changed, "updated"])
    _record("details_changed", application, by, before=before, after=changed)
    return drop_verified(application=application, by=by) if "name" in changed else application


@transaction.atomic
def reset_secret(*, application: Application, by: User | None, reason: str = "") -> str:
    """Replace all secrets at once and return the new one: show it once."""
    application = _locked(application)
    roles.check(application=application, by=by)
    secret = application.set_new_secret(timezone.now())
    application.save(update_fields=_SECRET_COLUMNS)
    _record("secret_reset", application, by, reason)
    return secret


@transaction.atomic
def add_secret(*, application: Application, by: User | None) -> str:
    """Make a second secret, which is accepted beside the first, and return it: show it once.

    Raises ValidationError where the app has two.
    """
    application = _locked(application)
    roles.check(application=application, by=by)
    if len(application.secrets) > 1:
        raise ValidationError("An app has two secrets at most. Remove one first.", code="too_many")
    secret = application.set_second_secret(timezone.now())
    application.save(update_fields=_SECRET_COLUMNS)
    _record("secret_added", application, by, hint=application.second_secret_hint)
    return secret


@transaction.atomic
def remove_secret(*, application: Application, changed_at: datetime | None, by: User | None) -> AppSecret:
    """Remove the secret that was made at `changed_at`, at once; return what was known of it.

    Raises ValidationError where the app has no such secret (None has none), or no other one.
    """
    application = _locked(application)
    roles.check(application=application, by=by)
    known = application.secrets
    removed = next((secret for secret in known if secret.changed_at == changed_at), None)
    if removed is None:
        raise ValidationError("This secret was removed or reset already.", code="changed")
    if len(known) == 1:
        raise ValidationError("This is the only secret of the app. Add another one first, or reset it.", code="last")
    if removed is known[0]:
        application.remove_first_secret()
    else:
        application.remove_second_secret()
    application.save(update_fields=_SECRET_COLUMNS)
    _record("secret_removed", application, by, hint=removed.hint)
    return removed


@transaction.atomic
def revoke_tokens(*, application: Application, by: User | None, reason: str = "") -> Application:
    """Delete every code and token of the app; approvals are kept."""
    application = _locked(application)
    roles.check(application=application, by=by)
    revocation.delete_of_application(application)
    _record("tokens_revoked", application, by, reason)
    return application


@transaction.atomic
def suspend(*, application: Application, by: User | None, reason: str) -> Application:
    """Suspend the app, with its staging app, and delete their tokens; approvals are kept. Idempotent."""
    application = _locked(application)
    for staging in Application.objects.filter(staging_of=application):
        suspend(application=staging, by=by, reason=reason)
    if not application.is_suspended:
        application.suspended_at = timezone.now()
        application.suspension_reason = reason
        application.save(update_fields=["suspended_at", "suspension_reason", "updated"])
        revocation.delete_of_application(application)
        _record("suspended", application, by, reason)
        app_events.suspended(application)
    return application


@transaction.atomic
def restore(*, application: Application, by: User | None, reason: str = "") -> Application:
    """Undo `suspend`; users are not asked again, because approvals are kept. A staging app is restored by itself.

    ValidationError for the staging app of a suspended one; PermissionDenied: of staff, for their own team.
    """
    roles.check_is_impartial(application=application, by=by)
    live = application.staging_of and _locked(application.staging_of)  # before the staging app, as `suspend` does
    application = _locked(application)
    if live and live.is_suspended:
        raise ValidationError("Restore the live app first: this is its staging app.")
    if application.is_suspended:
        application.suspended_at = None
        application.suspension_reason = ""
        application.save(update_fields=["suspended_at", "suspension_reason", "updated"])
        _record("restored", application, by, reason)
        app_events.restored(application)
    return application


def verify(*, application: Application, by: User | None, reason: str = "") -> Application:
    """Vouch for the app's name and logo on the consent screen. PermissionDenied: of staff, for their own team."""
    roles.check_is_impartial(application=application, by=by)
    return _set_verified(application, "verified", by, reason)


def unverify(*, application: Application, by: User | None, reason: str = "") -> Application:
    """Undo `verify`."""
    return _set_verified(application, "unverified", by, reason)


def drop_verified(*, application: Application, by: User | None, reason: str = NEW_LOOK) -> Application:
    """Undo `verify` because what staff looked at has changed: the name or the logo, or the owner of record."""
    return _set_verified(application, "unverified", by, reason)


@transaction.atomic
def unlock_scope(*, owner: User, scope: str, by: User | None, reason: str) -> User:
    """Let the owner's apps register a locked scope. ValidationError: another scope. PermissionDenied."""
    _check_locked_scope(scope)
    owner = _locked_owner(owner)
    users.check_authority(user=owner, by=by)
    if scope not in owner.unlocked_scopes:
        owner.unlocked_scopes = in_order([*owner.unlocked_scopes, scope])
        owner.save(update_fields=["unlocked_scopes"])
        audit.record("user:scope_unlocked", by=by, on=owner, reason=reason, scope=scope)
    return owner


@transaction.atomic
def relock_scope(*, owner: User, scope: str, by: User | None, reason: str) -> User:
    """Lock a scope again for the owner. Remove it from the owner's apps, and from those of the owner's teams where no
    other member has it unlocked."""
    _check_locked_scope(scope)
    owner = _locked_owner(owner)
    if scope not in owner.unlocked_scopes:
        return owner
    owner.unlocked_scopes = [kept for kept in owner.unlocked_scopes if kept != scope]
    owner.save(update_fields=["unlocked_scopes"])
    roles.lock_teams(owner.team_memberships.values_list("team", flat=True))
    client_ids = []
    for application in roles.losing(owner, scope).select_for_update(no_key=True).order_by("pk"):
        before = application.registered_scopes
        if scope in before:
            application.registered_scopes = [kept for kept in before if kept != scope]
            application.save(update_fields=["registered_scopes", "updated"])
            client_ids.append(application.client_id)
            if application.team_id:  # other members learn from its activity why
                why, after = f"Staff locked it again for {owner.username}.", application.registered_scopes
                _record("scopes_changed", application, by, why, before=before, after=after)
    audit.record("user:scope_relocked", by=by, on=owner, reason=reason, scope=scope, client_ids=client_ids)
    return owner


@transaction.atomic
def delete(*, application: Application, by: User | None, reason: str = "") -> None:
    """Delete the app with its approvals and tokens, and before it its staging app. PermissionDenied: not its owner."""
    application = _locked(application)
    roles.check(application=application, by=by, role=Role.OWNER)
    for staging in Application.objects.filter(staging_of=application):
        delete(application=staging, by=by, reason=reason)
    _record("deleted", application, by, reason)
    revocation.delete_of_application(application, with_approvals=True)
    # Workers lock webhooks before their deliveries, too.
    list(application.webhook_endpoints.select_for_update().order_by("pk").values_list("pk"))
    # The full lock waits for transactions that add a row of the app, and blocks new ones.
    Application.objects.select_for_update().get(pk=application.pk).delete()


def hold(application: Application) -> Application:
    """Return the app, its owner and its team as they are now, locked until the end of the caller's transaction.

    Raises ValidationError: the app has got another owner or team since it was read.
    """
    owner = _locked_owner(application.user)
    roles.lock_teams([application.team_id])
    locked = _locked(application)
    if (locked.user_id, locked.team_id) != (application.user_id, application.team_id):
        raise ValidationError(MOVED, code="changed")
    locked.user = owner
    return locked


def _locked(application: Application) -> Application:
    """Return the app as it is now, with its owner, locked until the end of the transaction.

    `no_key` lets a concurrent refresh insert its tokens, which refer to the app; else both would deadlock.
    """
    locked = Application.objects.select_for_update(of=("self",), no_key=True)
    return locked.select_related("user", "team", "staging_of").get(pk=application.pk)


def _locked_owner(owner: User) -> User:
    return User.objects.select_for_update(no_key=True).get(pk=owner.pk)


def _check(owner: User, team: Team | None, **values: Any) -> None:
    problems = application_rules.problems(owner=owner, team=team, **values)
    if problems:
        raise ValidationError(problems)


def _check_names(values: dict[str, str], known: Sequence[str]) -> None:
    if unknown := set(values).difference(known):
        raise TypeError(f"{', '.join(sorted(unknown))}: set only {', '.join(known)}.")


def _check_may_register(owner: User, client_id: str, by: User | None, staging_of: Application | None) -> None:
    """The limit of apps holds for owners, not for staff and commands; staging apps do not count. A team makes one while
    its owner of record is banned, too."""
    made = owner.audit_events.filter(verb="application:registered", data__client_id=client_id)
    if client_id and (Application.objects.filter(client_id=client_id).exists() or made.exists()):
        raise AlreadyRegistered
    is_of_team = staging_of is not None and staging_of.team_id is not None
    if not owner.is_active and not is_of_team:
        raise ValidationError({"owner": "This account is banned."})
    live = owner.applications.filter(staging_of=None)
    if staging_of is None and by == owner and live.count() >= application_rules.MAX_APPLICATIONS:
        raise ValidationError({"owner": application_rules.TOO_MANY})


def _check_locked_scope(scope: str) -> None:
    if scope not in LOCKED_SCOPES:
        raise ValidationError(f"{scope} is not a locked scope; these are: {', '.join(LOCKED_SCOPES)}.")


@transaction.atomic
def _set_verified(application: Application, verb: str, by: User | None, reason: str) -> Application:
    application, value = _locked(application), verb == "verified"
    if application.is_verified != value:
        application.is_verified = value
        application.save(update_fields=["is_verified", "updated"])
        _record(verb, application, by, reason)
    return application


def _record(verb: str, application: Application, by: User | None, reason: str = "", **data: Any) -> None:
    audit.record(f"application:{verb}", by=by, on=application, reason=reason, client_id=application.client_id, **data)
