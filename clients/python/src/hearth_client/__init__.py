"""Client of a Hearth service: users, live presence, leaderboards and uploads."""

from hearth_client.client import Hearth
from hearth_client.errors import AnswerError, HearthError, NoAnswerError, WaitTooLongError
from hearth_client.streams import Event, MemberEvent

__all__ = ["AnswerError", "Event", "Hearth", "HearthError", "MemberEvent", "NoAnswerError", "WaitTooLongError"]
