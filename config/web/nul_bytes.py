"""The boundary that refuses NUL bytes, which PostgreSQL can neither store nor look up.

`config.web.middleware` and `config.web.lane` ask it. Endpoints under /api/ answer NUL bytes in their queries and bodies
in the words of their own documents, by `accounts.text_rules.find_unstorable`.
"""

from collections.abc import Mapping
from typing import Any

IN_PATH, IN_QUERY = 404, 400
OWN_ANSWER = "/api/lookup/presence/"  # its documented answer to a bad user id is 400


def refusal(meta: Mapping[str, Any]) -> int:
    """Return the status for a request with a NUL byte in its path, or in the query of a page; 0 for any other.

    `meta`: a WSGI environ, or the META of a request.
    """
    path = meta.get("PATH_INFO", "")
    if "\x00" in path and not path.startswith(OWN_ANSWER):
        return IN_PATH
    if "%00" in meta.get("QUERY_STRING", "") and not path.startswith("/api/"):
        return IN_QUERY
    return 0
