"""`python -m config.healthcheck`: exit code 0 where the web server of this container answers /healthz.

It asks as the edge proxy does: by the name of BASE_URL, and with the client-address header.
"""

import http.client
import os
import sys
from urllib.parse import urlsplit

PORT = 8000
SECONDS = 4


def main() -> int:
    headers = {"Host": urlsplit(os.environ.get("BASE_URL", "")).netloc or "127.0.0.1"}
    if name := os.environ.get("EDGE_CLIENT_ADDRESS_HEADER", ""):
        headers[name] = "127.0.0.1"
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else PORT, timeout=SECONDS)
    try:
        connection.request("GET", "/healthz", headers=headers)
        status = connection.getresponse().status
    except OSError as error:
        print(f"No answer: {error}", file=sys.stderr)  # noqa: T201 - its one line of output
        return 1
    finally:
        connection.close()
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
