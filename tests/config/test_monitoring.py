"""Alerts, dashboard and runbook in `deploy/` and `docs/`: they name metrics, commands and units that exist."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands
from prometheus_client import REGISTRY, Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from config.observability import metrics

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
GROUPS = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"]}
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"}
OF_PROMETHEUS = {"le", "job", "instance"}  # labels that every series may have


def exported() -> dict[str, set[str]]:
    """The labels of each series that /metrics may have, by name."""
    importlib.import_module("config.web.wsgi")  # loads what defines metrics, as a server does
    series: dict[str, set[str]] = {}
    for metric in [*REGISTRY._collector_to_names]:
        if isinstance(metric, MetricWrapperBase):
            parts = {Counter: ("_total",), Histogram: ("_bucket", "_count", "_sum")}.get(type(metric), ("",))
            series |= {metric._name + part: set(metric._labelnames) for part in parts}
    for family in (*metrics.FAMILIES, metrics.PROCESSES):
        series[f"{family.name}_total" if family.only_grows else family.name] = set(family.labels)
    return series


def expressions() -> Iterator[tuple[str, str]]:
    """Each expression of an alert or a panel, with its name."""
    yield from ((name, rule["expr"]) for name, rule in ALERTS.items())
    for title, panel in PANELS.items():
        yield from ((title, target["expr"]) for target in panel["targets"])


@pytest.mark.parametrize(("name", "expression"), list(expressions()))
def test_an_expression_names_metrics_and_labels_that_are_exported(name: str, expression: str) -> None:
    series = exported()
    named = set(re.findall(r"\bhearth_\w+", expression))
    assert named <= series.keys()
    assert named or "up{" in expression
    known = OF_PROMETHEUS.union(*(series[each] for each in named))
    matched = {label for labels in re.findall(r"\{(.*?)\}", expression) for label in re.findall(r"(\w+)[=!]", labels)}
    grouped = {label.strip() for labels in re.findall(r"\bby \(([^)]*)\)", expression) for label in labels.split(",")}
    assert matched | grouped <= known


def test_each_metric_is_on_the_dashboard_or_in_an_alert() -> None:
    named = {name for _, expression in expressions() for name in re.findall(r"\bhearth_\w+", expression)}
    assert {name for name in exported() if not name.endswith("_sum")} <= named


def test_each_alert_has_its_heading_in_the_runbook_and_no_other_heading_is_there() -> None:
    assert re.findall(r"(?m)^## (\w+)$", RUNBOOK) == list(ALERTS)
    places = {name: rule["annotations"]["runbook"] for name, rule in ALERTS.items()}
    assert places == {name: f"docs/runbook.md#{name.lower()}" for name in ALERTS}


@pytest.mark.parametrize("name", ALERTS)
def test_a_heading_says_what_it_means_what_to_look_at_and_what_to_do(name: str) -> None:
    text = RUNBOOK.partition(f"## {name}\n")[2].partition("\n## ")[0]
    assert re.findall(r"(?m)^- \*\*(.*?)\*\*: .", text) == ["Meaning", "Look at", "Do"]


def test_the_runbook_names_commands_units_panels_and_headings_that_exist() -> None:
    text = " ".join(RUNBOOK.split())
    assert set(re.findall(r"manage\.py (\w+)", text)) <= get_commands().keys()
    units = {path.stem.rstrip("@") for path in (ROOT / "deploy" / "systemd").glob("*.service")}
    assert set(re.findall(r"\bid-[a-z]+", text)) <= units
    assert set(re.findall(r'the panel "([^"]+)"', text)) <= PANELS.keys()
    assert set(re.findall(r"\(#(\w+)\)", text)) <= {name.lower() for name in ALERTS}
