"""The pages of teams: the list, a new team, its members, invitations, activity."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms import confirm, is_done, with_error_message
from dashboard.teams import actions, queries
from dashboard.teams.forms import DeleteTeamForm, InviteForm, RoleForm, TeamForm
from oidc_provider.applications import invitations, teams
from oidc_provider.models import Role, Team, TeamMember

PAGE_SIZE = 25
TeamPage = Callable[Concatenate[SignedInRequest, TeamMember, ...], HttpResponse]
Opened = Callable[Concatenate[SignedInRequest, ...], HttpResponse]


def of_team(role: Role = Role.VIEWER) -> Callable[[TeamPage], Opened]:
    """Pass the reader's own membership to the view as its second argument. 404 for teams of others and deleted ones,
    403 where the reader's role is lower than `role`. 1 query."""

    def decorate(view: TeamPage) -> Opened:
        @functools.wraps(view)
        def opened(request: SignedInRequest, /, team_id: int, **parameters: Any) -> HttpResponse:
            own = access.membership_of(request, team_id)
            if not Role(own.role).includes(role):
                raise access.RoleTooLow(role, name=own.team.name, url=reverse("team", args=[team_id]))
            try:
                return view(request, own, **parameters)
            except ObjectDoesNotExist:  # another tab deleted it between our reads and our writes
                raise Http404 from None

        return opened

    return decorate


@access.signed_in
@require_safe
def listing(request: SignedInRequest) -> HttpResponse:
    """2 queries plus the session's: teams, invitations."""
    waiting = queries.invitations_for(request.user, timezone.now())
    context = {"rows": queries.teams_of(request.user), "invitations": waiting}
    return render(request, "dashboard/teams/list.html", context)


@access.signed_in
@access.form_page
def new(request: SignedInRequest) -> HttpResponse:
    form, made = TeamForm(request.POST or None), list[Team]()
    if is_done(form, lambda: made.append(teams.create(by=request.user, **form.cleaned_data))):
        messages.success(request, f"{made[0].name} created. You are its owner.")
        return redirect("team", made[0].pk)
    return render(request, "dashboard/teams/new.html", {"form": form})


@access.signed_in
@require_safe
@of_team()
def overview(request: SignedInRequest, own: TeamMember) -> HttpResponse:
    """2 queries plus the session's and that of the team: members, apps; for an owner 1 more: invitations."""
    members = queries.members_of(own.team)
    is_owner = own.role == Role.OWNER
    context = {
        "team": own.team,
        "own": own,
        "is_owner": is_owner,
        "is_last_owner": is_owner and queries.is_last_owner(own, members),
        "members": members,
        "apps": queries.apps_of(own.team),
        "invitations": queries.invitations_of(own.team, timezone.now()) if is_owner else [],
    }
    return render(request, "dashboard/teams/team.html", context)


@access.signed_in
@require_safe
@of_team()
def activity(request: SignedInRequest, own: TeamMember) -> HttpResponse:
    """2 queries plus the session's and that of the team: their number, the events."""
    page = Paginator(queries.events_of(own.team), PAGE_SIZE).get_page(request.GET.get("page"))
    entries = queries.entries_of(page.object_list, own)
    return render(request, "dashboard/teams/activity.html", {"team": own.team, "page": page, "entries": entries})


@access.signed_in
@access.form_page
@of_team(Role.OWNER)
def rename(request: SignedInRequest, own: TeamMember) -> HttpResponse:
    form = TeamForm(request.POST or None, initial={"name": own.team.name})
    if is_done(form, lambda: teams.rename(team=own.team, by=request.user, **form.cleaned_data)):
        messages.success(request, "Team renamed.")
        return redirect("team", own.team.pk)
    return _form_page(request, own, form, "Rename the team", "Rename")


@access.recently_signed_in
@access.form_page
@of_team(Role.OWNER)
def invite(request: SignedInRequest, own: TeamMember) -> HttpResponse:
    form = InviteForm(request.POST or None)
    if is_done(form, lambda: actions.invite(team=own.team, by=request.user, **form.cleaned_data)):
        messages.success(request, f"Invitation sent to {form.cleaned_data['email']}.")
        return redirect("team", own.team.pk)
    lead = "The person joins once they accept. Until then you can withdraw the invitation."
    return _form_page(request, own, form, "Invite a person", "Send the invitation", lead=lead, shows_roles=True)


@access.signed_in
@require_POST
@of_team(Role.OWNER)
def withdraw(request: SignedInRequest, own: TeamMember, invitation_id: int) -> HttpResponse:
    invitation = get_object_or_404(own.team.invitations, pk=invitation_id)
    with_error_message(
        request, "Invitation withdrawn.", lambda: invitations.withdraw(invitation=invitation, by=request.user)
    )
    return redirect("team", own.team.pk)


@access.recently_signed_in
@access.form_page
@of_team(Role.OWNER)
def change_role(request: SignedInRequest, own: TeamMember, member_id: int) -> HttpResponse:
    member = access.member_of(own.team, member_id)
    form = RoleForm(request.POST or None, initial={"role": member.role})
    if is_done(form, lambda: teams.change_role(member=member, role=Role(form.cleaned_data["role"]), by=request.user)):
        messages.success(request, f"Role of {member.user.username} changed.")
        return redirect("team", own.team.pk)
    title = f"Change the role of {member.user.username}"
    return _form_page(request, own, form, title, "Change the role", shows_roles=True)


@access.recently_signed_in
@access.form_page
@of_team(Role.OWNER)
def remove(request: SignedInRequest, own: TeamMember, member_id: int) -> HttpResponse:
    member = access.member_of(own.team, member_id)
    name = member.user.username
    if request.method == "POST":
        with_error_message(request, f"{name} removed.", lambda: actions.remove(member=member, by=request.user))
        return redirect("team", own.team.pk)
    effects = [
        f"{name} loses access to the apps of the team at once, and gets an email.",
        "Apps of which this person is the owner of record go to the team's earliest other owner, who gets an email.",
        "A locked scope that only this person has unlocked is removed from the apps of the team.",
        "Secrets that the person knows work on. Reset those that matter.",
    ]
    return _confirm(request, own, f"Remove {name} from the team?", effects, "Remove")


@access.signed_in
@access.form_page
@of_team()
def leave(request: SignedInRequest, own: TeamMember) -> HttpResponse:
    team = own.team
    if request.method == "POST":
        with_error_message(request, f"You left {team.name}.", lambda: teams.leave(team=team, by=request.user))
        return redirect("teams")
    effects = [
        "You lose access to the apps of the team at once. The apps stay.",
        "Apps of which you are the owner of record go to the team's earliest other owner, who gets an email.",
        "A locked scope that only you have unlocked is removed from the apps of the team.",
    ]
    return _confirm(request, own, f"Leave {team.name}?", effects, "Leave the team")


@access.recently_signed_in
@access.form_page
@of_team(Role.OWNER)
def delete(request: SignedInRequest, own: TeamMember) -> HttpResponse:
    form = DeleteTeamForm(request.POST or None, team=own.team)
    if is_done(form, lambda: teams.delete(team=own.team, by=request.user)):
        messages.success(request, f"{own.team.name} deleted.")
        return redirect("teams")
    effects = ["All members leave the team, and its open invitations end. This cannot be undone."]
    return _confirm(request, own, f"Delete {own.team.name}?", effects, "Delete the team", form=form)


def _form_page(
    request: SignedInRequest, own: TeamMember, form: object, title: str, button: str, **more: object
) -> HttpResponse:
    context = {"team": own.team, "form": form, "title": title, "button": button, **more}
    return render(request, "dashboard/teams/form.html", context)


def _confirm(
    request: SignedInRequest, own: TeamMember, title: str, effects: list[str], button: str, **more: object
) -> HttpResponse:
    back_url, template = reverse("team", args=[own.team.pk]), "dashboard/teams/confirm.html"
    return confirm(request, title, effects, button, back_url=back_url, template=template, team=own.team, **more)
