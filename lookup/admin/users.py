"""What profiles add to a user's page: the profiles, and the counters."""

from __future__ import annotations

from accounts.admin.staff_actions import ReadOnlyInline
from accounts.admin.users import UserAdmin
from lookup.models import Profile, UserDocument


class ProfileInline(ReadOnlyInline):
    model = Profile
    fields = readonly_fields = ("name", "is_main", "display_name", "updated_at")
    ordering = ("-is_main", "pk")
    show_change_link = True


class UserDocumentInline(ReadOnlyInline):
    model = UserDocument
    verbose_name_plural = "Counters"
    fields = readonly_fields = ("views", "likes", "dislikes", "comments", "badge_count")


UserAdmin.inlines += [ProfileInline, UserDocumentInline]
