"""What a case found, and how it is kept: JSON, a table in Markdown, a chart."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks import chart
from benchmarks.bench import OURS, ROOT, Sample
from benchmarks.targets import TARGETS

FOLDER = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Line:
    """One load on one server."""

    load: str
    server: str
    sample: Sample


@dataclass(frozen=True)
class Finding:
    """A figure that `targets.TARGETS` names."""

    target: str
    value: float

    def text(self) -> str:
        target = TARGETS[self.target]
        floor = "" if target.floor is None else f", floor {target.floor:g}"
        verdict = target.verdict(self.value).upper()
        return f"{target.title}: {self.value:.3g} {target.unit} (goal {target.goal:g}{floor}): {verdict}"


@dataclass
class Result:
    """Of one case on one engine. `notes`: figures without a target, in sentences."""

    case: str
    engine: str
    members: int
    lines: list[Line] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, load: str, samples: dict[str, Sample]) -> None:
        self.lines += [Line(load, server, sample) for server, sample in samples.items()]

    def compare(self, target: str, samples: dict[str, Sample], peer: str) -> None:
        """Our requests/s to those of the peer."""
        self.find(target, samples[OURS].rate / samples[peer].rate)

    def compare_by_processor(self, target: str, samples: dict[str, Sample], peer: str) -> None:
        """Our requests for each second of processor time, of all three processes, to those of the peer."""
        self.find(target, samples[peer].processor / samples[OURS].processor)

    def find(self, target: str, value: float) -> None:
        self.findings.append(Finding(target, value))

    @property
    def title(self) -> str:
        return f"{self.case} on {self.engine}" + (f", {self.members:,} members" if self.members else "")

    def table(self) -> str:
        """In Markdown."""
        rows = [f"# {self.title}", ""]
        if self.lines:
            head = (
                *("load", "server", "requests/s", "p50 ms", "p99 ms", "web µs", "PostgreSQL µs", "Redis µs"),
                *("ours to it", "by processor time"),
            )
            rows += [_row(head), _row(["---"] * len(head)), *map(self._row, self.lines), ""]
        rows += [f"- {finding.text()}" for finding in self.findings]
        rows += [f"- {note}" for note in self.notes]
        return "\n".join(rows).rstrip() + "\n"

    def _row(self, line: Line) -> str:
        one = line.sample
        ours = next((other.sample for other in self.lines if other.load == line.load and other.server == OURS), None)
        ratios = ("", "")
        if ours is not None:
            ratios = (f"{ours.rate / one.rate:.2f}", f"{one.processor / ours.processor:.2f}")
        costs = (f"{cost:.0f}" for cost in (one.web, one.postgres, one.redis))
        return _row((line.load, line.server, f"{one.rate:,.0f}", f"{one.p50:.2f}", f"{one.p99:.2f}", *costs, *ratios))

    def write(self, folder: Path = FOLDER) -> None:
        """Three files, in the place of those of an earlier run."""
        folder.mkdir(exist_ok=True)
        name = f"{self.case}-{self.engine}".lower().replace(" ", "-")
        fields = {"measured": circumstances(), **asdict(self)}
        (folder / f"{name}.json").write_text(json.dumps(fields, indent=1, default=str) + "\n")
        (folder / f"{name}.md").write_text(self.table())
        if self.lines:
            bars = [(f"{line.load}: {line.server}", line.sample.rate, line.server == OURS) for line in self.lines]
            (folder / f"{name}.svg").write_text(chart.bars(f"{self.title}: requests/s", bars))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def circumstances() -> dict[str, str]:
    """Which code was measured, and on what."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - the git of the developer
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    return {"commit": commit, "python": platform.python_version(), "machine": platform.machine()}
