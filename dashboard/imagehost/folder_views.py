"""The image host's pages of folders and folder rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone

from accounts.http import SignedInRequest
from dashboard import versions
from dashboard.forms import confirm, is_done
from dashboard.imagehost.forms import EditFolderForm, EditRuleForm, FolderForm, MoveForm, RuleForm, TesterForm
from dashboard.imagehost.views import act, form_view
from imagehost.errors import FolderExists, InvalidBody
from imagehost.folders import folders, listing, rules
from imagehost.models import Folder, FolderRule

_FIELDS = {"folderName": "name", "folderPasswordEnabled": "visibility", "folderPassword": "password"}


@form_view
def folder_list(request: SignedInRequest) -> HttpResponse:
    """Show all folders, and a form for another one."""
    form = FolderForm(request.POST if request.method == "POST" else None)

    def create() -> None:
        folders.create(owner_id=request.user.pk, changes=form.changes(), now=timezone.now())

    if is_done(form, lambda: _by_field(create)):
        messages.success(request, f"Folder {form.cleaned_data['name']} created.")
        return redirect("imagehost_folders")
    held = [(folder, folder.url) for folder in listing.folders(owner_id=request.user.pk)]
    context = {"folders": held, "form": form, "max_folders": folders.MAX_FOLDERS}
    return render(request, "dashboard/imagehost/folders.html", context)


@form_view
def edit_folder(request: SignedInRequest, folder_id: str) -> HttpResponse:
    folder = get_object_or_404(Folder, pk=folder_id, owner=request.user)
    form = EditFolderForm(request.POST if request.method == "POST" else None, folder=folder)

    def change() -> None:
        folders.change(
            owner_id=request.user.pk,
            folder_id=folder.pk,
            changes=form.changes(),
            now=timezone.now(),
            check=lambda held: versions.check(form.cleaned_data["version"], held.updated_at),
        )

    if is_done(form, lambda: _by_field(change)):
        messages.success(request, "Folder saved.")
        return redirect("imagehost_folder", folder_id)
    return render(request, "dashboard/imagehost/folder_edit.html", {"folder": folder, "form": form})


@form_view
def delete_folder(request: SignedInRequest, folder_id: str) -> HttpResponse:
    folder = listing.folder(owner_id=request.user.pk, folder_id=folder_id)
    if request.method == "POST":
        folders.delete(owner_id=request.user.pk, folder_id=folder_id)
        messages.success(request, f"Folder {folder.name} deleted.")
        return redirect("imagehost_folders")
    files, rules = folder.file_count, folder.rules.count()
    effects = ["Its page and its link no longer work."] if folder.is_public else []
    if files:
        effects.append(f"Its {files} file{pluralize(files)} stay{pluralize(files, 's,')} stored, in no folder.")
    if rules:
        effects.append(
            f"{rules} rule{pluralize(rules)} that lead{pluralize(rules, 's,')} here will be deleted with it."
        )
    effects = effects or ["It is empty, and no rule leads here."]
    back_url = reverse("imagehost_folder", args=[folder.pk])
    return confirm(request, f"Delete the folder {folder.name}?", effects, "Delete the folder", back_url=back_url)


def _by_field(operation: Callable[[], object]) -> None:
    """Run the operation; raise its refusal, the API's `field: sentence`, as a ValidationError by the form's field."""
    try:
        operation()
    except FolderExists as refusal:
        raise ValidationError({"name": refusal.error}) from None
    except InvalidBody as refusal:
        field, _, sentence = refusal.error.partition(": ")
        raise ValidationError({_FIELDS[field]: sentence}) from None


@form_view
def rule_list(request: SignedInRequest) -> HttpResponse:
    """Show the list, a form for another rule, and the tester: `?name=…&mime=…` asks where such a file would go."""
    folders = list(listing.folders(owner_id=request.user.pk))
    form = RuleForm(request.POST if request.method == "POST" else None, folders=folders)
    if is_done(form, lambda: rules.add(owner=request.user, **form.cleaned_data)):
        messages.success(request, "Rule added at the end of the list.")
        return redirect("imagehost_rules")
    context = {"rules": FolderRule.objects.of(request.user.pk), "folders": folders, "form": form}
    return render(request, "dashboard/imagehost/rules.html", {**context, **_tested(request)})


@form_view
def edit_rule(request: SignedInRequest, rule_id: int) -> HttpResponse:
    rule = _own_rule(request, rule_id)
    folders = listing.folders(owner_id=request.user.pk)
    form = EditRuleForm(request.POST if request.method == "POST" else None, rule=rule, folders=folders)

    def change() -> None:
        values = form.cleaned_data
        named: dict[str, str] = {name: values[name] for name in ("kind", "pattern", "folder_id")}
        rules.change(rule=rule, check=form.check_version, **named)

    if is_done(form, change):
        messages.success(request, "Rule saved.")
        return redirect("imagehost_rules")
    return render(request, "dashboard/imagehost/rule_edit.html", {"rule": rule, "form": form})


@act("imagehost_rules")
def move_rule(request: SignedInRequest, rule_id: int) -> HttpResponse:
    """Move the rule by `places`: up (negative) or down, as far as the list goes."""
    form = MoveForm(request.POST)
    if not form.is_valid():
        raise Http404
    rules.move(owner=request.user, rule_id=rule_id, places=form.cleaned_data["places"])
    return redirect("imagehost_rules")


@form_view
def delete_rule(request: SignedInRequest, rule_id: int) -> HttpResponse:
    rule = _own_rule(request, rule_id)
    if request.method == "POST":
        rules.delete(owner=request.user, rule_id=rule_id)
        messages.success(request, "Rule deleted.")
        return redirect("imagehost_rules")
    effects = [
        f"{rule.get_kind_display()} {rule.pattern} no longer leads to the folder {rule.folder.name}.",
        "Files that are there already stay there.",
    ]
    return confirm(request, "Delete this rule?", effects, "Delete the rule", back_url=reverse("imagehost_rules"))


def _tested(request: SignedInRequest) -> dict[str, Any]:
    """Return `tester` and, once it was asked, `route`. Any: a template's context."""
    tester = TesterForm(request.GET if "name" in request.GET else None)
    answers: list[rules.Route] = []
    is_done(tester, lambda: answers.append(rules.which_folder(owner=request.user, **tester.cleaned_data)))
    return {"tester": tester, "route": answers[0] if answers else None}


def _own_rule(request: SignedInRequest, rule_id: int) -> FolderRule:
    """Return the user's rule. 1 query, none for a number that the database column cannot hold."""
    if rule_id >= 1 << 63:
        raise Http404
    return get_object_or_404(FolderRule.objects.select_related("owner", "folder"), pk=rule_id, owner=request.user)
