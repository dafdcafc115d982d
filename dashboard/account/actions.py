"""Rename, delete or keep the account, with the emails."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import deletions, notifications, users
from accounts.models import AccountDeletion, Name, User
from accounts.models.names import NameKind
from dashboard import handovers
from lookup.editing import aliases, profiles
from oidc_provider.applications import roles
from oidc_provider.models import Application, Team


@transaction.atomic
def rename(*, user: User, username: str, keeps_old: bool, by: User) -> User:
    """Change the username; `keeps_old` keeps the old one as an alias. Raises ValidationError, by argument, also where
    the old name cannot be an alias; then nothing changes."""
    old_username = user.username
    users.lock(user.pk)
    with profiles.changing(all_of=[user.pk]):  # adding or removing an alias locks them before the names, too
        if Name.objects.filter(user=user, key=username.upper(), kind=NameKind.ALIAS).exists():
            raise ValidationError({"username": "This is one of your aliases. Remove the alias first."})
        user = users.rename(user=user, username=username, by=by)
        is_kept = keeps_old and old_username.upper() != username.upper()
        if is_kept:
            try:
                aliases.add(user=user, name=old_username, by=by)
            except ValidationError as error:
                sentences = [f"{old_username} cannot be an alias: {message}" for message in error.messages]
                raise ValidationError({"keeps_old": sentences}) from error
    notifications.send_after_commit(
        to=user,
        subject="Your username was changed",
        template="dashboard/letters/renamed.txt",
        context={"old_username": old_username, "is_kept": is_kept},
    )
    return user


@transaction.atomic
def ask_for_deletion(
    *,
    user: User,
    by: User,
    heirs: Iterable[tuple[Team, User]] = (),
    takers: Iterable[tuple[Application, Team]] = (),
) -> AccountDeletion:
    """Request the deletion as `deletions.ask`, and send an email on how to stop it. Before it, at once, make members
    owners (`heirs`) and move apps to teams (`takers`). Raises as `teams.take_over` and `transfers.transfer`; then
    nothing happens."""
    heirs, takers = list(heirs), list(takers)
    users.lock(user.pk)  # people before teams, and teams by key
    roles.lock_teams([*(team for team, _ in heirs), *(team for _, team in takers)])
    for team, member in heirs:
        handovers.make_owner(team=team, user=member, by=by)
    for application, team in takers:
        handovers.transfer(application=application, team=team, by=by)
    deletion = deletions.ask(user=user, by=by)
    notifications.send_after_commit(
        to=user,
        subject="Your account will be deleted",
        template="dashboard/letters/deletion_asked.txt",
        context={"deletion": deletion},
    )
    return deletion


@transaction.atomic
def keep(*, user: User, by: User) -> bool:
    """Stop the deletion as `deletions.stop`, and send an email."""
    is_stopped = deletions.stop(user=user, by=by)
    if is_stopped:
        notifications.send_after_commit(
            to=user, subject="Your account stays", template="dashboard/letters/deletion_stopped.txt", context={}
        )
    return is_stopped
