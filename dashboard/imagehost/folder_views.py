"""The image host's pages of folders and folder rules."""

from __future__ import annotations

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
from imagehost.models import Folder, FolderQuerySet, FolderRule
from imagehost.receiving import uploads

_FIELDS = {"folderName": "name", "folderPasswordEnabled": "visibility", "folderPassword": "password"}


@form_view
def folder_list(request: SignedInRequest) -> HttpResponse:
    """Show all folders, and a form for another one."""
    form = FolderForm(request.POST if request.method == "POST" else None)
    if is_done(form, lambda: _create_folder(request, form)):
        messages.success(request, f"Folder {form.cleaned_data['name']} created.")
        return redirect("imagehost_folders")
    held = [(folder, folder.url) for folder in listing.folders(owner_id=request.user.pk)]
    context = {"folders": held, "form": form, "max_folders": folders.MAX_FOLDERS}
    return render(request, "dashboard/imagehost/folders.html", context)


@form_view
def edit_folder(request: SignedInRequest, folder_id: str) -> HttpResponse:
    folder = get_object_or_404(_own_folders(request), pk=folder_id)
    form = EditFolderForm(request.POST if request.method == "POST" else None, folder=folder)
    if is_done(form, lambda: _change_folder(request, folder, form)):
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
    effects = _effects_of_deletion(folder, folder.file_count, folder.rules.count())
    back_url = reverse("imagehost_folder", args=[folder.pk])
    return confirm(request, f"Delete the folder {folder.name}?", effects, "Delete the folder", back_url=back_url)


def _effects_of_deletion(folder: Folder, files: int, rules: int) -> list[str]:
    effects = ["Its page and its link no longer work."] if folder.is_public else []
    if files:
        effects.append(f"Its {files} file{pluralize(files)} stay{pluralize(files, 's,')} stored, in no folder.")
    if rules:
        effects.append(
            f"{rules} rule{pluralize(rules)} that lead{pluralize(rules, 's,')} here will be deleted with it."
        )
    return effects or ["It is empty, and no rule leads here."]


def _own_folders(request: SignedInRequest) -> FolderQuerySet:
    return Folder.objects.filter(owner=request.user)


def _create_folder(request: SignedInRequest, form: FolderForm) -> None:
    try:
        folders.create(owner_id=request.user.pk, changes=form.changes(), now=timezone.now())
    except (FolderExists, InvalidBody) as refusal:
        raise _said(refusal) from None


def _change_folder(request: SignedInRequest, folder: Folder, form: EditFolderForm) -> None:
    given = form.cleaned_data["version"]
    try:
        folders.change(
            owner_id=request.user.pk,
            folder_id=folder.pk,
            changes=form.changes(),
            now=timezone.now(),
            check=lambda held: versions.check(given, held.updated_at),
        )
    except (FolderExists, InvalidBody) as refusal:
        raise _said(refusal) from None


def _said(refusal: FolderExists | InvalidBody) -> ValidationError:
    """Return the API's `field: sentence`, by the form's field."""
    if isinstance(refusal, FolderExists):
        return ValidationError({"name": refusal.error})
    field, _, sentence = refusal.error.partition(": ")
    return ValidationError({_FIELDS[field]: sentence})


@form_view
def rule_list(request: SignedInRequest) -> HttpResponse:
    """Show the list, a form for another rule, and the tester: `?name=…&mime=…` asks where such a file would go."""
    folders = list(listing.folders(owner_id=request.user.pk))
    form = RuleForm(request.POST if request.method == "POST" else None, folders=folders)
    if is_done(form, lambda: rules.add(owner=request.user, **form.cleaned_data)):
        messages.success(request, "Rule added at the end of the list.")
        return redirect("imagehost_rules")
    context = {"rules": uploads.rules_of(request.user.pk), "folders": folders, "form": form}
    return render(request, "dashboard/imagehost/rules.html", {**context, **_tested(request)})


@form_view
def edit_rule(request: SignedInRequest, rule_id: int) -> HttpResponse:
    rule = _own_rule(request, rule_id)
    folders = listing.folders(owner_id=request.user.pk)
    form = EditRuleForm(request.POST if request.method == "POST" else None, rule=rule, folders=folders)
    if is_done(form, lambda: _change_rule(rule, form)):
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


def _change_rule(rule: FolderRule, form: EditRuleForm) -> None:
    values = form.cleaned_data
    rules.change(
        rule=rule,
        kind=values["kind"],
        pattern=values["pattern"],
        folder_id=values["folder_id"],
        check=form.check_version,
    )
