"""Folders, and the rules that send uploads into them."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from accounts.models.users import new_id
from imagehost import names

MAX_NAME_LENGTH = MAX_PASSWORD_LENGTH = names.MAX_LENGTH
MAX_PATTERN_LENGTH = 100


class FolderQuerySet(models.QuerySet["Folder"]):
    def published(self) -> FolderQuerySet:
        """Those with a page for everybody. A banned owner's have none."""
        return self.filter(is_public=True, owner__is_active=True)


class Folder(models.Model):
    """A folder of one user. There are no folders in folders; what is in none is in the root."""

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imagehost_folders")
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    is_public = models.BooleanField(default=False, help_text="Has a page that everybody can open.")
    password_hash = models.CharField(max_length=128, blank=True, editable=False)
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
    def is_password_enabled(self) -> bool:
        return bool(self.password_hash)


class MatchKind(models.TextChoices):
    """What of a file a rule looks at."""

    MIME = "mime", "Type"
    EXTENSION = "extension", "Extension"
    FILENAME = "filename", "File name"


class FolderRule(models.Model):
    """Uploads whose detected type, stored extension or original name match go into the folder; the first rule wins."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folder_rules")
    folder = models.ForeignKey(Folder, on_delete=models.CASCADE, related_name="rules")
    position = models.PositiveIntegerField(help_text="Rules are tried from the lowest to the highest.")
    kind = models.CharField(max_length=10, choices=MatchKind.choices)
    pattern = models.CharField(
        max_length=MAX_PATTERN_LENGTH,
        help_text="image/png or image/*, an extension such as gif, or a file name with * and ?.",
    )

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
            raise ValidationError({"folder": "This folder belongs to somebody else."})
