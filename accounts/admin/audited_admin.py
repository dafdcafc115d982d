"""The admin of rows that belong to users: a row, what is derived from it and its audit event change together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect

from accounts import audit, users
from accounts.admin.fields import JsonField, RowField
from accounts.admin.staff_actions import CheckedListAdmin, staff_of
from accounts.models import User
from infrastructure.requests.errors import sentences

Owners = Callable[[Any], list[User]]


class AuditedAdmin(CheckedListAdmin):
    """Subclasses name the owners of a row and update what is derived from it.

    `users.check_staff_action` decides who may change a row: only superusers change rows of staff accounts.
    """

    formfield_overrides = {
        models.JSONField: {"form_class": JsonField},
        models.ForeignKey: {"form_class": RowField},
    }

    def refresh(self, rows: Sequence[Any]) -> None:
        """Update what is derived from these rows: as they were, as they are, or deleted by now; operations do it
        themselves."""

    def changing(self, rows: Sequence[Any]) -> AbstractContextManager[object]:
        """Lock what `refresh` writes, before the rows are locked. Every change happens inside the block."""
        return nullcontext()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or self._may(request, self.owners_of, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or self._may(request, self._page_of, obj))

    def _page_of(self, row: Any) -> list[User]:
        """Return the user whose page shows the row: a comment by staff may be deleted like any other."""
        return self.owners_of(row)[:1]

    def _may(self, request: HttpRequest, owners_of: Owners, row: Any) -> bool:
        return users.has_authority(users.check_staff_action, owners_of(row), staff_of(request))

    def _check_authority(self, request: HttpRequest, owners_of: Owners, rows: Iterable[Any]) -> None:
        owners = [owner for row in rows for owner in owners_of(row)]
        users.check_staff_action(owners=owners, by=staff_of(request))

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_error_message(super().changeform_view, request, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_error_message(super().delete_view, request, *args, **kwargs)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_error_message(super().changelist_view, request, *args, **kwargs)

    def _or_error_message(self, view: Callable[..., Any], request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show the error of an operation or a constraint that refuses what the form accepted."""
        try:
            return view(request, *args, **kwargs)
        except ValidationError as refusal:
            message = sentences(refusal)
        except (IntegrityError, ObjectDoesNotExist):
            if request.method != "POST":
                raise
            message = "Another user changed this first. Nothing was saved: check the current values and try again."
        self.message_user(request, message, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        """Do nothing: `save_related`, which Django's views call next, changes the row and what is derived from it."""

    def write(self, request: HttpRequest, obj: Any, form: Any, *, change: bool) -> None:
        """Save the row; of a changed one only the changed columns, since counters may have changed."""
        if change:
            obj.save(update_fields=[name for name in form.changed_data if name in form._meta.fields])
        else:
            obj.save()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """Save the row and its formsets. Django's views hold the transaction."""
        row = form.instance
        stored = self.model._default_manager.filter(pk=row.pk)
        with self.changing([*stored, row]):
            before = [stored.select_for_update(no_key=True).get()] if change else []
            self._check_authority(request, self.owners_of, [*before, row])
            self.write(request, row, form, change=change)
            super().save_related(request, form, formsets, change)
            self.refresh([*before, row])
            changed = [*form.changed_data, *(formset.prefix for formset in formsets if formset.has_changed())]
            self.record(request, "changed" if change else "added", [*before, row], changed=changed)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete_rows(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.delete_rows(request, list(queryset))

    @transaction.atomic
    def delete_rows(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        with self.changing(rows):
            present = self.get_queryset(request).filter(pk__in=[row.pk for row in rows]).order_by("pk")
            rows = list(present)  # not deleted concurrently
            self._check_authority(request, self._page_of, rows)
            self.erase(request, rows)
            self.refresh(rows)
            for row in rows:
                self.record(request, "deleted", [row])

    def erase(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Delete the rows; the objects keep their ids."""
        self.model._default_manager.filter(pk__in=[row.pk for row in rows]).delete()

    def record(self, request: HttpRequest, act: str, rows: Sequence[Any], **data: Any) -> None:
        """Write one event for each user whose page shows or showed the row, without the row's content."""
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
