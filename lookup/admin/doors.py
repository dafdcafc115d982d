"""The one door of the admin: rows, what is rendered or counted of them, and the audit trail in one transaction."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect

from accounts import audit, users
from accounts.admin.fields import RowField
from accounts.models import User
from accounts.staff_actions import sentences, staff_of
from lookup import documents, profiles
from lookup.admin.fields import JsonField
from lookup.models import Profile

Owners = Callable[[Any], list[User]]


class DoorAdmin(admin.ModelAdmin[Any]):
    """Any: rows of the model. Subclasses say whose they are, and bring up to date what is kept of them.

    What belongs to staff accounts is for superusers, as everywhere.
    """

    show_full_result_count = False
    related: ClassVar[tuple[str, ...]] = ()  # read along with every row: what lists, owners and names need
    formfield_overrides = {
        models.JSONField: {"form_class": JsonField},
        models.ForeignKey: {"form_class": RowField},
    }

    @abc.abstractmethod
    def owners_of(self, row: Any) -> list[User]:
        """Whose page shows the row, then who else it speaks for. Nobody: it is everybody's."""

    @abc.abstractmethod
    def refresh(self, rows: Sequence[Any]) -> None:
        """Render or count again what is kept of these rows: as they were, as they are, or deleted by now."""

    def lock(self, rows: Sequence[Any]) -> None:
        """Take the locks of what `refresh` writes, before those of the rows: whoever renders goes in that order."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.select_related(*self.related) if self.related else rows

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or self._may(request, self.owners_of, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or self._may(request, self._page_of, obj))

    def _page_of(self, row: Any) -> list[User]:
        """Whose page shows the row: what staff left on somebody's page may be taken away like anybody's."""
        return self.owners_of(row)[:1]

    def _may(self, request: HttpRequest, owners_of: Owners, row: Any) -> bool:
        try:
            self._check_authority(request, owners_of, [row])
        except PermissionDenied:
            return False
        return True

    def _check_authority(self, request: HttpRequest, owners_of: Owners, rows: Iterable[Any]) -> None:
        by = staff_of(request)
        if by.is_superuser:
            return
        for row in rows:
            for owner in owners_of(row):
                users.check_may_act_for(owner=owner, by=by)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_told(request, lambda: super(DoorAdmin, self).changeform_view(request, *args, **kwargs))

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_told(request, lambda: super(DoorAdmin, self).delete_view(request, *args, **kwargs))

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        def answer() -> Any:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.run_validators(self.opts.pk.to_python(key))  # the database may raise at what is no key
            return super(DoorAdmin, self).changelist_view(request, *args, **kwargs)

        return self._or_told(request, answer)

    def _or_told(self, request: HttpRequest, answer: Callable[[], Any]) -> Any:
        """The forms ask the rules; an operation or a table that refuses all the same lost a race. Any: a response."""
        try:
            return answer()
        except ValidationError as refusal:
            told = sentences(refusal)
        except (IntegrityError, ObjectDoesNotExist):
            if request.method != "POST":
                raise
            told = "Somebody else was faster, and nothing was saved. Please look again."
        self.message_user(request, told, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        """Django's views hold the transaction. The row as it was goes to `save_related` in memory."""
        stored = self.model._default_manager.filter(pk=obj.pk)
        self.lock([*stored, obj])
        before = [stored.select_for_update(no_key=True).get()] if change else []
        self._check_authority(request, self.owners_of, [*before, obj])
        vars(obj)["_before"] = before
        self.write(request, obj, form, change=change)

    def write(self, request: HttpRequest, obj: Any, form: Any, *, change: bool) -> None:
        """Save the row itself; of a changed one no more than was changed: clicks and counts may have moved since."""
        if change:
            obj.save(update_fields=[name for name in form.changed_data if name in form._meta.fields])
        else:
            obj.save()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        super().save_related(request, form, formsets, change)
        row = form.instance
        rows = [*vars(row).pop("_before"), row]
        self.refresh(rows)
        changed = [*form.changed_data, *(formset.prefix for formset in formsets if formset.has_changed())]
        self.record(request, "changed" if change else "added", rows, changed=changed)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete_rows(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.delete_rows(request, list(queryset))

    @transaction.atomic
    def delete_rows(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        self.lock(rows)
        rows = list(self.get_queryset(request).filter(pk__in=[row.pk for row in rows]).order_by("pk"))  # those left
        self._check_authority(request, self._page_of, rows)
        self.erase(request, rows)
        self.refresh(rows)
        for row in rows:
            self.record(request, "deleted", [row])

    def erase(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Delete the rows themselves; they keep their ids in memory."""
        self.model._default_manager.filter(pk__in=[row.pk for row in rows]).delete()

    def record(self, request: HttpRequest, act: str, rows: Sequence[Any], **data: Any) -> None:
        """One event for each user whose page shows or showed the row; what stands in it is not kept."""
        row = rows[-1]
        verb = "catalogue:changed"
        seen: dict[str, Model] = {}
        for one in rows:
            if owners := self.owners_of(one):
                seen[owners[0].pk], verb = owners[0], "profile:content_changed"
        for on in seen.values() or [row]:
            audit.record(
                verb, by=staff_of(request), on=on, act=act, model=self.opts.label_lower, id=str(row.pk), **data
            )


class ProfileContentAdmin(DoorAdmin):
    """Rows of a profile; one may move to another profile."""

    related: ClassVar[tuple[str, ...]] = ("profile__user",)
    autocomplete_fields: ClassVar[tuple[str, ...]] = ("profile",)
    search_fields: ClassVar[tuple[str, ...]] = ("=id", "=profile__id", "=profile__user__username")
    ordering = ("profile", "order", "pk")

    def owners_of(self, row: Any) -> list[User]:
        return [row.profile.user]

    def lock(self, rows: Sequence[Any]) -> None:
        profiles.locked(*{row.profile_id for row in rows})

    def refresh(self, rows: Sequence[Any]) -> None:
        profiles.touch(*sorted({row.profile_id for row in rows}))

    @admin.display(description="User", ordering="profile__user__uid")
    def user(self, row: Any) -> User:
        """Any: a row of a profile."""
        owner: User = row.profile.user
        return owner


class CatalogueAdmin(DoorAdmin):
    """What many profiles show: these are marked stale, and rendered when somebody looks."""

    @abc.abstractmethod
    def shown_by(self, rows: Sequence[Any]) -> QuerySet[Profile]:
        """The profiles that may show one of these."""

    def owners_of(self, row: Any) -> list[User]:
        return []

    def refresh(self, rows: Sequence[Any]) -> None:
        documents.mark_stale(self.shown_by(rows))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What a row is named by stays: another one would be another row."""
        read_only = super().get_readonly_fields(request, obj)
        return (*read_only, "id") if obj is not None else read_only
