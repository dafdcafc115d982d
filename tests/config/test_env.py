"""The environment is read loudly: what cannot be used stops the start with a sentence that names it."""

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import data_stores, env

READ: list[tuple[Callable[[], Any], str | None, Any]] = [
    (lambda: env.text("NAME"), "value", "value"),
    (lambda: env.text("NAME"), "  value  ", "value"),
    (lambda: env.text("NAME", "default"), None, "default"),
    (lambda: env.text("NAME", "default"), "", "default"),
    *[(lambda: env.flag("NAME", default=False), value, True) for value in ("1", "TRUE", " on ")],
    *[(lambda: env.flag("NAME", default=True), value, False) for value in ("0", "No")],
    (lambda: env.flag("NAME", default=True), " ", True),
    (lambda: env.flag("NAME", default=True), None, True),
    (lambda: env.flag("NAME", default=False), None, False),
    (lambda: env.integer("NAME", 8), None, 8),
    (lambda: env.integer("NAME", 8, at_most=12), "12", 12),
    (lambda: env.choice("NAME", "one", ("one", "two")), None, "one"),
    (lambda: env.choice("NAME", "one", ("one", "two")), " Two ", "two"),
    (lambda: env.base_url("NAME", ""), "https://cdn.example.org/a", "https://cdn.example.org/a"),
    (lambda: env.base_url("NAME", ""), None, ""),
    (lambda: env.words("NAME"), None, []),
    (lambda: env.words("NAME"), " a, b ,,c", ["a", "b", "c"]),
    (lambda: env.addresses("NAME"), None, []),
    (lambda: env.addresses("NAME"), "one:26379, [::1]:26380", [("one", 26379), ("::1", 26380)]),
    (lambda: env.hosts("NAME"), None, []),
    (
        lambda: env.hosts("NAME"),
        "ID.example.org, [::1]:8443,[::1],a:1",
        ["id.example.org", "[::1]:8443", "[::1]", "a:1"],
    ),
    *[
        (lambda: env.database_url("NAME"), url, url)
        for url in (
            "postgres://id:pa#ss@host:5432/id",
            "postgresql://id@one:5432,[::1]:5433/id?target_session_attrs=read-write",
            "postgres://id@one,two:5432,/id?sslmode=verify-full",
            "postgres://id@%2Frun%2Fpostgresql/id",
        )
    ],
    (lambda: env.origin("NAME", ""), "https://id.example.org", "https://id.example.org"),
    (lambda: env.origin("NAME", ""), "http://[::1]:8000", "http://[::1]:8000"),
    (lambda: env.origin("NAME", "http://127.0.0.1:8000"), None, "http://127.0.0.1:8000"),
]
REFUSED: list[tuple[Callable[[], Any], str | None, str]] = [
    *[
        (
            lambda: env.hosts("NAME"),
            f"one:8443,{value}",
            "NAME must be a list of hosts such as id.example.org,127.0.0.1:8443,[::1]:8443; " + f"{value!r} is none.",
        )
        for value in (
            "::1",
            "*",
            ".example.org",
            "example.org.",
            "https://a",
            "a:0",
            "a:65536",
            "a:b",
            "a b",
            ":80",
            "[1:::2]",
        )
    ],
    *[
        (
            lambda: env.database_url("NAME"),
            url,
            "NAME must be an address such as postgres://user:password@host/name (several hosts: host1,host2). "
            "In a password write @ as %40, / as %2F, : as %3A and % as %25.",
        )
        for url in (
            "mysql://id@host/id",
            "host/id",
            "postgres://id:pa/ss@host/id",  # its port would be `pa`
            "postgres://id:p@ss@host/id",
            "postgres://id:p%ss@host/id",
            "postgres://id@host/",
            "postgres://id@host:0/id",
            "postgres://id@host:65536/id",
            "postgres://id@host/id?nonsense=1",
        )
    ],
    (lambda: env.text("NAME"), None, "The environment variable NAME must be set."),
    (lambda: env.text("NAME"), "  ", "The environment variable NAME must be set."),
    (
        lambda: env.flag("NAME", default=True),
        "maybe",
        "NAME must be one of 1, true, yes, on, 0, false, no, off; it is 'maybe'.",
    ),
    (lambda: env.choice("NAME", "one", ("one", "two")), "three", "NAME must be one of one, two; it is 'three'."),
    *[
        (lambda: env.integer("NAME", 8), value, f"NAME must be a whole number; it is {value!r}.")
        for value in ("eight", "1.5")
    ],
    (lambda: env.integer("NAME", 8, at_most=12), "13", "NAME must be at most 12; it is 13."),
    (lambda: env.integer("NAME", 8, at_least=1), "0", "NAME must be at least 1; it is 0."),
    *[
        (
            lambda: env.addresses("NAME"),
            f"one:26379,{value}",
            f"NAME must be a list of host:port, with commas; {value!r} is none.",
        )
        for value in ("two", ":26379", "two:0", "two:65536", "two:port")
    ],
    *[
        (
            lambda: env.origin("NAME", ""),
            value,
            f"NAME must be an origin such as https://id.example.org; it is {value!r}.",
        )
        for value in (
            "id.example.org",
            "https://id.example.org/",
            "https://id.example.org/path",
            "ftp://id.example.org",
            "https://",
        )
    ],
]
# What a production start needs, and nothing more.
PRODUCTION = {
    "DATABASE_URL": "postgres://id@127.0.0.1/id",
    "REDIS_URL": "redis://127.0.0.1/0",
    "SECRET_KEY": "a-long-and-random-secret-key-of-the-tests",
    "SIGNING_KEY_ENCRYPTION_KEYS": "an-encryption-key",
    "BASE_URL": "https://id.example.org",
    "EDGE_CLIENT_ADDRESS_HEADER": "X-Client-Address",
}


@pytest.mark.parametrize(("read", "value", "expected"), READ)
def test_a_value_is_read(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], Any], value: str | None, expected: object
) -> None:
    _set(monkeypatch, value)
    assert read() == expected


@pytest.mark.parametrize(("read", "value", "sentence"), REFUSED)
def test_a_value_that_cannot_be_used_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], Any], value: str | None, sentence: str
) -> None:
    _set(monkeypatch, value)
    with pytest.raises(ImproperlyConfigured, match=f"^{re.escape(sentence)}$"):
        read()


def _set(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("NAME", raising=False)
    if value is not None:
        monkeypatch.setenv("NAME", value)


def _settings_with(environment: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    return _run(["-c", "from config import settings; print(settings.EMBEDDED)"], environment, directory)


def _run(arguments: list[str], environment: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    values = {"VAR_DIR": str(directory), **environment}
    return subprocess.run(
        [sys.executable, *arguments], env=values, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_production_start_with_everything_set_keeps_nothing_on_disk(tmp_path: Path) -> None:
    run = _settings_with(PRODUCTION, tmp_path)
    assert (run.returncode, run.stdout, list(tmp_path.iterdir())) == (0, "False\n", [])


def test_the_version_is_that_of_the_release(tmp_path: Path) -> None:
    run = _run(["manage.py", "version"], {}, tmp_path)
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert (run.returncode, run.stdout) == (0, f"{project['version']}\n")
    assert f"\n## {project['version']} (" in (root / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", ["SECRET_KEY", "SIGNING_KEY_ENCRYPTION_KEYS"])
def test_a_production_start_without_a_secret_stops_by_name(tmp_path: Path, name: str) -> None:
    others = {key: value for key, value in PRODUCTION.items() if key != name}
    run = _run(["manage.py", "migrate"], others, tmp_path)
    sentence = f"The environment variable {name} must be set. docs/configuration.md explains it.\n"
    assert (run.returncode, run.stdout, run.stderr) == (os.EX_CONFIG, "", sentence)


def test_mail_is_encrypted_in_one_way(tmp_path: Path) -> None:
    run = _run(["manage.py", "migrate"], {**PRODUCTION, "EMAIL_USE_TLS": "1", "EMAIL_USE_SSL": "1"}, tmp_path)
    assert run.returncode == os.EX_CONFIG
    assert run.stderr.startswith("Set EMAIL_USE_TLS (port 587) or EMAIL_USE_SSL (port 465), not both.")


def test_redis_cluster_is_refused(tmp_path: Path) -> None:
    run = _run(["manage.py", "migrate"], {**PRODUCTION, "REDIS_CLUSTER": "1"}, tmp_path)
    sentence = "REDIS_CLUSTER is no more: unset it, and name one Redis in REDIS_URL, or sentinels in REDIS_SENTINELS."
    assert (run.returncode, run.stderr) == (os.EX_CONFIG, f"{sentence} docs/configuration.md explains it.\n")
    assert _settings_with({**PRODUCTION, "REDIS_CLUSTER": "0"}, tmp_path).returncode == 0


@pytest.mark.parametrize(("demo", "simulated"), [("1", True), ("0", False)])
def test_only_the_demo_simulates_a_chat_platform(tmp_path: Path, demo: str, simulated: bool) -> None:
    print_it = "from config import settings; print(bool(settings.CHAT.simulator_port), bool(settings.CHAT.guild_id))"
    run = _run(["-c", print_it], {"DEMO": demo}, tmp_path)
    assert (run.returncode, run.stdout) == (0, f"{simulated} {simulated}\n")


def test_an_embedded_start_needs_nothing_and_keeps_its_secrets(tmp_path: Path) -> None:
    runs = [_settings_with({}, tmp_path / "var") for _ in range(2)]
    assert [(run.returncode, run.stdout) for run in runs] == [(0, "True\n")] * 2
    kept = json.loads((tmp_path / "var" / "secrets.json").read_text())
    assert sorted(kept) == ["chat_simulator", "secret_key", "signing_key_encryption_key"]


def test_a_directory_of_metrics_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for token, code in (("", 0), ("a-token", 1)):
        started = _settings_with({"METRICS_TOKEN": token, "METRICS_DIR": str(file)}, tmp_path)
        assert started.returncode == code
    assert f"METRICS_DIR: {file} cannot be written: " in started.stderr


def test_a_value_may_lie_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_text("a secret\n")
    monkeypatch.setenv("NAME_FILE", str(path))
    assert env.text("NAME") == "a secret"
    path.write_text("on")
    assert env.flag("NAME", default=False) is True
    path.write_text("")
    assert env.text("NAME", "default") == "default"
    monkeypatch.setenv("NAME", "a value")
    with pytest.raises(ImproperlyConfigured, match=r"^Set NAME or NAME_FILE, not both\.$"):
        env.text("NAME")
    monkeypatch.delenv("NAME")
    path.unlink()
    with pytest.raises(ImproperlyConfigured, match=r"^NAME_FILE must name a file that can be read: .*: No such file"):
        env.text("NAME")


def test_a_kept_secret_stays_the_same_and_is_long_and_private(tmp_path: Path) -> None:
    first, again, other = (env.kept_secret(name, tmp_path) for name in ("first", "first", "other"))
    assert first == again != other
    assert len(first) == 64
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_processes_that_start_at_once_agree_on_the_secret(tmp_path: Path) -> None:
    """Four processes wait for the same line; then each adds secrets and reads the common ones."""
    program = (
        "import sys; from pathlib import Path; from config import env\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(*[env.kept_secret(f'secret{number}', Path(sys.argv[1])) for number in range(20)])"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    runs = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    printed = {run.communicate(timeout=60) for run in runs}
    assert printed == {(" ".join(env.kept_secret(f"secret{number}", tmp_path) for number in range(20)) + "\n", "")}


def test_presence_in_redis_does_not_expire_by_itself_and_the_cache_does() -> None:
    options = data_stores.caches("redis://127.0.0.1/0")
    assert {name: cache.get("TIMEOUT", "default") for name, cache in options.items()} == {
        "default": "default",
        "presence": None,
        "pages": 3600,
    }
    assert [options[name]["KEY_PREFIX"] for name in ("default", "presence")] == ["cache", "chat"]


def test_presence_may_have_a_redis_of_its_own_which_no_sentinel_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_SENTINELS", "one:26379")
    caches = data_stores.caches("redis://node/0", data_stores.redis_options(), presence_url="redis://presence/0")
    locations = {name: cache["LOCATION"] for name, cache in caches.items()}
    assert locations == {"default": "redis://node/0", "presence": "redis://presence/0", "pages": "pages"}
    assert caches["presence"]["KEY_PREFIX"] == "chat"
    assert caches["presence"]["OPTIONS"] == data_stores.REDIS_OPTIONS


@pytest.mark.parametrize("is_pooled", [False, True])
def test_a_cursor_stays_on_the_server_unless_a_pooler_gives_each_transaction_another_connection(
    *, is_pooled: bool
) -> None:
    options = data_stores.postgresql({}, pool_size=0, are_prepared=True, is_pooled_by_transaction=is_pooled)
    assert options["DISABLE_SERVER_SIDE_CURSORS"] is is_pooled


@pytest.mark.parametrize(("given", "idle"), [({}, 10), ({"keepalives_idle": "60"}, "60")])
def test_a_connection_to_a_host_that_has_died_ends_soon_unless_its_url_says_when(
    given: dict[str, str], idle: object
) -> None:
    options = data_stores.postgresql(given, pool_size=0, are_prepared=True)["OPTIONS"]
    names = ("keepalives_idle", "keepalives_interval", "keepalives_count")
    assert tuple(options[name] for name in names) == (idle, 5, 3)


def test_sentinels_tell_where_the_primary_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_SENTINELS", "one:26379,two:26379")
    monkeypatch.setenv("REDIS_SENTINEL_PASSWORD", "of-the-sentinels")
    options = data_stores.redis_options()
    assert options["SENTINELS"] == [("one", 26379), ("two", 26379)]
    assert options["SENTINEL_KWARGS"] == {
        "socket_connect_timeout": 1,
        "socket_timeout": 1,
        "password": "of-the-sentinels",
    }
    caches = data_stores.caches("redis://mymaster/0", options)
    assert {caches[name]["OPTIONS"]["CONNECTION_FACTORY"] for name in ("default", "presence")} == {
        "django_redis.pool.SentinelConnectionFactory"
    }
