"""A first sign-in with the demo data of `make run`: the browser ends on a page of this script, which shows the code.

Run it with the service running: `.venv/bin/python docs/samples/first_sign_in.py [var/demo.json]`.
"""

import base64
import hashlib
import html
import http.server
import json
import secrets
import sys
import urllib.parse
from pathlib import Path
from typing import ClassVar

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Signed in</title>
<style>
body {{ color-scheme: light dark; font: 1rem/1.5 system-ui; margin: 2rem auto; max-width: 40rem; padding: 0 1rem }}
code {{ overflow-wrap: anywhere }}</style>
<h1>{title}</h1><p><code>{answer}</code></p><p>{next_step}</p></html>"""


class Callback(http.server.BaseHTTPRequestHandler):
    """The page that the redirect URL leads to. `answers`: the parameters of the one request that had our state."""

    state = secrets.token_urlsafe(16)
    answers: ClassVar[list[dict[str, str]]] = []

    def do_GET(self) -> None:
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        is_ours = answer.get("state") == self.state
        page = PAGE.format(
            title="You have signed in" if "code" in answer and is_ours else "No sign-in",
            answer=html.escape(answer.get("code") or answer.get("error", "The state of this address is unknown.")),
            next_step="This is the code. The terminal shows the command that exchanges it for tokens."
            if "code" in answer and is_ours
            else "Run the script again.",
        )
        self.send_response(200 if is_ours else 400)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())
        if is_ours:
            self.answers.append(answer)

    def log_message(self, *arguments: object) -> None:
        """The address holds a code: log nothing."""


def main(path: str = "var/demo.json") -> None:
    demo = json.loads(Path(path).read_text())
    app, user, base_url = demo["app"], demo["users"][0], demo["base_url"]
    verifier = secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    with http.server.HTTPServer(("127.0.0.1", 0), Callback) as server:  # a loopback redirect URL may have any port
        redirect_uri = f"http://127.0.0.1:{server.server_port}/callback"
        query = {
            "client_id": app["client_id"],
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": "openid identify offline_access",
            "state": Callback.state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        print(f"Open {base_url}/api/auth/oauth2/authorize?{urllib.parse.urlencode(query)}")
        print(f"Sign in as {user['username']} with the password {user['password']} and press Allow.", flush=True)
        while not Callback.answers:
            server.handle_request()
    answer = Callback.answers[0]
    if "code" not in answer:
        sys.exit(f"{answer['error']}: {answer.get('error_description', '')}")
    print(
        f"""
curl -u {app["client_id"]}:{app["client_secret"]} {base_url}/api/auth/oauth2/token \\
  -d grant_type=authorization_code -d code={answer["code"]} -d redirect_uri={redirect_uri} \\
  -d code_verifier={verifier}"""
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
