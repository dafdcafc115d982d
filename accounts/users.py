"""Operations on user accounts, for staff, commands and owners. `accounts.sign_up` is the way of visitors."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import audit, browser_sessions, hooks, mail
from accounts.api_keys import records
from accounts.models import AccountDeletion, User
from accounts.models.names import validate_available
from accounts.models.users import username_validator
from accounts.sign_up import passwords
from infrastructure import text_rules

# What staff may change, and of these what only a superuser may, since they give every right.
CHANGEABLE = frozenset(
    {"username", "display_name", "plan", "plan_expires_at", "is_verified", "public_api_access", "is_staff"}
    | {"is_superuser", "groups", "user_permissions"}
)
SUPERUSER_ONLY = frozenset({"is_staff", "is_superuser", "groups", "user_permissions"})
_MANY = ("groups", "user_permissions")
RENAMED_EVERY = timedelta(days=5)
DELETION_GRACE = timedelta(days=7)
HIDDEN = "Staff have hidden this profile. It stays private until they show it again."


def new_password() -> str:
    """Return 20 random letters and digits: 119 bits."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(20))


def is_email_taken(email: str) -> bool:
    """Return whether an account has this address (lower case), confirmed or not."""
    return EmailAddress.objects.filter(email=email).exists() or User.objects.filter(email__iexact=email).exists()


def check_authority(*, user: User, by: User | None) -> None:
    """Raise PermissionDenied unless `by` may act on this account: only superusers act on staff accounts."""
    if by is not None and (user.is_staff or user.is_superuser) and not by.is_superuser:
        raise PermissionDenied("Only a superuser may do this to a staff account.")


def check_staff_action(*, owners: Iterable[User], by: User | None) -> None:
    """Raise PermissionDenied unless `by`, as a member of staff, may act on rows of `owners`.

    Both doors of staff, the admin and the staff pages, call it for every action and every form. Staff who are no
    superusers change their own rows on the pages of owners, where they grant themselves nothing.
    """
    for owner in owners:
        check_authority(user=owner, by=by)


def has_authority(check: Callable[..., None], owners: list[User], by: User) -> bool:
    """Return whether `check` lets `by` act on rows of `owners`."""
    try:
        check(owners=owners, by=by)
    except PermissionDenied:
        return False
    return True


def check_may_act_for(*, owner: User, by: User | None) -> None:
    """Raise PermissionDenied unless `by` may change what belongs to `owner`, such as a key: the owner may, staff may,
    and only superusers may for staff."""
    if by is None or by.pk != owner.pk:
        check_authority(user=owner, by=by)


def lock(user_id: str) -> bool:
    """Lock the user's row until the transaction ends; False where it does not exist. 1 query.

    Lock this row before changing several rows of one user, so that such changes come one after the other.
    """
    return bool(User.objects.select_for_update(no_key=True).filter(pk=user_id).values_list("pk"))


def lock_active(user: User) -> User:
    """Return the user as they are now, locked as by `lock`. ValidationError: banned or deleted. 1 query."""
    found = User.objects.select_for_update(no_key=True).filter(pk=user.pk, is_active=True).first()
    if found is None:
        raise ValidationError("This account is banned or deleted.")
    return found


@transaction.atomic
def create(
    *,
    username: str,
    email: str,
    password: str,
    by: User | None,
    has_verified_email: bool = False,
    is_operator: bool = False,
    **fields: Any,
) -> User:
    """Create an account with its email address. ValidationError, by argument: a bad or taken name, a taken or
    malformed address, a weak password. `fields`: further columns of the user, as `create_user` takes them."""
    email = email.strip().lower()
    problems = _new_account_problems(username, email, password, User(username=username, email=email))
    if problems:
        raise ValidationError(problems)
    make = User.objects.create_superuser if is_operator else User.objects.create_user
    try:
        with transaction.atomic():
            user = make(username, email, password, **fields)
    except IntegrityError as error:  # another account took the name after the check
        raise ValidationError({"username": "This name is already taken."}) from error
    EmailAddress.objects.create(user=user, email=email, verified=has_verified_email, primary=True)
    audit.record("user:created", by=by, on=user, uid=user.uid, is_operator=is_operator)
    return user


@transaction.atomic
def create_operator(*, username: str, email: str, password: str, role: Group | None = None) -> User:
    """Create a superuser with a confirmed email address; with a `role`, a member of staff of only that group.

    ValidationError, by argument, as `create` says. Django's createsuperuser verifies no email address, which allauth
    asks for at each login.
    """
    given: dict[str, Any] = {"username": username, "email": email, "password": password, "by": None}
    given["has_verified_email"] = True
    if role is None:
        return create(is_operator=True, **given)
    user = create(is_staff=True, second_factor_grace_from=timezone.now(), **given)
    user.groups.add(role)
    audit.record("user:changed", by=None, on=user, changed=["groups"], groups=[role.name])
    return user


@transaction.atomic
def change(*, user: User, values: dict[str, Any], by: User) -> User:
    """Set `values` (names from CHANGEABLE) and record which ones changed. `groups` and `user_permissions` take
    iterables of rows. A waiting deletion of who is no longer staff is postponed.

    PermissionDenied: a staff account, or a value in SUPERUSER_ONLY, and `by` is no superuser. ValidationError, by
    argument: the profile is hidden, and would be public.
    """
    check_authority(user=user, by=by)
    unknown = set(values) - CHANGEABLE
    if unknown:
        raise ValueError(f"Staff cannot change {', '.join(sorted(unknown))}.")
    if not by.is_superuser and SUPERUSER_ONLY & set(values):
        raise PermissionDenied("Only a superuser may change rights.")
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.is_hidden and values.get("public_api_access"):
        raise ValidationError({"public_api_access": HIDDEN})
    old_username, old_name, was_staff = user.username, user.get_full_name(), user.is_staff
    for name, value in values.items():
        if name in _MANY:
            getattr(user, name).set(value)
        else:
            setattr(user, name, value)
    columns = [name for name in values if name not in _MANY]
    data = {"old_username": old_username} if user.username != old_username else {}
    if user.is_staff != was_staff:
        user.second_factor_grace_from = timezone.now() if user.is_staff else None
        data |= {} if user.is_staff else postpone_deletion(user)
        columns.append("second_factor_grace_from")
    if "display_name" in values:
        columns.append("display_name_folded")
    user.save(update_fields=columns)
    if {"plan", "plan_expires_at"} & set(values):
        records.forget_of(user)
    if "public_api_access" in values:
        hooks.call("public_access_changed", user)
    _note_names(user, old_username, old_name)
    audit.record("user:changed", by=by, on=user, changed=sorted(values), **data)
    return user


def postpone_deletion(user: User) -> dict[str, str]:
    """Put a waiting deletion off for DELETION_GRACE from now, where it is due sooner, and return its new day for the
    audit trail. 1 query. The caller has locked the user, whose ban or time as staff had held the deletion up."""
    due_at = timezone.now() + DELETION_GRACE
    moved = AccountDeletion.objects.filter(user=user, due_at__lt=due_at).update(due_at=due_at)
    return {"deletion_due_at": due_at.isoformat()} if moved else {}


@transaction.atomic
def rename(*, user: User, username: str, by: User | None) -> User:
    """Give the user another username, which frees the old one. ValidationError, by argument: no name, reserved or
    taken (by an alias of one's own, too), or the last change by the person themselves is younger than RENAMED_EVERY.
    """
    check_may_act_for(owner=user, by=by)
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    now, old_username, old_name = timezone.now(), user.username, user.get_full_name()
    is_own_choice = by is not None and by.pk == user.pk
    try:
        if is_own_choice and user.renamed_at is not None and user.renamed_at + RENAMED_EVERY > now:
            from_time = f"{user.renamed_at + RENAMED_EVERY:%-d %B %Y, %H:%M} UTC"
            sentence = f"A username can be changed every {RENAMED_EVERY.days} days; yours again from {from_time}."
            raise ValidationError(sentence, code="pause")
        username_validator(username)
        if username == old_username:
            raise ValidationError("This is your username already.")
        if username.upper() != old_username.upper():
            validate_available(username)
        user.username, user.renamed_at = username, now if is_own_choice else user.renamed_at
        with transaction.atomic():
            user.save(update_fields=["username", "renamed_at"])
    except IntegrityError as error:  # another account took the name after the check
        raise ValidationError({"username": "This name is already taken."}) from error
    except ValidationError as error:
        raise ValidationError({"username": error}) from error
    audit.record("user:renamed", by=by, on=user, old_username=old_username)
    _note_names(user, old_username, old_name)
    return user


def renamable_at(user: User) -> datetime | None:
    """Return when the person may choose another username; None where they may at once."""
    if user.renamed_at is None or user.renamed_at + RENAMED_EVERY <= timezone.now():
        return None
    return user.renamed_at + RENAMED_EVERY


@transaction.atomic
def set_display_name(*, user: User, name: str, by: User | None) -> User:
    """Change the displayed name; empty: the username is displayed. ValidationError, by argument."""
    check_may_act_for(owner=user, by=by)
    if len(name) > 64 or (name and not text_rules.has_something_to_see(name)) or text_rules.find_hidden(name):
        raise ValidationError({"display_name": "Use at most 64 characters, and none that cannot be seen."})
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if name != user.display_name:
        old_name = user.get_full_name()
        user.display_name = name
        user.save(update_fields=["display_name", "display_name_folded"])
        audit.record("user:changed", by=by, on=user, changed=["display_name"])
        _note_names(user, user.username, old_name)
    return user


@transaction.atomic
def set_new_browser_mails(*, user: User, are_sent: bool, by: User | None) -> None:
    """Set whether the user gets an email about a sign-in from a new browser."""
    check_may_act_for(owner=user, by=by)
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.mails_new_browsers != are_sent:
        user.mails_new_browsers = are_sent
        user.save(update_fields=["mails_new_browsers"])
        audit.record("user:changed", by=by, on=user, changed=["mails_new_browsers"], are_sent=are_sent)


@transaction.atomic
def reset_password(*, user: User, by: User | None, reason: str = "") -> str:
    """Replace the password by a random one, end every session, and return the new one to be shown once."""
    check_authority(user=user, by=by)
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    password = new_password()
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user)
    audit.record("user:password_reset", by=by, on=user, reason=reason)
    return password


@transaction.atomic
def delete(*, user: User, by: User | None, reason: str = "") -> None:
    """Delete the account with everything that is its own: apps, approvals, tokens, keys, linked accounts, names."""
    check_authority(user=user, by=by)
    if by is not None and by.pk == user.pk and by.is_staff:
        raise PermissionDenied("Staff cannot delete their own account; another superuser can.")
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    audit.record("user:deleted", by=by, on=user, reason=reason, uid=user.uid)
    end_sessions(user)
    hooks.call("user_deleted", user)
    # The full lock waits for transactions that add rows naming the user, and blocks further ones.
    user = User.objects.select_for_update().get(pk=user.pk)
    list(user.webhook_endpoints.select_for_update().order_by("pk").values_list("pk"))  # before deliveries, as workers
    records.forget_deleted(user)
    user.delete()


@transaction.atomic
def end_session(*, session: UserSession, by: User | None, **data: Any) -> None:
    """Sign this one browser out. `data`: more for the event."""
    audit.record("user:session_ended", by=by, on=session.user, **data)
    browser_sessions.ended(session.user, browser_sessions.name_of_key(session.session_key))
    session.end()


def end_sessions(user: User) -> int:
    """Sign the user out everywhere. Return the number of sessions.

    Every login leaves a UserSession row; ending it deletes the session itself too.
    """
    browser_sessions.all_ended(user)
    rows = list(UserSession.objects.filter(user=user).order_by("pk"))
    for row in rows:
        row.end()
    return len(rows)


def changed_names(user: User, old_username: str, old_name: str) -> set[str]:
    """Return the claims that are not as they were with the old username and the old displayed name."""
    names = {"preferred_username", "profile"} if user.username != old_username else set()
    return names | ({"name"} if user.get_full_name() != old_name else set())


def _note_names(user: User, old_username: str, old_name: str) -> None:
    hooks.claims_changed({user.pk: changed_names(user, old_username, old_name)})


def _new_account_problems(username: str, email: str, password: str, like: User) -> dict[str, Any]:
    problems: dict[str, Any] = {}
    try:
        username_validator(username)
        validate_available(username)
    except ValidationError as error:
        problems["username"] = error
    try:
        validate_email(email)
        mail.check_spelling(email)
        if is_email_taken(email):
            raise ValidationError("This email address is already in use.")
    except ValidationError as error:
        problems["email"] = error
    try:
        passwords.check(password, like)
    except ValidationError as error:
        problems["password"] = error
    return problems
