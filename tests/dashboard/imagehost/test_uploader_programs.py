"""Programs upload with the set-ups as they were downloaded: ShareX, Flameshot's script, curl."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from imagehost.models import File
from tests.dashboard.imagehost import sharex
from tests.dashboard.imagehost.desktop import Machine
from tests.dashboard.imagehost.uploader_setups import get, key_in, text_of
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.imagehost.uploading import png

pytestmark = [pytest.mark.django_db, pytest.mark.live]


@pytest.fixture
def service(transactional_db: None, live_server: LiveServer, settings: Settings) -> LiveServer:
    """The running service, which knows where it is found."""
    settings.BASE_URL = live_server.url
    settings.IMAGE_CDN_URL = f"{live_server.url}/media"
    return live_server


def opened(url: str) -> bytes:
    with urlopen(url, timeout=30) as answer:  # noqa: S310 - of the running service
        return bytes(answer.read())


def test_sharex_uploads_with_the_files_and_shows_what_was_wrong(
    service: LiveServer, browser: Client, user: User
) -> None:
    folder = FolderFactory(owner=user)
    FolderRuleFactory(folder=folder, kind="filename", pattern="SCREEN*")
    uploader = text_of(get(browser, "sharex"))
    for file_name, place in (("Screenshot 1.png", folder), ("Ünï 100%y {json:url}.PNG", None)):
        result = sharex.upload(uploader, file_name, png())
        file = File.objects.get()
        assert result.url == f"{service.url}/media/{file.file_name}"
        assert (file.owner, file.original_name, file.folder) == (user, file_name, place)
        assert (opened(result.url)[:8], result.thumbnail_url) == (png()[:8], "")
        assert result.deletion_url.startswith(f"{service.url}/files/{file.name}/delete/")
        assert b"<form" in opened(result.deletion_url)
        file.delete()
    with pytest.raises(sharex.Refused) as refusal:
        sharex.upload(uploader, "page.png", b"<html><script>alert(1)</script></html>")
    assert str(refusal.value) == (
        "File type not allowed. Allowed are png, jpeg, webp, gif, avif, mp4, webm and mov. (INVALID_MIME)"
    )


def test_sharex_uploads_with_the_file_of_the_earlier_form(service: LiveServer, browser: Client, user: User) -> None:
    result = sharex.upload(text_of(get(browser, "sharex-earlier")), "Screenshot.png", png())
    file = File.objects.get()
    assert (result.url, result.thumbnail_url) == (
        f"{service.url}/files/{file.name}",
        f"{service.url}/media/{file.file_name}",
    )
    assert file.file_name.encode() in opened(result.url)
    assert opened(result.thumbnail_url)[:8] == png()[:8]
    assert b"<form" in opened(result.deletion_url)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Where a screenshot can be taken, and copied under X11. It has no jq."""
    machine = Machine(tmp_path / "machine")
    (machine.home / "screen.png").write_bytes(png())
    machine.has("flameshot", f'[ "$*" = "gui --raw" ] && cat "{machine.home}/screen.png"')
    machine.has("xclip", f'[ "$*" = "-selection clipboard" ] && cat >"{machine.home}/clipboard"')
    return machine


def shoot(machine: Machine, browser: Client, **environment: str) -> subprocess.CompletedProcess[str]:
    script = machine.home / "flameshot-upload.sh"
    script.write_bytes(get(browser, "flameshot").content)
    done = machine.run("/bin/sh", str(script), **environment)
    assert list(machine.temporary.iterdir()) == []
    return done


@pytest.mark.parametrize("has_jq", [True, False])
def test_flameshot_uploads_and_copies_the_link(
    service: LiveServer, browser: Client, user: User, machine: Machine, has_jq: bool
) -> None:
    if has_jq:
        machine.has_jq()
    done = shoot(machine, browser)
    file = File.objects.get()
    link = f"{service.url}/media/{file.file_name}"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{link}\n", f"Copied: {link}\n")
    assert machine.clipboard == link
    assert (machine.home / "asked-jq").exists() is has_jq
    assert file.owner == user
    assert re.fullmatch(r"flameshot-\d{8}-\d{6}\.png", file.original_name)


@pytest.mark.parametrize(
    ("name", "script", "environment"),
    [
        ("wl-copy", '[ "$*" = "" ] && cat >"$HOME/clipboard"', {"WAYLAND_DISPLAY": "wayland-0"}),
        ("xsel", '[ "$*" = "--clipboard --input" ] && cat >"$HOME/clipboard"', {}),
    ],
)
def test_the_link_is_copied_with_what_there_is(
    service: LiveServer, browser: Client, machine: Machine, name: str, script: str, environment: dict[str, str]
) -> None:
    if name == "xsel":
        machine.lacks("xclip")
    machine.has(name, script)
    done = shoot(machine, browser, **environment)
    assert machine.clipboard == done.stdout.strip()
    assert done.stderr == f"Copied: {machine.clipboard}\n"


def test_without_a_clipboard_that_works_the_link_is_printed(
    service: LiveServer, browser: Client, machine: Machine
) -> None:
    machine.lacks("xclip")
    machine.has("notify-send", 'printf "%s|" "$@" >"$HOME/notified"')
    for script in ("", "exit 1"):
        if script:
            machine.has("xclip", script)
        done = shoot(machine, browser)
        link = done.stdout.strip()
        assert (done.returncode, done.stderr) == (0, f"Uploaded: {link}\n")
        assert link.endswith(File.objects.latest("uploaded_at").file_name)
        assert (machine.home / "notified").read_text() == f"Screenshot|Uploaded: {link}|"


def test_nothing_is_sent_when_nothing_was_chosen(browser: Client, machine: Machine) -> None:
    machine.lacks("curl")
    machine.has("curl", 'touch "$HOME/sent"')
    for script in ("exit 1", "echo 'screenshot aborted'"):
        machine.lacks("flameshot")
        machine.has("flameshot", script)
        done = shoot(machine, browser)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (machine.home / "sent").exists()


def test_an_upload_that_fails_says_why(
    service: LiveServer, browser: Client, machine: Machine, settings: Settings
) -> None:
    (machine.home / "screen.png").write_bytes(png()[:20])
    done = shoot(machine, browser)
    assert (done.returncode, done.stdout, machine.clipboard) == (1, "", None)
    assert done.stderr.startswith("The upload failed (400): File type not allowed.")
    settings.BASE_URL = "http://127.0.0.1:1"  # no server listens there
    done = shoot(machine, browser)
    assert (done.returncode, done.stdout, machine.clipboard) == (1, "", None)
    assert done.stderr.endswith("The upload failed: no answer from http://127.0.0.1:1/api/imagehost/upload.\n")


def test_the_key_is_in_no_commands_arguments(service: LiveServer, browser: Client, machine: Machine) -> None:
    real = str(shutil.which("curl"))
    machine.lacks("curl")
    machine.has("curl", f'printf "%s " "$@" >"$HOME/arguments"\nexec {real} "$@"')
    assert shoot(machine, browser).returncode == 0
    secret = key_in((machine.home / "flameshot-upload.sh").read_text())
    arguments = (machine.home / "arguments").read_text()
    assert ("--header @- " in arguments, secret in arguments) == (True, False)


def test_curl_uploads_with_the_lines_as_they_stand(
    service: LiveServer, browser: Client, user: User, machine: Machine
) -> None:
    (machine.home / "picture.png").write_bytes(png())
    done = machine.run("/bin/sh", "-c", text_of(get(browser, "curl")))
    file = File.objects.get()
    body = json.loads(done.stdout)
    assert (body["ok"], body["url"]) == (True, f"{service.url}/media/{file.file_name}")
    assert (file.owner, file.original_name) == (user, "picture.png")
    kept = machine.home / ".imagehost-upload-key"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
