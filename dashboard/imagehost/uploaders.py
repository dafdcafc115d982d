"""Configurations for programs that upload, each with a new key that only allows uploads."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from accounts import notifications, users
from accounts.api_keys import keys
from accounts.models import ApiKey, Permission, User

MAX_A_DAY = 20  # keys that one user makes here
_ONLY_UPLOAD = [Permission.IMAGEHOST_UPLOAD.value]
_SHELL = "text/x-shellscript; charset=utf-8"
_SCRIPT = Path(__file__).with_name("flameshot.sh")


@dataclass(frozen=True)
class Uploader:
    """`write(secret)` makes the text. `file_name`, `content_type`: of its download; empty where a page shows it."""

    title: str
    file_name: str
    content_type: str
    write: Callable[[str], str]


@dataclass(frozen=True)
class Written:
    """A configuration with its new key, which is shown once."""

    uploader: Uploader
    text: str


def upload_url() -> str:
    return f"{settings.BASE_URL}/api/imagehost/upload"


@transaction.atomic
def make(*, owner: User, kind: str, now: datetime) -> Written:
    """Issue a key, write a configuration of this kind with it, and notify the owner.

    KeyError: unknown kind. ValidationError: it made MAX_A_DAY keys for the owner within a day.
    """
    uploader = ALL[kind]
    users.lock(owner.pk)  # serializes concurrent calls
    if _made_for(owner).filter(created_at__gt=now - timedelta(days=1)).count() >= MAX_A_DAY:
        raise ValidationError(
            f"You created {MAX_A_DAY} keys on this page within a day. Use one that you have, or try again tomorrow."
        )
    name = f"{uploader.title} {now:%Y-%m-%d}"
    issued = keys.issue(owner=owner, permissions=_ONLY_UPLOAD, name=name, by=owner)
    notifications.send_after_commit(
        to=owner,
        subject="A new API key was created",
        template="dashboard/letters/key_made.txt",
        context={"key": issued.key},
    )
    return Written(uploader, uploader.write(issued.secret))


def keys_of(owner: User) -> QuerySet[ApiKey]:
    """Return the owner's unrevoked keys with a name that `make` gives, newest first. 1 query."""
    return _made_for(owner).filter(revoked_at=None).order_by("-created_at", "-pk")


def _made_for(owner: User) -> QuerySet[ApiKey]:
    """Return keys with a name that `make` gives, and none that the owner created or named elsewhere."""
    named = Q()
    for uploader in ALL.values():
        named |= Q(name__regex=rf"^{re.escape(uploader.title)} [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$")
    return ApiKey.objects.filter(named, owner=owner, permissions=_ONLY_UPLOAD)


def _sharex(secret: str) -> str:
    """Return a custom uploader of ShareX: header `X-API-Key`, the current form of the answer."""
    return _custom_uploader(Headers={"X-API-Key": secret}, URL="{json:url}")


def _sharex_earlier(secret: str) -> str:
    """Return a custom uploader of ShareX for the earlier form: the link is the file's page, the key comes first."""
    return _custom_uploader(
        Headers={"key": secret}, Arguments={"key": secret}, URL="{json:url}", ThumbnailURL="{json:rawUrl}"
    )


def _custom_uploader(**of_the_form: str | Mapping[str, str]) -> str:
    """Return the uploader. ShareX reads Version 15.0.0 unchanged; 13.7.1 or older it would rewrite.

    ShareX also parses `%` and `{` in headers and arguments; a key has neither.
    """
    item = {
        "Version": "15.0.0",
        "Name": settings.SITE_NAME,
        "DestinationType": "ImageUploader, FileUploader",
        "RequestMethod": "POST",
        "RequestURL": upload_url(),
        "Body": "MultipartFormData",
        "FileFormName": "file",
        **of_the_form,
        "DeletionURL": "{header:X-Deletion-Url}",
        "ErrorMessage": "{json:error} ({json:code})",
    }
    return json.dumps(item, ensure_ascii=False, indent=2) + "\n"


def _curl(secret: str) -> str:
    """Return two commands: the second has no secret in its arguments, which every user of a machine can read."""
    kept = "imagehost-upload-key"
    return (
        "# Once: keep the key in a file that only you can read.\n"
        f"(umask 077 && cat >~/.{kept}) <<'END'\nX-API-Key: {secret}\nEND\n\n"
        "# Then, for each file:\n"
        f'curl --globoff --header @"$HOME/.{kept}" --form file=@picture.png {shlex.quote(upload_url())}\n'
    )


def _flameshot(secret: str) -> str:
    """Return the script. Its printf is a builtin of the shell, so that the key is in no command's arguments."""
    return _SCRIPT.read_text().replace("@URL@", shlex.quote(upload_url())).replace("@KEY@", shlex.quote(secret))


ALL: Mapping[str, Uploader] = MappingProxyType(
    {
        "sharex": Uploader("ShareX", "sharex.sxcu", "application/json", _sharex),
        "sharex-earlier": Uploader("ShareX, earlier form", "sharex-earlier.sxcu", "application/json", _sharex_earlier),
        "flameshot": Uploader("Flameshot", "flameshot-upload.sh", _SHELL, _flameshot),
        "curl": Uploader("curl", "", "", _curl),
    }
)
