"""The one status of a member, out of the statuses of all devices."""

from __future__ import annotations

from presence import fields
from presence.fields import Json

STATUSES = ("online", "idle", "dnd", "streaming", "offline")
OFFLINE = "offline"
STREAMING_ACTIVITY = 1

_MANUAL = ("online", "idle", "dnd")
_SHOWN_DEVICES = ("desktop", "mobile", "web")
_OTHER_DEVICES = ("vr", "embedded")


def of(presence: Json | None) -> str:
    """One of STATUSES. A running stream overrides all; then the first of desktop, mobile and web that is not offline.

    On other devices alone, or where no devices are named, the platform's own summary counts.
    """
    presence = fields.mapping(presence)
    activities = fields.mappings(presence.get("activities"))
    if any(fields.whole(activity.get("type")) == STREAMING_ACTIVITY for activity in activities):
        return "streaming"
    devices = presence.get("client_status")
    summary = _known(presence.get("status"))
    if not isinstance(devices, dict):
        return summary or OFFLINE
    for device in _SHOWN_DEVICES:
        if _known(devices.get(device)) not in (None, OFFLINE):
            return str(devices[device])
    others = [known for device in _OTHER_DEVICES if (known := _known(devices.get(device))) not in (None, OFFLINE)]
    return (summary or others[0] or OFFLINE) if others else OFFLINE


def _known(status: object) -> str | None:
    """None for other values; `invisible` reaches only the member's own client."""
    return status if isinstance(status, str) and status in (*_MANUAL, OFFLINE) else None
