"""Markdown of the ready code for a sign-in, one choice for each stack. The code is that of the app's page Code."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.apps import code_samples
from dashboard.apps.code_samples import STACKS, Stack


def stacks() -> str:
    """Stacks in their order, but curl last: it is for a look at the requests, not for an app."""
    ordered = sorted(STACKS, key=lambda stack: stack.name == "curl")
    parts = [part for stack in ordered for part in _stack(stack)]
    return "\n\n".join([":::choices Your stack", *parts, ":::"])


def _stack(stack: Stack) -> Iterator[str]:
    yield f"### {stack.title}"
    yield f"```{stack.fence} {stack.file}\n{code_samples.open_code(stack).rstrip()}\n```"
    yield "\n".join(f"- {note}" for note in stack.notes)
    if stack.callback_path:
        url = f"{{{{ reader.origin }}}}{code_samples.own_callback(stack)}"
        yield f"Redirect URL to register: `{url}`, with your own host."
    yield stack.proof
