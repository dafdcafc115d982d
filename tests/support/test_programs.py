"""Programs that the tests install."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import programs

APT = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
  *update*) if [ "$(grep -c update {log})" -lt 3 ]; then
    echo "E: Could not get lock /var/lib/apt/lists/lock." >&2; exit 100
  fi ;;
esac
"""


def test_an_installation_waits_for_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LOCKED_PAUSE", 0.0)
    apt, log = tmp_path / "apt-get", tmp_path / "log"
    apt.write_text(APT.format(log=log))
    apt.chmod(0o700)
    programs._install(str(apt), ["nginx"])
    *updates, install = log.read_text().splitlines()
    assert updates == ["-qq update"] * 3
    assert install == "-qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends nginx"
