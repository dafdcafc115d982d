"""The protocol between the web process and the zygote.

The control socket carries one byte for each request and three descriptors: the file, the child's end of a conversation
and the zygote's end of a report. In the conversation the web process sends the request as a line of JSON; the child
answers `STARTED`, one line of JSON and the bytes of a preview, and closes. The zygote sends the child's exit status and
its processor time as the report, on a socket that the child does not have.
"""

import json
import struct
from typing import Any

Message = dict[str, Any]  # JSON

REQUEST = b"."
STARTED = b"!"
NOT_STARTED = 0x7FFFFFFF  # as an exit status: the fork failed
REPORT = struct.Struct("!id")  # the status as os.wait4() gives it, and seconds

MAX_LINE = 4096
MAX_ANSWER = 4 * 1024 * 1024


def line(message: Message) -> bytes:
    return json.dumps(message).encode() + b"\n"


def message(encoded: bytes) -> Message:
    """Return the decoded message. Raises ValueError where `encoded` is no JSON object."""
    decoded = json.loads(encoded)
    if not isinstance(decoded, dict):
        raise ValueError("not an object")
    return decoded
