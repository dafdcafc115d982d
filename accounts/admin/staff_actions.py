"""Actions of the admin that need a reason: one page for a button and for a list's selection.

Each object goes through the operation on its own, in its own transaction. A secret that an operation returns is shown
in the answer to that very request, and nowhere else.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.cache import add_never_cache_headers

from accounts import users
from accounts.models import User
from accounts.staff_actions import ConfirmationPage, StaffAction
from infrastructure import text_rules
from infrastructure.requests.errors import sentences

MAX_AT_ONCE = 100


class ReasonForm(forms.Form):
    """Why, and the options of the action; all fields are passed to the operation by name."""

    def __init__(self, action: StaffAction, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        page = action.page if action.page is not None else ConfirmationPage
        self.fields["reason"] = forms.CharField(
            max_length=page.most,
            required=action.needs_reason,
            widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
            help_text=page.hint,
        )
        for name, choices in action.options.items():
            self.fields[name] = forms.ChoiceField(choices=choices)


def staff_of(request: HttpRequest) -> User:
    """Return the signed-in member of staff."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def show_secrets(
    request: HttpRequest, *, title: str, secrets: Sequence[tuple[str, str]], continue_url: str
) -> HttpResponse:
    """Return the only answer that ever holds these secrets, by label; no cache keeps it."""
    context = {**admin.site.each_context(request), "title": title, "secrets": secrets, "continue_url": continue_url}
    response = TemplateResponse(request, "admin/staff_actions/secrets.html", context)
    add_never_cache_headers(response)
    return response


def are_possible(model: type[Model], keys: list[str]) -> bool:
    """Return whether each could be a key of the model's table."""
    column = model._meta.pk
    try:
        for key in keys:
            column.run_validators(column.to_python(key))
    except ValidationError:
        return False
    return not any(text_rules.find_unstorable(key) for key in keys)


ABBREVIATIONS = {"api": "API", "svg": "SVG", "url": "URL"}


class RowsAdmin(admin.ModelAdmin[Any]):
    """Rows of a large table: their total is never counted. `related`: what lists, owners and names of a row need."""

    show_full_result_count = False
    related: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.select_related(*self.related) if self.related else rows


class CheckedListAdmin(RowsAdmin):
    """Rows that belong to users. `owners`: the paths to the user whose page shows a row, then to other users that it is
    about. Staff need authority over each of them. `fixed`: fields that are read-only once the row exists."""

    owners: ClassVar[tuple[str, ...]]
    fixed: ClassVar[tuple[str, ...]] = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        read_only = super().get_readonly_fields(request, obj)
        return (*self.fixed, *read_only) if obj is not None else read_only

    def owners_of(self, row: Any) -> list[User]:
        """Return the users of these that still exist."""
        found = (attrgetter(path)(row) for path in self.owners)
        return [owner for owner in found if owner is not None]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return the field with abbreviations in capitals; Django makes its labels of the columns' names."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and field.label:
            words = str(field.label).split(" ")
            field.label = " ".join(ABBREVIATIONS.get(word.lower(), word) for word in words)
        return field

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        if are_possible(self.model, request.POST.getlist(helpers.ACTION_CHECKBOX_NAME)):
            return super().changelist_view(request, extra_context)
        self.message_user(request, "There is no such row.", messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())


class StaffActionsAdmin(CheckedListAdmin):
    """A ModelAdmin whose `staff_actions` appear in the list's menu and as buttons on an object's page.

    They replace the stock deletion, which calls no operation. Apps above may append to `staff_actions`.
    """

    staff_actions: ClassVar[tuple[StaffAction, ...]] = ()
    change_form_template = "admin/staff_actions/change_form.html"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether staff may edit the row: a row of staff is read-only to staff who are no superusers."""
        return super().has_change_permission(request, obj) and (
            obj is None or users.has_authority(users.check_staff_action, self.owners_of(obj), staff_of(request))
        )

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Show the form, which asks the operation's own rules; an operation that refuses after that lost a race."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ValidationError as refusal:
            self.message_user(request, sentences(refusal), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.staff_action_view)
        return [path("act/<slug:name>/", view, name=self._url_name("act")), *super().get_urls()]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            action.name: (functools.partial(_ask_for_selection, action), action.name, action.label)
            for action in self.permitted_actions(request)
        }

    def permitted_actions(self, request: HttpRequest) -> list[StaffAction]:
        return [action for action in self.staff_actions if staff_of(request).has_perm(action.permission)]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        obj = kwargs.get("obj")
        if obj is not None and obj.pk is not None:
            context["staff_actions"] = [
                {"label": action.label, "url": f"{self._act_url(action)}?{urlencode({'id': obj.pk})}"}
                for action in self.permitted_actions(request)
                if action.is_offered(obj)
                and users.has_authority(action.check, self.owners_of(obj), staff_of(request))
                and not action.bar(obj, staff_of(request))
            ]
        return super().render_change_form(request, context, *args, **kwargs)

    def staff_action_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Ask on GET for the reason (`id`: one object), act on `_selected_action` on POST."""
        action = next((action for action in self.staff_actions if action.name == name), None)
        if action is None:
            raise Http404
        if action not in self.permitted_actions(request):
            raise PermissionDenied
        is_post = request.method == "POST"
        ids = request.POST.getlist(helpers.ACTION_CHECKBOX_NAME) if is_post else request.GET.getlist("id")
        if not are_possible(self.model, ids):
            raise Http404
        objects = list(self.get_queryset(request).filter(pk__in=ids[:MAX_AT_ONCE]).order_by("pk"))
        if not objects:
            raise Http404
        form = ReasonForm(action, request.POST if is_post else None)
        if is_post and form.is_valid():
            return self._act(request, action, objects, form.cleaned_data)
        return self.ask(request, action, objects, form)

    def ask(self, request: HttpRequest, action: StaffAction, objects: list[Any], form: ReasonForm) -> HttpResponse:
        """Show the page that asks for the reason."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"{action.label}: {', '.join(str(obj) for obj in objects[:3])}{' …' if len(objects) > 3 else ''}",
            "opts": self.opts,
            "action": action,
            "action_url": self._act_url(action),
            "objects": objects,
            "form": form,
            "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
            "back_url": self._back_url(objects),
        }
        return TemplateResponse(request, "admin/staff_actions/reason.html", context)

    def _act(
        self, request: HttpRequest, action: StaffAction, objects: list[Any], cleaned_data: dict[str, Any]
    ) -> HttpResponse:
        shown, done = [], 0
        options = {name: cleaned_data[name] for name in action.options}
        for obj in objects:
            label = str(obj)
            try:
                action.check(owners=self.owners_of(obj), by=staff_of(request))
                if reason := action.refusal(obj, **options):
                    raise ValidationError(reason)
                secret = action.run(obj, by=staff_of(request), **cleaned_data)
            except (ValidationError, PermissionDenied) as refusal:
                self.message_user(request, f"{label}: {sentences(refusal)}", messages.ERROR)
                continue
            done += 1
            if secret is not None:
                shown.append((label, secret))
        back_url = self._back_url(self._remaining(request, objects))
        if shown:
            return show_secrets(request, title=action.label, secrets=shown, continue_url=back_url)
        if done:
            self.message_user(request, f"{action.label}: done for {done}.", messages.SUCCESS)
        return HttpResponseRedirect(back_url)

    def _remaining(self, request: HttpRequest, objects: list[Any]) -> list[Any]:
        """Return the objects that still exist; a single one leads back to its own page."""
        if len(objects) != 1:
            return objects
        return list(self.get_queryset(request).filter(pk=objects[0].pk)) if objects[0].pk is not None else []

    def _back_url(self, objects: list[Any]) -> str:
        if len(objects) == 1:
            return reverse(f"admin:{self._url_name('change')}", args=[objects[0].pk])
        return reverse(f"admin:{self._url_name('changelist')}")

    def _act_url(self, action: StaffAction) -> str:
        return reverse(f"admin:{self._url_name('act')}", args=[action.name])

    def _url_name(self, view: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{view}"


class IssuingAdmin(StaffActionsAdmin):
    """Adding calls `issue`, and its answer shows the secret once. `owner_field`: of the form that adds."""

    owner_field: ClassVar[str]

    @abc.abstractmethod
    def issue(self, request: HttpRequest, form: Any) -> tuple[Model, str]:
        """Call the operation with the form's data: the new row and its secret."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        owner = form.cleaned_data[self.owner_field]
        if owner is None:
            raise ValidationError("Choose the owner.")
        users.check_staff_action(owners=[owner], by=staff_of(request))
        made, secret = self.issue(request, form)
        vars(obj).update(vars(made))
        vars(obj)["_shown_once"] = secret  # from here to `response_add`, in memory

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """Do nothing: the operation has saved the row."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        secret = vars(obj).pop("_shown_once")
        title = f"The new {self.opts.verbose_name}"
        return show_secrets(request, title=title, secrets=[(str(obj), secret)], continue_url=self._back_url([obj]))


class ReadOnly:
    """Refuses forms that add or change a row."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class OperationsAdmin(ReadOnly, StaffActionsAdmin):
    """Rows that staff read, and change only by `staff_actions`."""


def _ask_for_selection(
    action: StaffAction, model_admin: StaffActionsAdmin, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    objects = list(queryset[: MAX_AT_ONCE + 1])
    if not 0 < len(objects) <= MAX_AT_ONCE:
        words = f"Choose at most {MAX_AT_ONCE} at a time." if objects else "There is no such row."
        model_admin.message_user(request, words, messages.ERROR)
        return None
    return model_admin.ask(request, action, objects, ReasonForm(action))


class ReadOnlyAdmin(ReadOnly, RowsAdmin):
    """Rows that staff only read."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(ReadOnly, admin.TabularInline[Any, Any]):
    """Rows that staff only read, inside another object's page."""

    extra = 0
    can_delete = False


def columns(model: type[Model], *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the model's columns, for a read-only page."""
    return tuple(field.name for field in model._meta.fields if field.name not in set(without))
