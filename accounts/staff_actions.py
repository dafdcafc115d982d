"""Actions of staff on users and API keys. Apps above declare theirs; the admin and the staff pages render them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model
from django.utils import timezone

from accounts import bans, notices, users
from accounts.api_keys import keys
from accounts.models import ApiKey, Permission, User
from accounts.models.notices import MAX_NOTICE
from accounts.webhooks import endpoints


@dataclass(frozen=True)
class ConfirmationPage:
    """The words of a staff page that asks before an action on one row.

    `slug`: the last part of its path. In `title`, `done` and `label`, `{}` stands for the name of the row and
    `{option}` for a chosen option. `effects(row, **options)`: sentences of what will happen.
    `refusal(row, **options)`: why it cannot be done now, or the empty text. `hint`: who reads the reason.
    `presets`: reasons to choose from. `label`: of the button, where it differs from the action's. `most`: characters of
    the reason.
    """

    slug: str
    title: str
    done: str
    effects: Callable[..., list[str]]
    refusal: Callable[..., str]
    is_harmless: bool = False
    hint: str = "Kept in the audit trail."
    presets: tuple[str, ...] = ()
    label: str = ""
    most: int = 2000


@dataclass(frozen=True)
class StaffAction:
    """An operation that staff run on a row with a reason.

    `effect`: one sentence. `permission` is a whole name, such as `accounts.ban_user`. `run(row, by=staff, reason=...,
    **options)` calls the operation and returns a secret to show once, or None. `page`: of the staff pages; without one
    only the admin has the action. `offer`: whether the admin shows the button on the page of a row, where that is not
    what `page` refuses. `options`: further arguments with their choices. `check(owners=..., by=...)` raises
    PermissionDenied where `by` has not the authority to act on rows of these users. `bar(row, by)`: why this member of
    staff may not run it on the row, although `permission` and `check` let them, or the empty text; the operation
    refuses the same.
    """

    name: str
    label: str
    effect: str
    permission: str
    run: Callable[..., str | None]
    page: ConfirmationPage | None = None
    offer: Callable[[Any], bool] | None = None
    options: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    needs_reason: bool = True
    check: Callable[..., None] = users.check_staff_action
    bar: Callable[[Any, User], str] = lambda _row, _by: ""

    def is_offered(self, row: Model) -> bool:
        """Return whether a page of `row` has the button; the operation decides whether the action is allowed."""
        return self.offer(row) if self.offer is not None else not self.refusal(row)

    def refusal(self, row: Model, **options: str) -> str:
        """Return why the staff page cannot run it now, or the empty text."""
        return self.page.refusal(row, **options) if self.page is not None else ""


def through(operation: Callable[..., Any], argument: str) -> Callable[..., str | None]:
    """Return a `run` that passes the row to `operation` as `argument`; a text that it returns is a secret."""

    def run(row: Model, **given: Any) -> str | None:
        answer = operation(**{argument: row, **given})
        return answer if isinstance(answer, str) else None

    return run


def refused_if(condition: Callable[..., bool], sentence: str) -> Callable[..., str]:
    """Return a `refusal` with one sentence, in which `{option}` stands for a chosen option."""
    return lambda row, **options: sentence.format(**options) if condition(row, **options) else ""


READ_BY_OWNER = "The owner reads this by email and on their dashboard. Kept in the audit trail."
_BAN = "accounts.ban_user"
WARN = "accounts.warn_user"
USER_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "warn",
        "Warn",
        "The person reads your words by email and on their dashboard. Nothing else happens.",
        WARN,
        through(notices.warn, "user"),
        ConfirmationPage(
            "warn",
            "Warn {}",
            "{} is warned.",
            lambda _: ["The person reads your words by email and on their dashboard. Nothing else happens."],
            lambda _: "",
            is_harmless=True,
            hint=READ_BY_OWNER,
            presets=(
                "Please do not advertise in comments.",
                "Please do not show private information of other people.",
                "Please treat other people with respect.",
            ),
            most=MAX_NOTICE,
        ),
    ),
    StaffAction(
        "ban",
        "Ban",
        "Ends every session and deletes every token; the user cannot sign in.",
        _BAN,
        through(bans.ban, "user"),
        ConfirmationPage(
            "ban",
            "Ban {}",
            "{} is banned.",
            lambda _: [
                "The person is signed out everywhere and cannot sign in again.",
                "Every token that apps have for them is deleted, and their API keys are refused.",
                "Lookups answer that the user does not exist; leaderboards leave the user out.",
            ],
            refused_if(lambda user: user.is_banned, "This account is banned already."),
            presets=(
                "The account sends spam.",
                "The account pretends to be another person.",
                "The account harasses other people.",
                "Files or texts of the account break the terms.",
                "The account has been taken over.",
            ),
        ),
    ),
    StaffAction(
        "lift_ban",
        "Lift the ban",
        "The user can sign in again.",
        _BAN,
        through(bans.lift, "user"),
        ConfirmationPage(
            "lift",
            "Lift the ban of {}",
            "{} can sign in again.",
            lambda _: [
                "The person can sign in again, and their keys and profile answer again. Sessions and tokens stay ended."
            ],
            refused_if(lambda user: not user.is_banned, "This account is not banned."),
            is_harmless=True,
        ),
    ),
    StaffAction(
        "reset_password",
        "Reset the password",
        "Ends every session and shows a new password once.",
        "accounts.reset_password_user",
        through(users.reset_password, "user"),
    ),
    StaffAction(
        "delete",
        "Delete",
        "Deletes the account with its apps, approvals, tokens, keys and linked accounts. It cannot be undone.",
        "accounts.delete_user",
        through(users.delete, "user"),
    ),
)


def _no_grant(key: ApiKey, permission: Permission) -> str:
    if key.is_over(timezone.now()):
        return "This key is revoked or has expired and cannot be used again."
    return f"This key has {permission.value} already." if key.allows(permission) else ""


CHANGE_KEY = "accounts.change_apikey"
KEY_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "enable",
        "Enable",
        "The key works again.",
        CHANGE_KEY,
        through(keys.enable, "key"),
        offer=lambda key: not key.is_enabled and key.revoked_at is None,
    ),
    StaffAction(
        "disable",
        "Disable",
        "The key is refused until staff enable it.",
        CHANGE_KEY,
        through(keys.disable, "key"),
        offer=lambda key: key.revoked_at is None,
    ),
    StaffAction(
        "revoke",
        "Revoke",
        "The key is revoked permanently.",
        "accounts.delete_apikey",
        through(keys.revoke, "key"),
        offer=lambda key: key.revoked_at is None,
    ),
    StaffAction(
        "grant_permission",
        "Grant a permission",
        "The key gets one more permission.",
        CHANGE_KEY,
        through(keys.grant_permission, "key"),
        ConfirmationPage(
            "grant",
            "Grant {permission} to the key {}",
            "The key {} has {permission}.",
            lambda key, permission: [f"The key {key.prefix} of {key.owner} can also call: {permission.label}."],
            _no_grant,
            is_harmless=True,
            label="Grant {permission}",
        ),
        offer=lambda _: True,
        options={"permission": Permission.choices},
    ),
    StaffAction(
        "withdraw_permission",
        "Withdraw a permission",
        "The key loses one of its permissions.",
        CHANGE_KEY,
        through(keys.withdraw_permission, "key"),
        ConfirmationPage(
            "withdraw",
            "Withdraw {permission} from the key {}",
            "The key {} no longer has {permission}.",
            lambda key, permission: [
                f"Calls with the key {key.prefix} of {key.owner} are refused at once: {permission.label}."
            ],
            refused_if(lambda key, permission: not key.allows(permission), "This key does not have {permission}."),
            label="Withdraw {permission}",
        ),
        offer=lambda _: True,
        options={"permission": Permission.choices},
    ),
)
WEBHOOK_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "delete",
        "Delete",
        "It gets no more events, and its deliveries are deleted.",
        "accounts.delete_webhookendpoint",
        through(endpoints.delete, "endpoint"),
        offer=lambda _: True,
    ),
)
