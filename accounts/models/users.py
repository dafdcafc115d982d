"""Users, the counter that numbers them, their linked accounts and their requests to be deleted."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.core.validators import RegexValidator
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Upper
from django.utils import timezone

from accounts import hooks
from accounts.models.names import MAX_NAME_LENGTH, NAME_PATTERN, NAME_RULE, Name
from accounts.plans import PREMIUM_PLANS, Plan
from infrastructure.databases.folding import FoldedField
from infrastructure.text_rules import validate_line

username_validator = RegexValidator(NAME_PATTERN, f"Use {NAME_RULE} (A-Z, a-z, 0-9, . _ -).")


def new_id() -> str:
    """Return 32 lower-case hexadecimal characters."""
    return uuid.uuid4().hex


class UidCounter(models.Model):
    """One row: the uid that the next user gets. Its row lock makes concurrent sign-ups wait for each other."""

    THE_ROW = 1

    next_uid = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.next_uid)

    @classmethod
    def take(cls) -> int:
        """Return the next uid. Call it inside the transaction that inserts the user: a rollback gives the uid back."""
        row = cls.objects.filter(pk=cls.THE_ROW)
        if not row.update(next_uid=F("next_uid") + 1):
            try:
                with transaction.atomic():
                    cls.objects.create(pk=cls.THE_ROW)
            except IntegrityError:  # another process made the first row just now
                pass
            row.update(next_uid=F("next_uid") + 1)
        return int(row.values_list("next_uid", flat=True).get()) - 1


class UserQuerySet(models.QuerySet["User"]):
    def by_username(self, username: str) -> UserQuerySet:
        """Return users of this name, in any case, by the index of the unique constraint on both databases."""
        return self.filter(username__upper=username.upper())


class UserManager(BaseUserManager["User"]):
    def get_queryset(self) -> UserQuerySet:
        return UserQuerySet(self.model, using=self._db)

    def by_username(self, username: str) -> UserQuerySet:
        return self.get_queryset().by_username(username)

    def get_by_natural_key(self, username: str | None) -> User:
        return self.by_username(username or "").get()

    def create_user(self, username: str, email: str = "", password: str | None = None, **fields: Any) -> User:
        """Create a user with a hashed password; without one, no password can sign in."""
        user = self.model(username=username, email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, email: str = "", password: str | None = None, **fields: Any) -> User:
        return self.create_staff(username, email, password, is_superuser=True, **fields)

    def create_staff(self, username: str, email: str = "", password: str | None = None, **fields: Any) -> User:
        return self.create_user(
            username, email, password, is_staff=True, second_factor_grace_from=timezone.now(), **fields
        )


class User(AbstractBaseUser, PermissionsMixin):  # type: ignore[django-manager-missing]  # untyped models of the toolkit
    """A person. `uid` 0 is a real user: never test a uid for truthiness.

    Trap: change `username` by `save()`, never by `update()`; `save()` moves the row of the namespace along.
    Triggers of the database raise `public_version` whenever a name, the plan, a flag that lookups show, or a linked
    account changes for any reason: what was rendered from another version is out of date.
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    uid = models.BigIntegerField(unique=True, editable=False)
    username = models.CharField(max_length=MAX_NAME_LENGTH, validators=[username_validator])
    display_name = models.CharField(max_length=64, blank=True, validators=[validate_line])
    display_name_folded = FoldedField(of="display_name", max_length=64)
    email = models.EmailField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    plan = models.CharField(max_length=16, choices=Plan.choices, default=Plan.FREE)
    plan_expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: the plan does not end.")
    is_verified = models.BooleanField(default=False)
    public_api_access = models.BooleanField(default=True, help_text="Off: lookups answer that the profile is private.")
    is_inactive = models.BooleanField(
        default=False, db_default=False, help_text="Shown by lookups: has not signed in for a year."
    )
    public_version = models.BigIntegerField(
        default=0, db_default=0, editable=False, help_text="Counts the changes of what others see of the account."
    )
    unlocked_scopes = models.JSONField(default=list, blank=True, editable=False)

    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True, editable=False)
    banned_at = models.DateTimeField(null=True, blank=True, editable=False)
    second_factor_grace_from = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of staff: from when the days without a second factor count. Empty: there are none.",
    )
    renamed_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the person chose another username last."
    )
    hidden_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When staff hid the profile: it is private until staff show it again. Empty: they did not.",
    )
    mails_new_browsers = models.BooleanField(
        default=True, db_default=True, editable=False, help_text="An email tells of a sign-in from a new browser."
    )
    browser_generation = models.IntegerField(
        default=0, db_default=0, editable=False, help_text="Is raised when every browser shall count as new again."
    )

    objects = UserManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["email"]

    class Meta:
        permissions = [
            ("ban_user", "Can ban a user and lift a ban"),
            ("reset_password_user", "Can reset a user's password"),
            ("reset_second_factor_user", "Can remove a user's second factor"),
            ("unlock_scopes_user", "Can unlock and relock scopes for a user"),
            ("warn_user", "Can warn a user"),
            ("hide_user", "Can hide a user's profile and show it again"),
        ]
        indexes = [
            models.Index(
                fields=["display_name_folded"],
                condition=Q(display_name_folded__gt=""),
                opclasses=["varchar_pattern_ops"],
                name="user_display_name_folded",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                Upper("username"), name="user_unique_username", violation_error_message="This name is already taken."
            ),
            models.CheckConstraint(condition=Q(username__regex=NAME_PATTERN), name="user_username_characters"),
            models.CheckConstraint(condition=Q(uid__gte=0), name="user_uid_not_negative"),
            models.CheckConstraint(condition=Q(plan__in=Plan.values), name="user_plan_is_known"),
            models.CheckConstraint(
                condition=Q(banned_at__isnull=True) | Q(is_active=False), name="user_banned_is_not_active"
            ),
        ]

    def __str__(self) -> str:
        return self.username

    def save(self, **options: Any) -> None:
        """Number a new user, keep its row of the namespace, and call the receivers of `user_created`.

        Sign-up, admin, commands and factories all save here.
        """
        changed, is_new = options.get("update_fields"), self._state.adding
        with transaction.atomic(using=options.get("using")):
            if is_new:
                self.uid = UidCounter.take()
            super().save(**options)
            if changed is None or "username" in changed:
                Name.objects.claim_username(self)
            if is_new:
                hooks.call("user_created", self)

    @property
    def is_banned(self) -> bool:
        return self.banned_at is not None

    @property
    def is_hidden(self) -> bool:
        """Return whether staff have hidden the profile."""
        return self.hidden_at is not None

    def current_plan(self, now: datetime) -> Plan:
        """Return the plan in force at `now`: an expired one is the free plan."""
        if self.plan_expires_at is not None and self.plan_expires_at <= now:
            return Plan.FREE
        return Plan(self.plan)

    def is_premium(self, now: datetime) -> bool:
        return self.current_plan(now) in PREMIUM_PLANS

    def is_imagehost(self, now: datetime) -> bool:
        return self.current_plan(now) is Plan.IMAGEHOST

    def get_full_name(self) -> str:
        return self.display_name or self.username

    def get_short_name(self) -> str:
        return self.username


class LinkedAccount(models.Model):
    """At most one of each kind for a user, and each outside account belongs to one user."""

    class Kind(models.TextChoices):
        CHAT = "CHAT", "Chat platform"
        SCROBBLER = "SCROBBLER", "Music scrobbler"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="linked_accounts")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    external_id = models.CharField(max_length=64, help_text="The account's id there, as a string.")
    name = models.CharField(max_length=128, help_text="The account's name there.")
    avatar_url = models.URLField(
        max_length=500, blank=True, default="", db_default="", help_text="The account's picture there, when last seen."
    )
    linked_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="linked_account_one_of_a_kind"),
            models.UniqueConstraint(fields=["kind", "external_id"], name="linked_account_belongs_to_one_user"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["CHAT", "SCROBBLER"]), name="linked_account_kind_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.name}"


class AccountDeletion(models.Model):
    """One row while a deletion waits for its day; keeping the account deletes the row."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="deletion"
    )
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(due_at__gt=F("asked_at")), name="account_deletion_has_days_of_grace")
        ]

    def __str__(self) -> str:
        return f"Deletion of {self.user}"
