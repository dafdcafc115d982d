"""Admin of votes, comments, likes and reports. Counters are updated in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from accounts import users
from accounts.admin.audited_admin import AuditedAdmin
from accounts.admin.staff_actions import OperationsAdmin, columns, staff_of
from lookup.documents import counters
from lookup.models import Comment, CommentLike, Decision, FeedbackVote, Report
from lookup.social import cases, comments, feedback
from lookup.staff_actions import REPORT_ACTIONS


class SocialForm(forms.ModelForm[Any]):
    """Rows written by the user in the field `speaker`, who must not be banned."""

    speaker = "user"

    def clean(self) -> dict[str, Any]:
        super().clean()
        speaker = self.cleaned_data.get(self.speaker)
        if speaker is not None and not speaker.is_active:
            self.add_error(self.speaker, "This account is banned.")
        return self.cleaned_data


class FeedbackVoteForm(SocialForm):
    speaker = "voter"

    def clean(self) -> dict[str, Any]:
        super().clean()
        voter = self.cleaned_data.get("voter")
        if voter is not None and voter == self.cleaned_data.get("user"):
            self.add_error("voter", "Users cannot vote on their own profile.")
        return self.cleaned_data


@admin.register(FeedbackVote)
class FeedbackVoteAdmin(AuditedAdmin):
    owners = ("user", "voter")
    form = FeedbackVoteForm
    related = ("user", "voter")
    list_display = ("__str__", "user", "voter", "created_at")
    list_filter = ("is_like",)
    search_fields = ("=user__username", "=voter__username")
    ordering = ("-created_at", "-pk")
    autocomplete_fields = ("user", "voter")
    fields = ("user", "voter", "is_like", "created_at")
    fixed = ("user", "voter")
    readonly_fields = ("created_at",)

    def write(self, request: HttpRequest, obj: FeedbackVote, form: Any, *, change: bool) -> None:
        if not change:
            feedback.lock_people(user_id=obj.user_id, by=obj.voter)
        super().write(request, obj, form, change=change)

    def refresh(self, rows: Sequence[FeedbackVote]) -> None:
        counters.recount({row.user_id for row in rows})


class CommentForm(SocialForm):
    speaker = "author"

    def clean(self) -> dict[str, Any]:
        super().clean()
        data = self.cleaned_data
        parent, user = data.get("parent"), data.get("user")
        if parent is not None and user is not None and (parent.parent_id is not None or parent.user_id != user.pk):
            self.add_error("parent", "Reply to a comment on this profile.")
        if data.get("is_pinned") and (parent is not None or self.instance.parent_id is not None):
            self.add_error("is_pinned", "A reply cannot be pinned.")
        return data


@admin.register(Comment)
class CommentAdmin(AuditedAdmin):
    owners = ("user", "author")
    form = CommentForm
    related = ("user", "author", "parent")
    list_display = ("__str__", "user", "author", "is_pinned", "like_count", "reply_count", "created_at")
    list_filter = ("is_pinned", ("parent", admin.EmptyFieldListFilter))
    search_fields = ("=id", "=user__username", "=author__username")
    ordering = ("-created_at", "pk")
    autocomplete_fields = ("user", "author", "parent")
    fixed = ("user", "author", "parent", "like_count", "reply_count", "created_at")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        written = ("content", "is_pinned")
        return (*self.fixed, *written) if obj is not None else ("user", "author", "parent", *written)

    def write(self, request: HttpRequest, obj: Comment, form: Any, *, change: bool) -> None:
        if change:
            obj.save(update_fields=["content"])
        else:
            made = comments.write(user=obj.user, content=obj.content, parent=obj.parent, by=obj.author, by_staff=True)
            vars(obj).update(vars(made))
        if "is_pinned" in form.changed_data:
            comments.pin(comment=obj, is_pinned=form.cleaned_data["is_pinned"], by=staff_of(request), by_staff=True)

    def erase(self, request: HttpRequest, rows: Sequence[Comment]) -> None:
        """Lock comments, then replies, before any counter. A reply may be deleted with its comment."""
        ids = {pk for row in rows for pk in (row.pk, row.parent_id) if pk}
        for is_reply in (False, True):
            some = Comment.objects.select_for_update().filter(pk__in=ids, parent__isnull=not is_reply)
            list(some.order_by("pk").values_list("pk"))
        for row in sorted(rows, key=lambda row: row.user_id):
            comment = Comment.objects.filter(pk=row.pk).first()
            if comment is not None:
                comments.delete(comment=comment, by=staff_of(request), by_staff=True)


@admin.register(CommentLike)
class CommentLikeAdmin(AuditedAdmin):
    owners = ("comment.user", "user")
    form = SocialForm
    related = ("comment__user", "user")
    list_display = ("comment", "user", "created_at")
    search_fields = ("=comment__id", "=user__username")
    ordering = ("-created_at", "-pk")
    autocomplete_fields = ("comment", "user")
    fields = ("comment", "user", "created_at")
    readonly_fields = ("created_at",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: a like has no field to change."""
        return obj is None and super().has_change_permission(request, obj)

    def write(self, request: HttpRequest, obj: CommentLike, form: Any, *, change: bool) -> None:
        comments.like(comment=obj.comment, by=obj.user, by_staff=True)
        vars(obj).update(vars(CommentLike.objects.get(comment=obj.comment, user=obj.user)))

    def erase(self, request: HttpRequest, rows: Sequence[CommentLike]) -> None:
        """Lock the comments first, in the order in which a like locks them."""
        likes = CommentLike.objects.filter(pk__in=[row.pk for row in rows])
        list(Comment.objects.select_for_update(no_key=True).filter(pk__in=likes.values("comment")).order_by("pk"))
        likes.delete()

    def refresh(self, rows: Sequence[CommentLike]) -> None:
        counters.recount_comments({row.comment_id for row in rows})


class ReportState(admin.SimpleListFilter):
    """Filter by state; without a choice, open reports."""

    title = parameter_name = "state"
    OPEN, DECIDED, ALL = "open", "decided", "all"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(self.OPEN, "Open"), (self.DECIDED, "Decided"), (self.ALL, "All")]

    def value(self) -> str:
        return super().value() or self.OPEN

    def choices(self, changelist: Any) -> Any:
        """Return only the choices of `lookups`; Django would add "All" without a value."""
        return list(super().choices(changelist))[1:]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> QuerySet[Report]:
        if self.value() == self.ALL:
            return queryset
        return queryset.filter(decided_at__isnull=self.value() != self.DECIDED)


@admin.register(Report)
class ReportAdmin(OperationsAdmin):
    """The oldest open report first."""

    owners = ("user", "author")
    list_display = ("created_at", "reason", "kind", "excerpt", "page", "author", "reporter", "outcome")
    list_filter = (ReportState, "kind", "reason")
    list_select_related = ("user", "author", "reporter", "decided_by", "comment")
    search_fields = ("=user__username", "=author__username", "=reporter__username")
    ordering = (F("decided_at").desc(nulls_first=True), "created_at", "pk")
    fields = readonly_fields = (
        *("reason", "text", "kind", "title", "page", "user", "comment_text", "comment", "author", "reporter"),
        *("created_at", "decided_at", "decided_by", "outcome"),
    )
    staff_actions = REPORT_ACTIONS

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        """Hide reports about the staff member from them, since a report names its sender; superusers see all."""
        rows: QuerySet[Report] = super().get_queryset(request)
        return rows & cases.seen_by(staff_of(request))

    @admin.display(description="What was reported")
    def excerpt(self, report: Report) -> str:
        return report.title or report.comment_text[:80] or "The profile"

    @admin.display(description="Page", ordering="name")
    def page(self, report: Report) -> str:
        """Return a link to the page as reported. Its name may have another user since; `user` is the reported one."""
        path = report.path or reverse("profile_page", args=[report.name])
        return format_html('<a href="{0}">{0}</a>', path)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Add a link to ban the comment's author or, where a profile was reported, its owner."""
        response = super().render_change_form(request, context, *args, **kwargs)
        report = kwargs.get("obj")
        if report is not None and staff_of(request).has_perm("accounts.ban_user"):
            accused = report.author or report.user
            if not accused.is_banned and users.has_authority(users.check_staff_action, [accused], staff_of(request)):
                url = f"{reverse('admin:accounts_user_act', args=['ban'])}?id={accused.pk}"
                response.context_data["staff_actions"].append({"label": f"Ban {accused.username}", "url": url})
        return response


class AppealState(ReportState):
    """Filter by state; without a choice, appeals that wait."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == self.ALL:
            return queryset
        waiting = Q(appealed_at__isnull=False, answered_at=None)
        return queryset.filter(waiting if self.value() == self.OPEN else Q(answered_at__isnull=False))

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(self.OPEN, "Appeal waits"), (self.DECIDED, "Appeal answered"), (self.ALL, "All")]


@admin.register(Decision)
class DecisionAdmin(OperationsAdmin):
    """What staff have hidden from visitors, the appeal that has waited longest first. Apps above set the actions."""

    owners = ("user",)
    list_display = ("decided_at", "reason", "kind", "title", "user", "decided_by", "lifted_at", "appealed_at")
    list_filter = (AppealState, "kind", "reason")
    list_select_related = ("user", "decided_by", "answered_by")
    search_fields = ("=user__username", "=thing")
    ordering = (F("appealed_at").asc(nulls_last=True), "-decided_at", "pk")
    fields = readonly_fields = columns(Decision)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        """Hide decisions about the staff member from them; superusers see all."""
        rows: QuerySet[Decision] = super().get_queryset(request)
        staff = staff_of(request)
        return rows if staff.is_superuser else rows.exclude(user=staff)
