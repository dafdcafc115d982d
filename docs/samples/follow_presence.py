"""Print the status of a user's chat account, now and after every change, with the client library.

Keys with `lookup:user` and `lookup:presence` are in USER_KEY and PRESENCE_KEY:
`python docs/samples/follow_presence.py http://127.0.0.1:8000 ada`.
"""

import os
import sys

from hearth_client import AnswerError, Hearth


def follow(base_url: str, username: str) -> None:
    with Hearth(base_url, os.environ["USER_KEY"]) as hearth:
        user = hearth.user(type="username", value=username)["user"]
    if user["chatId"] is None:
        sys.exit(f"{user['username']} has linked no chat account.")
    with Hearth(base_url, os.environ["PRESENCE_KEY"]) as hearth:
        for event in hearth.presence_events(user["chatId"]):
            if event.presence:
                print(f"{user['username']}: {event.presence['status']['status']}", flush=True)
            else:
                print(f"{user['username']}: {event.name}", flush=True)


if __name__ == "__main__":
    try:
        follow(*sys.argv[1:])
    except AnswerError as error:
        sys.exit(f"The service says {error.status}: {error.code or error.error}")
