"""The image, the compose file and the manifests in `deploy/`: what they name exists, and none has a right to spare."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from config import healthcheck

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())  # Any: what YAML holds, here and below
OURS = {name: service for name, service in COMPOSE["services"].items() if service.get("image") == "hearth:1"}
MANIFESTS: list[dict[str, Any]] = [
    manifest
    for path in sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
    for manifest in yaml.safe_load_all(path.read_text())
    if manifest["kind"] not in {"Kustomization", "Component"}
]
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
PODS = {
    manifest["metadata"]["name"]: manifest["spec"]["template"]["spec"]
    for manifest in MANIFESTS
    if manifest["kind"] in {"Deployment", "Job"}
} | {
    manifest["metadata"]["name"]: manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    for manifest in MANIFESTS
    if manifest["kind"] == "CronJob"
}
SERVED = ("web", "events")


def _documented() -> set[str]:
    return set(re.findall(r"`([A-Z][A-Z0-9_]+)`", (ROOT / "docs" / "configuration.md").read_text()))


def _image_command() -> list[str]:
    (command,) = re.findall(r"(?m)^CMD (\[.*\])$", DOCKERFILE)
    return list(json.loads(command))


def _commands() -> dict[str, list[str]]:
    """What each container of ours starts."""
    compose = {f"compose {name}": service.get("command", _image_command()) for name, service in OURS.items()}
    pods = {f"pod {name}": pod["containers"][0].get("command", _image_command()) for name, pod in PODS.items()}
    return {"image": _image_command()} | compose | pods


@pytest.mark.parametrize("name", _commands())
def test_a_container_starts_what_exists(name: str) -> None:
    command = _commands()[name]
    if command[:3] == ["python", "-m", "config.serve"]:
        module, variable = command[-1].split(":")
        assert callable(getattr(importlib.import_module(module), variable))
        assert "--respawn-failed-workers" in command
    else:
        words = shlex.split(command[-1]) if command[:2] == ["sh", "-c"] else command
        asked = [words[place + 1] for place, word in enumerate(words) if word == "manage.py"]
        assert asked
        assert set(asked) <= {*get_commands(), "shell"}


@pytest.mark.parametrize(
    ("unit", "name"), [("id-web", "image"), ("id-events", "compose events"), ("id-events", "pod events")]
)
def test_containers_serve_as_the_systemd_units_do(unit: str, name: str) -> None:
    (line,) = re.findall(
        r"(?m)^ExecStart=/srv/id/.venv/bin/(.*)$", (DEPLOY / "systemd" / f"{unit}.service").read_text()
    )
    assert _commands()[name] == line.replace("127.0.0.1", "0.0.0.0").replace("8001", "8000").split()  # noqa: S104


def test_the_image_holds_the_apps_and_nothing_that_is_for_trying_them() -> None:
    first, *kept = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in {"#", ""}]
    assert first == "*"
    assert {line.removeprefix("!") for line in kept if line.startswith("!")} == {
        *("accounts", "config", "dashboard", "imagehost", "infrastructure", "lookup", "oidc_provider", "presence"),
        *("static", "templates", "manage.py", "pyproject.toml", "requirements.lock", "requirements-observability.lock"),
    }


def test_the_image_installs_what_the_lock_says_and_runs_without_rights() -> None:
    assert "--no-deps --require-hashes -r ${LOCK}" in DOCKERFILE
    assert re.findall(r"(?m)^ARG LOCK=(.*)$", DOCKERFILE) == ["requirements.lock"]
    assert re.findall(r"(?m)^USER (.*)$", DOCKERFILE) == ["10001:10001"]
    assert not re.findall(r"(?m)^ENV .*(SECRET|PASSWORD|KEY)", DOCKERFILE)
    (check,) = re.findall(r"HEALTHCHECK .*CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert json.loads(check) == ["python", "-m", healthcheck.__name__]


@pytest.mark.parametrize("name", [*OURS, "redis", "nginx"])
def test_a_container_of_the_compose_file_is_confined(name: str) -> None:
    service = COMPOSE["services"][name]
    assert (service["read_only"], service["cap_drop"], service["security_opt"]) == (
        True,
        ["ALL"],
        ["no-new-privileges:true"],
    )
    assert not service["user"].startswith("0")


def test_only_nginx_has_ports_outside() -> None:
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["nginx"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}


@pytest.mark.parametrize("name", OURS)
def test_a_container_of_ours_gets_the_environment_and_starts_after_the_migration(name: str) -> None:
    service = OURS[name]
    assert service["env_file"] == ".env"
    assert {variable.removesuffix("_FILE") for variable in service["environment"]} <= _documented()
    # What is secret is a file, which `docker inspect` does not show.
    files = {v for k, v in service["environment"].items() if k.endswith("_FILE")}
    assert files == {f"/run/secrets/{secret}" for secret in service["secrets"]}
    assert not {"DATABASE_URL", "SECRET_KEY", "EMAIL_HOST_PASSWORD"} & service["environment"].keys()
    if name not in {"migrate", "bucket", "backup"}:
        assert service["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_nginx_of_the_compose_file_replaces_every_example() -> None:
    rewritten = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text())
    script = COMPOSE["services"]["nginx"]["command"][-1]
    for pattern, new in re.findall(r'-e "s\|(.*?)\|(.*?)\|g?"', script):
        assert pattern in rewritten
        rewritten = rewritten.replace(pattern, new)
    assert (
        re.findall(
            r"\b[A-Z]+[./][A-Z./]+\b|(?<!\$)\b[A-Z]{5,}\b",
            rewritten.replace("FILE_TOO_LARGE", "").replace("HOSTNAME_OF_SITE", ""),
        )
        == []
    )
    assert "127.0.0.1" not in rewritten


def test_the_example_for_compose_has_what_is_asked_for() -> None:
    lines = (DEPLOY / "compose.env.example").read_text().splitlines()
    given = {line.partition("=")[0] for line in lines if not line.startswith("#")}
    asked = set(re.findall(r"\$\{([A-Z0-9_]+)", (DEPLOY / "compose.yaml").read_text()))
    assert asked <= given <= asked | _documented()


def test_each_secret_is_a_file_that_the_guide_makes() -> None:
    used = {secret for service in COMPOSE["services"].values() for secret in service.get("secrets", ())}
    assert COMPOSE["secrets"] == {name: {"file": f"secrets/{name}"} for name in used}
    guide = (ROOT / "docs" / "installation.md").read_text()
    made = guide[guide.index("install -d -m 700 secrets") : guide.index("chmod 444")]
    assert used == {word for word in re.findall(r"[a-z0-9_]+", made) if word in used}


def test_images_of_others_can_be_pinned_by_digest() -> None:
    images = {name: service["image"] for name, service in COMPOSE["services"].items() if name not in OURS}
    for image in images.values():
        variable, default = re.findall(r"^\$\{(\w+_IMAGE):-(.*)\}$", image)[0]
        assert f"\n{variable}={default}\n" in f"\n{(DEPLOY / 'compose.env.example').read_text()}"


def test_every_container_that_serves_says_how_it_is() -> None:
    for name in ("postgres", "redis", "nginx"):
        assert COMPOSE["services"][name]["healthcheck"]["test"][0] == "CMD"


def test_nginx_of_the_compose_file_starts_again_with_what_it_leads_to() -> None:
    needs = COMPOSE["services"]["nginx"]["depends_on"]
    assert needs == {name: {"condition": "service_healthy", "restart": True} for name in SERVED}


def test_the_configuration_of_pods_names_documented_variables() -> None:
    (configuration,) = [manifest["data"] for manifest in MANIFESTS if manifest["kind"] == "ConfigMap"]
    assert configuration.keys() <= _documented()
    secrets = re.findall(
        r"\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b",
        (DEPLOY / "kubernetes" / "configuration.yaml").read_text().partition("apiVersion")[0],
    )
    assert {"DATABASE_URL", "SECRET_KEY", "SIGNING_KEY_ENCRYPTION_KEYS"} <= set(secrets) <= _documented()


@pytest.mark.parametrize("name", PODS)
def test_a_pod_keeps_to_the_restricted_profile(name: str) -> None:
    pod = PODS[name]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    written = {"/var/lib/id", "/tmp", *(["/var/backups/id"] if name == "backup" else [])}  # noqa: S108
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == written
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert container["resources"].keys() == {"requests", "limits"}


def test_a_cluster_without_a_chat_server_has_no_gateway() -> None:
    """It would end at once, again and again."""
    in_base = [yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text()) for name in KUSTOMIZATION["resources"]]
    assert "gateway" not in {manifest["metadata"]["name"] for manifests in in_base for manifest in manifests}
    component = yaml.safe_load((DEPLOY / "kubernetes" / "gateway" / "kustomization.yaml").read_text())
    assert (component["kind"], component["resources"]) == ("Component", ["gateway.yaml"])
    (patch,) = [yaml.safe_load(each["patch"]) for each in component["patches"]]
    assert (patch["kind"], patch["data"]) == ("ConfigMap", {"CHAT_GUILD_ID": "GUILD"})


def test_each_release_has_a_migration_job_of_its_own() -> None:
    (job,) = [each for each in MANIFESTS if each["kind"] == "Job"]
    (name,) = [each for each in KUSTOMIZATION["replacements"] if each["targets"][0]["select"]["kind"] == "Job"]
    assert name["source"]["fieldPath"] == "spec.template.spec.containers.0.image"
    (target,) = name["targets"]
    assert target["select"]["name"] == job["metadata"]["name"] == "migrate-RELEASE"
    assert (target["fieldPaths"], target["options"]) == (["metadata.name"], {"delimiter": "-", "index": 1})


def test_the_ingress_takes_bodies_and_connections_as_nginx_does() -> None:
    prefix = "nginx.ingress.kubernetes.io/"
    taken = {
        (rule["path"], each["metadata"]["annotations"][f"{prefix}proxy-body-size"])
        for each in MANIFESTS
        if each["kind"] == "Ingress"
        for rule in each["spec"]["rules"][0]["http"]["paths"]
    }
    nginx = (DEPLOY / "nginx.conf").read_text()
    small, uploads, profiles, _none = re.findall(r"client_max_body_size (\w+);", nginx)
    assert taken == {
        ("/", small),
        ("/metrics$", small),
        ("/api/lookup/presence/([^/]*/)?events$", small),
        ("/api/imagehost/upload$", uploads),
        ("/dashboard/imagehost/upload/", uploads),
        ("/dashboard/profile/", profiles),
    }
    for each in MANIFESTS:
        if each["kind"] == "Ingress":
            is_streams = each["spec"]["rules"][0]["http"]["paths"][0]["path"].endswith("events$")
            most = int(each["metadata"]["annotations"][f"{prefix}limit-connections"])
            assert most == 500 if is_streams else most <= 200


@pytest.mark.parametrize("name", SERVED)
def test_a_probe_asks_as_the_edge_proxy_does(name: str) -> None:
    (configuration,) = [manifest["data"] for manifest in MANIFESTS if manifest["kind"] == "ConfigMap"]
    (container,) = PODS[name]["containers"]
    asked = {kind: container[kind]["httpGet"] for kind in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert [each["path"] for each in asked.values()] == ["/healthz", "/readyz/host", "/healthz"]
    # The header is named once, in the configuration, and put in here by the kustomization.
    assert [each["httpHeaders"] for each in asked.values()] == [[{"name": "CLIENT-ADDRESS", "value": "127.0.0.1"}]] * 3
    (header,) = [each for each in KUSTOMIZATION["replacements"] if each["source"]["kind"] == "ConfigMap"]
    assert header["source"]["fieldPath"] == "data.EDGE_CLIENT_ADDRESS_HEADER"
    assert configuration["EDGE_CLIENT_ADDRESS_HEADER"] == "X-Real-IP"
    (target,) = [each for each in header["targets"] if each["select"] == {"kind": "Deployment", "name": name}]
    names = [f"spec.template.spec.containers.0.{kind}.httpGet.httpHeaders.0.name" for kind in asked]
    assert target["fieldPaths"] == names
    # A pod is out of service long before it is restarted.
    seconds = {
        kind: container[kind]["periodSeconds"] * container[kind]["failureThreshold"]
        for kind in ("readinessProbe", "livenessProbe")
    }
    assert seconds == {"readinessProbe": 15, "livenessProbe": 300}
    assert container["livenessProbe"]["timeoutSeconds"] == 30  # requests wait in line for a thread


def test_an_update_of_the_web_takes_no_pod_away_before_another_is_ready() -> None:
    (web,) = [each for each in MANIFESTS if (each["kind"], each["metadata"]["name"]) == ("Deployment", "web")]
    assert web["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert "replicas" not in web["spec"]  # the autoscaler's


def test_one_pod_of_each_deployment_survives_the_drain_of_a_node() -> None:
    budgets = {each["metadata"]["name"]: each["spec"] for each in MANIFESTS if each["kind"] == "PodDisruptionBudget"}
    deployments = {each["metadata"]["name"] for each in MANIFESTS if each["kind"] == "Deployment"}
    assert budgets == {name: {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}} for name in deployments}


def test_the_autoscaler_leaves_connections_of_the_database_free() -> None:
    (scaler,) = [each["spec"] for each in MANIFESTS if each["kind"] == "HorizontalPodAutoscaler"]
    command = _image_command()
    threads = [int(command[command.index(name) + 1]) for name in ("--workers", "--blocking-threads")]
    of_a_pod = threads[0] * threads[1] + 2  # for /readyz
    background = 2 * 3 + 2  # run_jobs and gateway workers
    assert (scaler["maxReplicas"] + 1) * of_a_pod + background < 100 - 3  # one more in an update; PostgreSQL's default


def test_the_guide_names_what_exists() -> None:
    guide = (ROOT / "docs" / "installation.md").read_text()
    commands = set(re.findall(r"(?:as_id|manage\.py) ([a-z_]+)", guide))
    assert commands <= get_commands().keys()
    assert {"check", "migrate", "collectstatic", "signing_keys", "create_operator", "doctor"} <= commands
    for path in re.findall(r"deploy/[\w./-]+\w", guide):
        assert (ROOT / path).exists(), path


class TestHealthcheck:
    def test_it_asks_by_the_name_of_the_service_and_with_its_header(
        self, live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.EDGE_CLIENT_ADDRESS_HEADER = "X-Client-Address"
        monkeypatch.setattr("sys.argv", ["healthcheck", live_server.url.rpartition(":")[2]])
        monkeypatch.setattr(healthcheck, "SECONDS", 60)  # the first request loads every page
        monkeypatch.setenv("BASE_URL", "https://id.example.org")
        assert healthcheck.main() == 1
        monkeypatch.setenv("EDGE_CLIENT_ADDRESS_HEADER", "X-Client-Address")
        assert healthcheck.main() == 0

    def test_a_server_that_does_not_answer_is_not_well(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.argv", ["healthcheck", "1"])
        assert healthcheck.main() == 1
        assert capsys.readouterr().err == "No answer: [Errno 111] Connection refused\n"


@pytest.mark.parametrize(("name", "port"), [("web", 8000), ("events", 8000), ("jobs", 9100), ("gateway", 9100)])
def test_each_pod_that_counts_is_scraped_where_it_serves(name: str, port: int) -> None:
    (deployment,) = [e for e in MANIFESTS if (e["kind"], e["metadata"]["name"]) == ("Deployment", name)]
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"prometheus.io/scrape": "true", "prometheus.io/port": str(port)}
    (container,) = PODS[name]["containers"]
    assert [each["containerPort"] for each in container["ports"]] == [port]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    if name not in SERVED:
        variables = {each["name"]: each["value"] for each in container["env"]}
        assert variables == {"METRICS_PORT": str(port), "METRICS_HOST": "0.0.0.0"}  # noqa: S104
        assert variables.keys() <= _documented()


def test_the_namespace_of_prometheus_reaches_every_port_of_metrics() -> None:
    (policy,) = [e["spec"] for e in MANIFESTS if e["metadata"]["name"] == "from-monitoring"]
    (rule,) = policy["ingress"]
    assert {each["port"] for each in rule["ports"]} == {8000, 9100}


def test_a_backup_has_the_programs_of_the_server_and_a_place_that_it_may_write() -> None:
    (version,) = re.findall(r"(?m)^ARG POSTGRESQL=(\d+)$", DOCKERFILE)
    assert f":-postgres:{version}-" in COMPOSE["services"]["postgres"]["image"]
    assert '"postgresql-client-${POSTGRESQL}"' in DOCKERFILE.rpartition("\nFROM ")[2]
    place = _commands()["compose backup"][-1]
    assert f"install -d -o id -g id -m 0700 {place}" in DOCKERFILE
    assert _commands()["compose backup"] == _commands()["pod backup"]
    assert f"backups:{place}" in OURS["backup"]["volumes"]
    assert "backups" in COMPOSE["volumes"]
    assert "migrate" not in OURS["backup"]["depends_on"]  # a backup comes before an update
    (claim,) = [each for each in MANIFESTS if each["kind"] == "PersistentVolumeClaim"]
    assert {"name": "backups", "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}} in PODS["backup"][
        "volumes"
    ]
