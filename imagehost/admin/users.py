"""What the image host adds to a user's page: how much is stored."""

from __future__ import annotations

from accounts.admin.staff_actions import ReadOnlyInline
from accounts.admin.users import UserAdmin
from imagehost.models import Usage


class UsageInline(ReadOnlyInline):
    model = Usage
    verbose_name_plural = "Image host"
    fields = readonly_fields = ("used_bytes",)
    ordering = ("pk",)
    show_change_link = True


UserAdmin.inlines.append(UsageInline)
