"""Files, folders, folder rules, and the storage that each user uses."""

from __future__ import annotations

import re
import uuid
from datetime import datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now, Upper
from django.utils import timezone

from accounts.models import User
from accounts.models.users import new_id
from imagehost import media, names
from infrastructure import text_rules
from infrastructure.databases.folding import FoldedField

MAX_NAME_LENGTH = MAX_PASSWORD_LENGTH = names.MAX_LENGTH
MAX_TITLE_LENGTH = 80  # characters, of an album
MAX_PATTERN_LENGTH = 100
FILES, PREVIEWS, QUARANTINE = "files/", "previews/", "quarantine/"  # prefixes of keys
NAME_LENGTH = 8  # of 62 characters: 47 random bits
NAME = re.compile(r"[A-Za-z0-9]{8}", re.ASCII)
MAX_ORIGINAL_LENGTH = 255
MAX_CAPTION_LENGTH = 300
KEY_LENGTH = 1024  # the longest key in S3


class Usage(models.Model):
    """The sum of the sizes of a user's PENDING and READY files; one row from the first upload on.

    Changed only by conditional UPDATEs (`imagehost.storing.quotas`), in the transaction that changes the files.
    """

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="imagehost_usage"
    )
    used_bytes = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "usage"
        constraints = [
            models.CheckConstraint(condition=Q(used_bytes__gte=0), name="imagehost_usage_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.used_bytes} bytes"


class FolderQuerySet(models.QuerySet["Folder"]):
    def published(self) -> FolderQuerySet:
        """Return folders with a public page: their owners are not banned, and staff have not taken them down."""
        return self.filter(is_public=True, owner__is_active=True, quarantined_at=None)


class Folder(models.Model):
    """A folder of one user. Folders are not nested; a file without a folder is in the root."""

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imagehost_folders")
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    is_public = models.BooleanField(default=False, help_text="Has a page that everybody can open.")
    password_hash = models.CharField(max_length=128, blank=True, editable=False)
    quarantined_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = FolderQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="imagehost_folder_unique_name",
                violation_error_message="There is a folder of this name already.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="imagehost_folder_has_a_name"),
            models.CheckConstraint(
                condition=Q(password_hash="") | Q(is_public=True),
                name="imagehost_folder_password_is_for_public_ones",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def url(self) -> str:
        """Return the URL of its page."""
        return f"{settings.BASE_URL}/folders/{self.pk}"

    @property
    def is_password_enabled(self) -> bool:
        return bool(self.password_hash)


class MatchKind(models.TextChoices):
    """The property of a file that a rule matches."""

    MIME = "mime", "Type"
    EXTENSION = "extension", "Extension"
    FILENAME = "filename", "File name"


class FolderRuleQuerySet(models.QuerySet["FolderRule"]):
    def of(self, owner_id: str) -> FolderRuleQuerySet:
        """Return the owner's rules in their order, with their folders."""
        return self.filter(owner_id=owner_id).select_related("folder").order_by("position", "pk")


class FolderRule(models.Model):
    """Routes uploads by detected type, stored extension or original name into a folder; the first match wins."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folder_rules")
    folder = models.ForeignKey(Folder, on_delete=models.CASCADE, related_name="rules")
    position = models.PositiveIntegerField(help_text="Rules are tried from the lowest to the highest.")
    kind = models.CharField(max_length=10, choices=MatchKind.choices)
    pattern = models.CharField(
        max_length=MAX_PATTERN_LENGTH,
        help_text="image/png or image/*, an extension such as gif, or a file name with * and ?.",
    )

    objects = FolderRuleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "position"], name="imagehost_rule_unique_position"),
            models.CheckConstraint(condition=Q(kind__in=MatchKind.values), name="imagehost_rule_kind_is_known"),
            models.CheckConstraint(condition=~Q(pattern=""), name="imagehost_rule_has_a_pattern"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pattern}"

    def clean(self) -> None:
        owner = User.objects.filter(pk=self.owner_id).first()
        if owner is not None and self.folder_id and not owner.imagehost_folders.filter(pk=self.folder_id).exists():
            raise ValidationError({"folder": "This folder belongs to another user."})

    def matches(self, file: File) -> bool:
        """Return whether the pattern matches the whole value of the file, ignoring case."""
        values = {"mime": file.mime, "extension": file.extension, "filename": file.original_name}
        return names.is_like(values[self.kind], names.stored_pattern(self.kind, self.pattern))


class State(models.TextChoices):
    """PENDING: booked, being written. READY: stored. DELETED: no longer booked; the object is not removed yet."""

    PENDING = "PENDING", "Pending"
    READY = "READY", "Ready"
    DELETED = "DELETED", "Deleted"


class PreviewState(models.TextChoices):
    """WAITING: in the queue. MADE: it exists. FAILED: the file has no preview."""

    WAITING = "WAITING", "Waiting"
    MADE = "MADE", "Made"
    FAILED = "FAILED", "Failed"


def unexpired(now: datetime, path: str = "") -> Q:
    """Return the condition of files that exist at `now`. `path`: of the relation to them, with its underscores."""
    return Q(**{f"{path}expires_at__isnull": True}) | Q(**{f"{path}expires_at__gt": now})


class FileQuerySet(models.QuerySet["File"]):
    def ready(self) -> FileQuerySet:
        return self.filter(state=State.READY)

    def kept(self) -> FileQuerySet:
        """Return stored files that have not expired, which their owner sees."""
        return self.ready().filter(unexpired(timezone.now()))

    def expired(self, since: datetime) -> FileQuerySet:
        """Return stored files that expired at `since` or before."""
        return self.ready().filter(expires_at__lte=since)

    def delivered(self) -> FileQuerySet:
        """Return files that are served to the public."""
        return self.kept().filter(quarantined_at__isnull=True, moves_from="")

    def moving(self) -> FileQuerySet:
        """Return files whose object moves from one key to another."""
        return self.exclude(moves_from="")

    def booked(self) -> FileQuerySet:
        """Return files whose bytes count in their owner's usage."""
        return self.exclude(state=State.DELETED)

    def by_name(self, name: str) -> FileQuerySet:
        """Return at most one file, by exact name and the index of upper-case names. No query for an invalid name."""
        if not NAME.fullmatch(name):
            return self.none()
        return self.filter(name__upper=name.upper(), name=name)

    def newest_first(self) -> FileQuerySet:
        return self.order_by("-uploaded_at", "-id")


class File(models.Model):
    """An upload. `size`: bytes as stored, after private metadata was removed. `width`, `height`: pixels, as shown."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,  # the row stays until its object is removed
        null=True,
        related_name="files",
        db_index=False,  # the index of the gallery begins with it
    )
    folder = models.ForeignKey(
        Folder, on_delete=models.SET_NULL, null=True, blank=True, related_name="files", db_index=False
    )
    name = models.CharField(max_length=NAME_LENGTH, editable=False)
    extension = models.CharField(max_length=4, editable=False)
    mime = models.CharField(max_length=16, editable=False)
    key = models.CharField(max_length=100, editable=False, help_text="Of the object in the storage.")
    moves_from = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The object's key before; empty as soon as the object is at its key.",
    )
    size = models.BigIntegerField(editable=False)
    width = models.PositiveIntegerField(editable=False)
    height = models.PositiveIntegerField(editable=False)
    duration_ms = models.PositiveBigIntegerField(null=True, editable=False)
    frames = models.PositiveIntegerField(null=True, editable=False)
    original_name = models.CharField(max_length=MAX_ORIGINAL_LENGTH, editable=False)
    original_name_folded = FoldedField(of="original_name", max_length=1000)
    caption = models.CharField(
        max_length=MAX_CAPTION_LENGTH,
        blank=True,
        default="",
        db_default="",
        validators=[text_rules.validate_line],
        help_text="Shown with the file on pages, and in place of its picture.",
    )
    is_favorite = models.BooleanField(default=False)

    state = models.CharField(max_length=8, choices=State.choices, default=State.PENDING, editable=False)
    uploaded_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)
    quarantined_at = models.DateTimeField(null=True, editable=False)
    expires_at = models.DateTimeField(
        null=True, editable=False, help_text="From then on the file counts as deleted; empty: it does not expire."
    )
    deletion_hash = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the deletion link's token.")

    preview_state = models.CharField(
        max_length=8, choices=PreviewState.choices, default=PreviewState.WAITING, editable=False
    )
    preview_width = models.PositiveIntegerField(null=True, editable=False)
    preview_height = models.PositiveIntegerField(null=True, editable=False)
    preview_attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    preview_due_at = models.DateTimeField(
        default=timezone.now,
        db_default=Now(),
        editable=False,
        help_text="When a worker may make the preview; a worker that does keeps the others off until then.",
    )

    objects = FileQuerySet.as_manager()

    class Meta:
        permissions = [("quarantine_file", "Can take a file out of delivery and put it back")]
        indexes = [
            models.Index(fields=["owner", "-uploaded_at", "-id"], name="imagehost_file_gallery"),
            models.Index(fields=["folder", "-uploaded_at", "-id"], name="imagehost_file_in_folder"),
            models.Index(fields=["uploaded_at"], condition=~Q(state="READY"), name="imagehost_file_unfinished"),
            models.Index(fields=["moves_from"], condition=~Q(moves_from=""), name="imagehost_file_moving"),
            models.Index(
                fields=["preview_due_at", "id"],  # sorted, as many files may be due at once
                condition=Q(state="READY", preview_state="WAITING", quarantined_at__isnull=True, moves_from=""),
                name="imagehost_file_preview_next",
            ),
            models.Index(fields=["id"], condition=Q(quarantined_at__isnull=False), name="imagehost_file_quarantined"),
            models.Index(fields=["expires_at"], condition=Q(expires_at__isnull=False), name="imagehost_file_expiring"),
        ]
        constraints = [
            # Upper: some file systems hold only one of `a.png` and `A.png`.
            models.UniqueConstraint(Upper("name"), name="imagehost_file_unique_name"),
            models.UniqueConstraint(fields=["key"], name="imagehost_file_unique_key"),
            models.CheckConstraint(condition=Q(size__gt=0), name="imagehost_file_has_bytes"),
            models.CheckConstraint(condition=Q(width__gt=0, height__gt=0), name="imagehost_file_has_pixels"),
            models.CheckConstraint(
                condition=Q(mime__in=[type_.mime for type_ in media.ALL]), name="imagehost_file_mime_is_known"
            ),
            models.CheckConstraint(condition=Q(state__in=State.values), name="imagehost_file_state_is_known"),
            models.CheckConstraint(
                condition=Q(owner__isnull=False) | Q(state="DELETED"), name="imagehost_file_without_owner_is_deleted"
            ),
            models.CheckConstraint(
                condition=Q(preview_state="MADE", preview_width__gt=0, preview_height__gt=0) | ~Q(preview_state="MADE"),
                name="imagehost_file_preview_has_a_size",
            ),
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def file_name(self) -> str:
        """The name with its extension, as in the URL."""
        return f"{self.name}.{self.extension}"

    @property
    def url(self) -> str:
        """Return the URL of the file itself."""
        return f"{settings.IMAGE_CDN_URL}/{self.file_name}"

    @property
    def page_url(self) -> str:
        """Return the URL of the page that shows the file."""
        return f"{settings.BASE_URL}/files/{self.name}"

    @property
    def preview_url(self) -> str:
        """Return the URL of the preview, once there is one."""
        return f"{self.page_url}/preview.webp"

    @property
    def card_url(self) -> str:
        """Return the URL of the preview as a PNG, for messengers that show no WebP."""
        return f"{self.page_url}/preview.png"

    def deletion_url(self, token: str) -> str:
        """Return the URL of the page that deletes the file without a session."""
        return f"{self.page_url}/delete/{token}"

    @property
    def download_name(self) -> str:
        """The name for saving the file: its original name, made safe, with the extension of its type."""
        return next(names.unpacked([(self.original_name, self.name, self.extension)]))

    @property
    def media_type(self) -> media.MediaType:
        return media.BY_MIME[self.mime]

    @property
    def is_delivered(self) -> bool:
        """Return whether the file is served to the public, as `FileQuerySet.delivered` has it."""
        is_kept = self.state == State.READY and (self.expires_at is None or self.expires_at > timezone.now())
        return is_kept and self.quarantined_at is None and not self.moves_from

    def seconds_left(self, now: datetime, *, most: int) -> int:
        """Return for how many seconds the file may be cached: at most `most`, and not beyond its expiry."""
        if self.expires_at is None:
            return most
        return max(0, min(most, int((self.expires_at - now).total_seconds())))

    @property
    def preview_key(self) -> str:
        return preview_keys_of(self.key)[0]

    @property
    def card_key(self) -> str:
        """Return the key of the preview as a PNG."""
        return preview_keys_of(self.key)[1]

    @property
    def object_keys(self) -> list[str]:
        """Return all keys that may have an object: of the file and its preview."""
        keys = [self.moves_from, self.key] if self.moves_from else [self.key]
        return [*keys, *(preview for key in keys for preview in preview_keys_of(key))]


class FileDay(models.Model):
    """Views of a file's page and downloads of the file on a day (UTC).

    The database does not check the file: a release that does not know this table deletes files too. The end of a
    deletion (`imagehost.storing.files.finish_deletion`) deletes its days; CASCADE would look for them first.
    """

    file = models.ForeignKey(
        File, on_delete=models.DO_NOTHING, related_name="days", db_constraint=False, db_index=False
    )  # the index of the constraint begins with it
    day = models.DateField(db_index=True)
    views = models.PositiveIntegerField(default=0)
    downloads = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "day"], name="imagehost_file_day_is_unique")]

    def __str__(self) -> str:
        return str(self.day)


class PreviewTurn(models.Model):
    """When the next preview of a user may be made (`imagehost.storing.previews`); one row from the first file on.

    `busy_until`: one is being made until then. `spent_until`: the processor time of earlier ones and of examinations of
    uploads, paid off by waiting (`imagehost.storing.turns`).
    """

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="preview_turn",
        db_constraint=False,  # a release that does not know this table deletes users too
    )
    busy_until = models.DateTimeField()
    spent_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.spent_until}"


class Album(models.Model):
    """Files of one user in an order, shared by a link. `link`: of its public page, replaced when it is reset.

    `file_ids`: hexadecimal ids. A table of places would make each deletion of a file look there, for rows that reading
    an album passes over as well (`imagehost.folders.albums`).
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="imagehost_albums",
        db_constraint=False,  # a release that does not know this table deletes users too
    )
    title = models.CharField(max_length=MAX_TITLE_LENGTH)
    link = models.CharField(max_length=32, unique=True, default=new_id, editable=False)
    file_ids = models.JSONField(default=list, editable=False)
    quarantined_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(title=""), name="imagehost_album_has_a_title")]

    def __str__(self) -> str:
        return self.title

    @property
    def url(self) -> str:
        """Return the URL of its public page."""
        return f"{settings.BASE_URL}/files/albums/{self.link}"

    def ids(self) -> list[uuid.UUID]:
        return [uuid.UUID(file_id) for file_id in self.file_ids]


class Stage(models.TextChoices):
    """The stage of a comparison: files by owner, then quarantined files, then objects to remove."""

    OWNERS = "OWNERS", "Owners"
    QUARANTINE = "QUARANTINE", "Quarantine"
    REMOVAL = "REMOVAL", "Removal"


class Reconciliation(models.Model):
    """The progress of `reconcile_files`: one row until all runs of a comparison are done.

    `done_until`: the last owner whose files are compared. `parts`: the number of finished parts, which detects a second
    run. `found`: `imagehost.storing.reconciliation.Comparison`.
    """

    THE_ROW = 1

    started_at = models.DateTimeField()
    is_after_restore = models.BooleanField(default=False)
    stage = models.CharField(max_length=10, choices=Stage.choices, default=Stage.OWNERS)
    done_until = models.CharField(max_length=32, blank=True)
    parts = models.PositiveIntegerField(default=0)
    found = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.get_stage_display()} {self.done_until}"


class StrayObject(models.Model):
    """The key of an object without a file, until the comparison that found it ends."""

    key = models.CharField(max_length=KEY_LENGTH, primary_key=True)

    def __str__(self) -> str:
        return self.key


def preview_keys_of(key: str) -> tuple[str, str]:
    """Return the keys of the preview of a file: as WebP and as PNG. All end in the file's name and a type."""
    stem = f"{PREVIEWS}{key.removeprefix(FILES).rpartition('.')[0]}"
    return f"{stem}.webp", f"{stem}.png"
