"""Folder rules: the ordered list, and the tester that says where a file would go."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms.imagehost_rules import EditRuleForm, MoveForm, RuleForm, TesterForm
from dashboard.views.imagehost.acts import act, is_done
from imagehost import listing, rules, uploads
from imagehost.models import FolderRule


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def rule_list(request: SignedInRequest) -> HttpResponse:
    """The list, a form for another rule, and the tester: `?name=…&mime=…` asks where such a file would go."""
    folders = list(listing.folders(owner_id=request.user.pk))
    form = RuleForm(request.POST if request.method == "POST" else None, folders=folders)
    if is_done(form, lambda: rules.add(owner=request.user, **form.cleaned_data)):
        messages.success(request, "The rule is added, as the last one.")
        return redirect("imagehost_rules")
    context = {"rules": uploads.rules_of(request.user.pk), "folders": folders, "form": form}
    return render(request, "dashboard/imagehost/rules.html", {**context, **_tested(request)})


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: SignedInRequest, rule_id: int) -> HttpResponse:
    rule = _own(request, rule_id)
    folders = listing.folders(owner_id=request.user.pk)
    form = EditRuleForm(request.POST if request.method == "POST" else None, rule=rule, folders=folders)
    if is_done(form, lambda: _change(rule, form)):
        messages.success(request, "The rule is saved.")
        return redirect("imagehost_rules")
    return render(request, "dashboard/imagehost/rule_edit.html", {"rule": rule, "form": form})


@act("imagehost_rules")
def move(request: SignedInRequest, rule_id: int) -> HttpResponse:
    """`places`: up (negative) or down, as far as the list goes."""
    form = MoveForm(request.POST)
    if not form.is_valid():
        raise Http404
    try:
        rules.move(owner=request.user, rule_id=rule_id, places=form.cleaned_data["places"])
    except FolderRule.DoesNotExist:
        raise Http404 from None
    return redirect("imagehost_rules")


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest, rule_id: int) -> HttpResponse:
    rule = _own(request, rule_id)
    if request.method == "POST":
        try:
            rules.delete(owner=request.user, rule_id=rule_id)
        except FolderRule.DoesNotExist:
            raise Http404 from None
        messages.success(request, "The rule is deleted.")
        return redirect("imagehost_rules")
    context = {
        "title": "Delete this rule?",
        "effects": [
            f"{rule.get_kind_display()} {rule.pattern} no longer leads to the folder {rule.folder.name}.",
            "Files that are there already stay there.",
        ],
        "button": "Delete the rule",
        "back_url": reverse("imagehost_rules"),
    }
    return render(request, "dashboard/confirm.html", context)


def _tested(request: SignedInRequest) -> dict[str, Any]:
    """`tester` and, once it was asked, `route`; any: a template's context."""
    tester = TesterForm(request.GET if "name" in request.GET else None)
    answers: list[rules.Route] = []
    is_done(tester, lambda: answers.append(rules.which_folder(owner=request.user, **tester.cleaned_data)))
    return {"tester": tester, "route": answers[0] if answers else None}


def _own(request: SignedInRequest, rule_id: int) -> FolderRule:
    """1 query. What no database column can hold is no rule's number."""
    if rule_id >= 1 << 63:
        raise Http404
    return get_object_or_404(FolderRule.objects.select_related("owner", "folder"), pk=rule_id, owner=request.user)


def _change(rule: FolderRule, form: EditRuleForm) -> None:
    values = form.cleaned_data
    try:
        rules.change(
            rule=rule,
            kind=values["kind"],
            pattern=values["pattern"],
            folder_id=values["folder_id"],
            check=form.check_version,
        )
    except FolderRule.DoesNotExist:
        raise Http404 from None
