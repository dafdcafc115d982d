"""Uploaded files that profiles show."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.users import new_id
from accounts.text_rules import validate_line

# A path under the upload CDN: segments that no URL has to escape, none of them "." or "..".
PATH_PATTERN = r"\A(?!.*(?:^|/)\.{1,2}(?:/|\Z))[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*\Z"


class Asset(models.Model):
    """A file on the upload CDN. `width` and `height` in pixels, `duration` in seconds; None where it has none.

    `size` in bytes where the file is kept in our own store, at the key `lookup.uploads.key_of`; None: somebody else
    keeps it. `unused_since`: when the job first found that nothing shows it.
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assets")
    path = models.CharField(
        max_length=400,
        validators=[RegexValidator(PATH_PATTERN, "Use a relative path of letters, digits and . _ ~ - /")],
        help_text="Under UPLOAD_CDN_URL, without a leading slash.",
    )
    mime = models.CharField(max_length=100, validators=[validate_line])
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    duration = models.FloatField(null=True, blank=True, help_text="Seconds.")
    size = models.PositiveBigIntegerField(null=True, blank=True, editable=False)
    unused_since = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["path"], condition=Q(size__isnull=False), name="asset_kept_path_is_unique"),
            models.CheckConstraint(
                condition=Q(duration__isnull=True) | Q(duration__gte=0), name="asset_duration_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.path
