"""The zygote has loaded all that a child imports: a confined child opens no file, so an import in it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.dashboard.profile import sounds_and_fonts
from tests.imagehost import media_corpus

ROOT = Path(__file__).parents[2]
PROBE, SOUND, FONT = {"task": "probe"}, {"task": "sound"}, {"task": "font"}

CHILDREN = """
import json, os, socket, sys
from imagehost.examining.prober import tasks, wire

class Searches:
    found = []
    def find_spec(self, name, path=None, target=None):
        self.found.append(name)

def searched(path, request):
    reader, writer = os.pipe()
    if os.fork() == 0:
        ours, theirs = socket.socketpair()
        sys.meta_path.insert(0, Searches())
        ours.sendall(wire.line(request))
        try:
            tasks.serve(os.open(path, os.O_RDWR), theirs)
        except BaseException as error:
            Searches.found.append(repr(error))
        os.write(writer, json.dumps(Searches.found).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as output:
        return json.load(output)

tasks.warm_up()
tasks.confinement.keep_to_video_memory = lambda: None
print(json.dumps({f"{name} {request}": searched(name, request) for name, request in json.load(sys.stdin)}))
"""


def requests(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A file and what a child is to do with it."""
    for name in (*media_corpus.TAKEN_NAMES, *media_corpus.REFUSED_NAMES):
        sample = media_corpus.sample(name)
        path = folder / name
        path.write_bytes(sample.content)
        yield str(path), PROBE
        if sample.mime:
            for form in ("WEBP", "PNG"):
                yield (
                    str(path),
                    {"task": "render", "mime": sample.mime, "longest_side": 64, "as": form, "only_whole": False},
                )
    sounds = {name: sounds_and_fonts.sound(name) for name in sounds_and_fonts.SOUNDS}
    fonts = {"ttf": sounds_and_fonts.plain_font(), "woff": sounds_and_fonts.woff(), "woff2": sounds_and_fonts.woff2()}
    for request, files in ((SOUND, sounds), (FONT, fonts)):
        for name, content in files.items():
            path = folder / name
            path.write_bytes(content)
            yield str(path), request


def test_a_child_imports_nothing(tmp_path: Path) -> None:
    asked = list(requests(tmp_path))
    ran = subprocess.run(  # our own script
        [sys.executable, "-c", CHILDREN],
        cwd=ROOT,
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    searched = json.loads(ran.stdout)
    assert len(searched) == len(asked)
    assert {name: modules for name, modules in searched.items() if modules} == {}
