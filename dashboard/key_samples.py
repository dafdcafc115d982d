"""Commands that try an API key, with the reader's own names in them. They are for a shell; the key stands in `$KEY`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings

from accounts.models import LinkedAccount, Permission, User

EXAMPLE_CHAT_ID = "80351110224678912"  # where the owner has linked no chat account


@dataclass(frozen=True)
class Sample:
    """`id`: unique on a page."""

    id: str
    label: str
    command: str


def of_permissions(permissions: Iterable[str], owner: User) -> list[Sample]:
    """One for each permission. 1 query."""
    linked = owner.linked_accounts.filter(kind=LinkedAccount.Kind.CHAT).values_list("external_id", flat=True)
    chat_id = linked.first() or EXAMPLE_CHAT_ID
    commands = {
        Permission.IMAGEHOST_UPLOAD: (
            f'curl --header "X-API-Key: $KEY" --form file=@picture.png {_url("imagehost/upload")}'
        ),
        Permission.LOOKUP_USER: (
            f'curl --header "X-API-Key: $KEY" {_url(f"lookup/user?type=username&value={owner.username}")}'
        ),
        Permission.LOOKUP_PRESENCE: f'curl --header "X-API-Key: $KEY" {_url(f"lookup/presence/{chat_id}")}',
        Permission.ACCOUNT: f'curl --header "Authorization: Bearer $KEY" {_url(f"lookup/username/{owner.username}")}',
    }
    return [
        Sample(f"sample-{place}", Permission(name).label, commands[Permission(name)])
        for place, name in enumerate(permissions)
    ]


def of_earlier_forms(user: User) -> list[Sample]:
    """Each earlier form once, in both ways of sending the key."""
    by_query = 'curl --get --data-urlencode "key=$KEY"'
    by_header = 'curl --header "Authorization: Bearer $KEY"'
    samples = (
        ("A profile by username, the key in the query", f"{by_query} {_url(f'lookup/username/{user.username}')}"),
        ("A profile by uid, the key in a header", f"{by_header} {_url(f'lookup/uid/{user.uid}')}"),
        ("The ten profiles with the most views", f"{by_query} --data limit=10 {_url('leaderboard/views')}"),
        ("The ten with the most badges", f"{by_query} --data limit=10 {_url('leaderboard/badges')}"),
        ("The ten oldest accounts", f"{by_query} --data limit=10 {_url('leaderboard/uid')}"),
        ("Your uploads", f"{by_header} {_url('imagehost/gallery')}"),
        ("Your folders", f"{by_header} {_url('imagehost/folders')}"),
        (
            "An upload in the earlier form, with an upload key",
            f'curl --form "key=$KEY" --form file=@picture.png {_url("imagehost/upload")}',
        ),
    )
    return [Sample(f"earlier-{place}", label, command) for place, (label, command) in enumerate(samples)]


def _url(path: str) -> str:
    return shlex.quote(f"{settings.BASE_URL}/api/{path}")
