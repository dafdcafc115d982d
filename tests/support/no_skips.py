"""A pytest plugin: a test that was skipped or is expected to fail counts as a failure."""

from collections.abc import Generator
from typing import Any

import pytest


def _refuse_skip(report: Any) -> None:
    """A test that was skipped or expected to fail proves nothing: it fails. pytest keeps `wasxfail` on the report."""
    if report.skipped:
        reason = getattr(report, "wasxfail", report.longrepr)
        vars(report).pop("wasxfail", None)
        report.outcome, report.longrepr = "failed", f"Skipped, which this suite does not allow: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report
