"""The systemd units in `deploy/`: what they start exists, and none of it runs with more rights than it needs."""

from __future__ import annotations

import configparser
import importlib
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from config.jobs import SCHEDULE

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
CONFINED = {
    "User": "id",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "SystemCallFilter": "@system-service",
}


def _service(unit: Path) -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parser.read(unit)
    return parser["Service"]


def test_each_process_has_its_unit() -> None:
    assert [unit.name for unit in UNITS] == [
        "id-backup.service",
        "id-events.service",
        "id-failed@.service",
        "id-gateway@.service",
        "id-jobs.service",
        "id-web.service",
    ]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_what_exists_and_starts_it_again(unit: Path) -> None:
    service = _service(unit)
    program, *arguments = service["ExecStart"].split()
    assert (service["Type"], service.get("Restart")) in {("exec", "always"), ("oneshot", None)}
    assert "ExecReload" not in service  # granian's loses requests
    if service["Type"] == "exec":
        assert service["RestartPreventExitStatus"] == "78"
    if arguments[:2] == ["-m", "config.serve"]:
        module, name = arguments[-1].split(":")
        assert "--respawn-failed-workers" in arguments
        assert callable(getattr(importlib.import_module(module), name))
    else:
        assert (program, arguments[0]) == ("/srv/id/.venv/bin/python", "manage.py")
        assert arguments[1] in get_commands()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_is_confined(unit: Path) -> None:
    service = _service(unit)
    assert {name: service[name] for name in CONFINED} == CONFINED


def test_the_timer_starts_a_backup_into_a_place_that_its_unit_may_write() -> None:
    timer = configparser.ConfigParser(interpolation=None)
    timer.read(DEPLOY / "systemd" / "id-backup.timer")
    assert timer["Timer"]["Persistent"] == "yes"
    service = _service(DEPLOY / "systemd" / "id-backup.service")
    assert service["ExecStart"].endswith(f"manage.py backup --keep 14 {service['ReadWritePaths']}")
    assert "\nOnFailure=id-failed@%n.service\n" in (DEPLOY / "systemd" / "id-backup.service").read_text()
    assert _service(DEPLOY / "systemd" / "id-failed@.service")["ExecStart"].endswith("manage.py report_failure %i")
    assert (
        f"install -d -o id -g id -m 700 {service['ReadWritePaths']} "
        in (DEPLOY.parent / "docs" / "operations.md").read_text()
    )


def test_the_event_streams_may_open_a_file_each() -> None:
    service = _service(DEPLOY / "systemd" / "id-events.service")
    assert int(service["LimitNOFILE"]) > 2 * int(service["Environment"].removeprefix("PRESENCE_STREAMS="))


def test_the_example_of_the_environment_names_documented_variables() -> None:
    documented = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", (DEPLOY.parent / "docs" / "configuration.md").read_text()))
    lines = (DEPLOY / "environment.example").read_text().splitlines()
    named = {line.partition("=")[0] for line in lines if not line.startswith("#")}
    assert named <= documented
    assert {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SIGNING_KEY_ENCRYPTION_KEYS", "BASE_URL"} <= named


def test_the_guide_names_each_job_in_its_table_and_in_the_list_for_cron() -> None:
    guide = (DEPLOY.parent / "docs" / "operations.md").read_text()
    table = guide[guide.index("\n## Jobs\n") :].partition("run_jobs")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", table) == list(SCHEDULE)
    assert set(re.findall(r"\bas_id (\w+)", guide[guide.index("* * * * *") :].partition("```")[0])) == set(SCHEDULE)


def test_a_command_by_hand_runs_as_the_units_do() -> None:
    service, script = _service(UNITS[0]), (DEPLOY / "as_id").read_text()
    assert f". {service['EnvironmentFile']}\n" in script
    assert f"cd {service['WorkingDirectory']}\n" in script
    assert script.endswith(f'exec runuser -u {service["User"]} -- .venv/bin/python manage.py "$@"\n')


def test_the_example_of_the_environment_says_the_same_to_systemd_and_to_a_shell() -> None:
    lines = [line for line in (DEPLOY / "environment.example").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Z_]+=([\w./:@-]*|'[^']*')", line)] == []
