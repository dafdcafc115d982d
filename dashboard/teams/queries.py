"""What the pages show of teams: members, apps, invitations, activity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import AuditEvent, User
from dashboard import trail
from oidc_provider.applications.scopes import LOCKED_SCOPES
from oidc_provider.authorize import consent_page
from oidc_provider.models import Application, Invitation, Role, Team, TeamMember

WITH_ARTICLE = {Role.OWNER: "an owner", Role.DEVELOPER: "a developer", Role.VIEWER: "a viewer"}
_EFFECTS = {
    Role.OWNER: "You can do everything with the team and its apps: settings, secrets, members, transfer, deletion.",
    Role.DEVELOPER: "You can read and change the apps of the team: settings, secrets, redirect URLs, scopes.",
    Role.VIEWER: "You can read the apps of the team: overview, usage, requests and activity.",
}
_TITLES = {
    "team:created": "Team created",
    "team:renamed": "Team renamed",
    "team:invited": "Person invited",
    "team:invitation_withdrawn": "Invitation withdrawn",
    "team:declined": "Invitation declined",
    "team:member_joined": "Member joined",
    "team:role_changed": "Role changed",
    "team:member_removed": "Member removed",
    "team:member_left": "Member left",
}


@dataclass(frozen=True)
class TeamRow:
    """A team in the list of one of its members. `members` and `apps`: how many it has; staging apps do not count."""

    team: Team
    role_label: str
    members: int
    apps: int


def teams_of(user: User) -> list[TeamRow]:
    """Return the user's teams by name. 1 query."""
    members = TeamMember.objects.filter(team=OuterRef("team")).order_by().values("team")
    apps = Application.objects.filter(team=OuterRef("team"), staging_of=None).order_by().values("team")
    own = user.team_memberships.select_related("team").annotate(
        member_count=Subquery(members.annotate(number=Count("pk")).values("number")),
        app_count=Coalesce(Subquery(apps.annotate(number=Count("pk")).values("number")), 0),
    )
    rows = own.order_by("team__name", "team")
    return [TeamRow(row.team, row.get_role_display(), row.member_count, row.app_count) for row in rows]


def members_of(team: Team) -> list[TeamMember]:
    """Return the members with their users, the earliest first. 1 query."""
    return list(team.members.select_related("user__deletion").order_by("joined_at", "pk"))


def is_last_owner(own: TeamMember, members: Iterable[TeamMember]) -> bool:
    """Return whether no other member is an owner whose account is neither banned nor waits for its deletion."""
    others = (member.user for member in members if member.role == Role.OWNER and member.pk != own.pk)
    return own.role == Role.OWNER and not any(user.is_active and not hasattr(user, "deletion") for user in others)


@dataclass(frozen=True)
class AppOfTeam:
    application: Application
    logo_url: str


def apps_of(team: Team) -> list[AppOfTeam]:
    """Return the team's apps with their owners of record, by name, each staging app after its live app. 1 query."""
    apps = team.applications.select_related("user", "logo").defer("logo__png")
    of_live = Coalesce("staging_of__name", "name"), Coalesce("staging_of_id", "pk")
    held = apps.order_by(*of_live, F("staging_of_id").asc(nulls_first=True))
    return [AppOfTeam(application, consent_page.logo_url(application)) for application in held]


@dataclass(frozen=True)
class ShownInvitation:
    """An invitation for the person who may answer it. `subject`: the name of the team or of the app. `role_words`:
    such as "a developer"; empty for an app. `sender`: a username."""

    pk: int
    subject: str
    application: Application | None
    role_words: str
    sender: str
    email: str
    expires_at: datetime

    @classmethod
    def of(cls, invitation: Invitation) -> ShownInvitation:
        return cls(
            invitation.pk,
            str(invitation.team or invitation.application),
            invitation.application,
            WITH_ARTICLE[Role(invitation.role)] if invitation.role else "",
            invitation.invited_by.username,
            invitation.email,
            invitation.expires_at,
        )


def invitations_of(team: Team, now: datetime) -> list[Invitation]:
    """Return the team's open invitations, the newest first. 1 query."""
    return list(team.invitations.open(now).order_by("-created_at", "-pk"))


def invitations_for(user: User, now: datetime) -> list[ShownInvitation]:
    """Return the open invitations to confirmed addresses of the user, the newest first. 1 query."""
    return [ShownInvitation.of(row) for row in _open(now).filter(email__in=addresses_of(user)).order_by("-pk")]


def invitation_of(pk: int, now: datetime) -> Invitation | None:
    """Return the open invitation, or None. 1 query."""
    return _open(now).filter(pk=pk).first()


def addresses_of(user: User) -> QuerySet[Any, str]:
    """Return the confirmed addresses of the user, in lower case."""
    found: QuerySet[Any, str] = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    return found


KEPT_ADDRESSES = (
    "Redirect URLs, logout URL and webhooks stay, too, so that nothing stops. Check whose servers they lead to, and "
    "rotate the secrets of the webhooks."
)


def effects_of(invitation: Invitation) -> list[str]:
    """Return what accepting means, in sentences."""
    if invitation.application is not None:
        return [
            "You become its only owner: you answer for it, and your name is on its consent page.",
            "Client id, secrets, approvals and tokens stay. Reset the secrets that others know.",
            KEPT_ADDRESSES,
            "A staging app comes along. A locked scope that staff have not unlocked for you is removed.",
        ]
    return [
        _EFFECTS[Role(invitation.role)],
        "You can leave the team at any time, as long as another member is an owner.",
    ]


def _open(now: datetime) -> QuerySet[Invitation]:
    return Invitation.objects.open(now).select_related("team", "application", "invited_by")


ME, PERSON = "me", "person"


@dataclass(frozen=True)
class Destination:
    """Where an app can go: to a `team`, to the reader (neither), or to the reader of `email`. `key`: in the form.
    `unlocked`: locked scopes that the app can have there; None where they are not known."""

    key: str
    name: str
    team: Team | None = None
    email: str = ""
    unlocked: frozenset[str] | None = None


def destinations_of(application: Application, reader: User) -> list[Destination]:
    """Return where the reader, an owner of the app, can move it: other teams of which they are an owner, themselves if
    it has a team, another person. 2 queries."""
    owned = reader.team_memberships.filter(role=Role.OWNER).exclude(team=application.team_id).select_related("team")
    members = TeamMember.objects.filter(team__in=owned.values("team")).values_list("team", "user__unlocked_scopes")
    unlocked: dict[int, set[str]] = defaultdict(set)
    for team_id, scopes in members:
        unlocked[team_id].update(scopes)
    found = [
        Destination(str(own.team.pk), f"the team {own.team.name}", own.team, unlocked=frozenset(unlocked[own.team.pk]))
        for own in owned.order_by("team__name", "team")
    ]
    if application.team_id is not None:
        found.append(Destination(ME, "you alone", unlocked=frozenset(reader.unlocked_scopes)))
    return [*found, Destination(PERSON, "another person")]


def effects_of_transfer(application: Application, to: Destination) -> list[str]:
    """Return what the transfer means, in sentences. 1 query: whether there is a staging app."""
    effects = ["Client id, secrets, redirect URLs, approvals and tokens stay. Nobody has to sign in again."]
    if application.other is not None:
        effects.append("Its staging app goes along.")
    if to.email:
        effects.append(f"{to.email} gets an email with a link that works for 7 days. Until then you can withdraw it.")
        effects.append("Nothing changes before the person accepts. Then you lose access to the app.")
    elif to.team is not None:
        effects.append(f"All members of {to.name} get access to the app, each by their role.")
    if application.team is not None:
        effects.append(f"Members of the team {application.team.name} lose access to it.")
    effects += _lost_scopes(application, to)
    if application.is_verified:
        effects.append("If another person becomes its owner of record, it is no longer verified.")
    return [*effects, "Secrets that people know work on. Reset those that matter.", KEPT_ADDRESSES]


def _lost_scopes(application: Application, to: Destination) -> list[str]:
    locked = [scope for scope in application.registered_scopes if scope in LOCKED_SCOPES]
    if to.unlocked is None:
        names = " and ".join(locked)
        return [f"It loses {names} if staff have not unlocked that for the person."] if locked else []
    lost = [scope for scope in locked if scope not in to.unlocked]
    return [f"It loses {' and '.join(lost)}, which nobody there has unlocked."] if lost else []


@dataclass(frozen=True)
class Entry:
    """An action on a team. `detail`: the member, the address or the names; `address`: of the network, empty for other
    readers than the actor."""

    created_at: datetime
    title: str
    detail: str
    actor: str
    reason: str
    address: str


def events_of(team: Team) -> QuerySet[AuditEvent]:
    """Return the actions on the team, the newest first."""
    events = AuditEvent.objects.filter(object_type=Team._meta.label_lower, object_id=str(team.pk))
    return events.order_by("-created_at", "-pk")


def entries_of(events: Iterable[AuditEvent], reader: TeamMember) -> list[Entry]:
    """Return the events as `reader`, a member, may see them: addresses of people are for owners."""
    return [
        Entry(
            event.created_at,
            _TITLES.get(event.verb, event.in_words),
            _detail(event.data),
            trail.actor_of(event, reader.user),
            event.reason,
            event.address if event.actor_id == reader.user_id else "",
        )
        for event in events
    ]


def _detail(data: dict[str, Any]) -> str:
    """Return whom or what the event is about; empty where it has nothing of it: the trail has rows of every release."""
    before, after = data.get("before"), data.get("after")
    about = [str(data.get("username") or "")]
    if isinstance(before, dict) and isinstance(after, dict):
        about += [f"{before.get(name, 'none')} became {after[name]}" for name in after]
    elif "role" in data:
        about.append(f"as {data['role']}")
    return ", ".join(part for part in about if part)
