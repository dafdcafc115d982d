"""Document 2, "States and transitions": one status out of all devices."""

from __future__ import annotations

from typing import Any

import pytest

from presence.answer import presentation

STREAM = {"type": 1, "name": "Twitch"}
GAME = {"type": 0, "name": "Chess"}


def presence(summary: object = "online", activities: object = (), **devices: object) -> dict[str, Any]:
    """As the gateway sends it. `activities` in a tuple is sent as a list."""
    sent = list(activities) if isinstance(activities, tuple) else activities
    return {"user": {"id": "1"}, "status": summary, "client_status": devices, "activities": sent}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        # each status of each device
        *(
            (presence(given, **{device: given}), given)
            for device in ("desktop", "mobile", "web")
            for given in presentation.STATUSES[:3]
        ),
        # the first that is not offline
        (presence(desktop="dnd", mobile="online", web="idle"), "dnd"),
        (presence(mobile="idle", web="online"), "idle"),
        (presence(desktop="offline", mobile="offline", web="dnd"), "dnd"),
        # whatever the summary says
        (presence("online", desktop="idle"), "idle"),
        (presence("nonsense", mobile="online"), "online"),
        # other devices alone: the summary
        (presence("online", vr="online"), "online"),
        (presence("dnd", embedded="online"), "dnd"),
        (presence("idle", vr="idle", embedded="online"), "idle"),
        (presence("idle", desktop="offline", embedded="online"), "idle"),
        (presence("offline", embedded="online"), "offline"),
        (presence(None, embedded="idle"), "idle"),
        (presence(7, vr="offline", embedded="dnd"), "dnd"),
        (presence("online", vr="idle", web="dnd"), "dnd"),
        # no device
        (presence("online"), "offline"),
        (presence("invisible"), "offline"),
        (presence("online", desktop="offline", mobile="offline", web="offline"), "offline"),
        (presence("online", vr="offline", embedded="offline"), "offline"),
        (presence("online", toaster="online"), "offline"),
        (None, "offline"),
        ({}, "offline"),
        ({"user": {"id": "1"}}, "offline"),
    ],
)
def test_devices_collapse_to_one_status(sent: dict[str, Any] | None, expected: str) -> None:
    assert presentation.status_of(sent) == expected


@pytest.mark.parametrize(
    "sent",
    [
        presence("online", (STREAM,), desktop="online"),
        presence("dnd", (STREAM,), desktop="dnd"),
        presence("idle", (GAME, STREAM), mobile="idle"),
        presence("online", (None, "x", STREAM), vr="online"),
        presence("offline", (STREAM,)),
        {"activities": [{"type": 1.0}]},
        {"activities": [STREAM], "client_status": None, "status": None},
    ],
)
def test_a_running_stream_overrides_everything(sent: dict[str, Any]) -> None:
    assert presentation.status_of(sent) == "streaming"


@pytest.mark.parametrize("kind", [True, "1", 1.5, [1], {"1": 1}, None, 10**30, float("inf"), float("nan"), -1, 11])
def test_what_is_no_number_one_is_no_stream(kind: object) -> None:
    assert presentation.status_of(presence("idle", ({"type": kind},), desktop="idle")) == "idle"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"status": "dnd"}, "dnd"),
        ({"status": "idle", "client_status": None}, "idle"),
        ({"status": "online", "client_status": ["desktop"]}, "online"),
        ({"status": "offline", "client_status": "online"}, "offline"),
        ({"status": "streaming", "client_status": 1}, "offline"),
        ({"status": ["online"], "client_status": None}, "offline"),
    ],
)
def test_where_no_devices_are_reported_the_summary_counts(sent: dict[str, Any], expected: str) -> None:
    assert presentation.status_of(sent) == expected


@pytest.mark.parametrize(
    "bad", [True, 1, 1.5, None, [], {}, ["online"], {"a": 1}, "", "ONLINE", "invisible", "streaming"]
)
def test_a_device_of_another_type_is_passed_over(bad: object) -> None:
    assert presentation.status_of(presence("idle", desktop=bad, mobile="dnd")) == "dnd"
    assert presentation.status_of(presence(bad, desktop=bad)) == "offline"
    assert presentation.status_of(presence("online", bad, desktop="idle")) == "idle"
