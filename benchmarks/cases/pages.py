"""Dashboard, filled profile page and documentation: processor time of a page, profile pages a second; and the bytes of
a first view in a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from playwright.sync_api import Browser

from benchmarks import load
from benchmarks.bench import ROOT, Bench, BenchError, Contender, Running, always
from benchmarks.engines import ADDRESS_HEADER
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result
from tests.browser import chromium
from tests.support import programs

READER = {ADDRESS_HEADER: "10.1.2.3"}
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("pages", "PostgreSQL", bench.members)
    contender = bench.ours(BASE_URL="http://127.0.0.1:{port}")
    values = {**bench.environment, "BASE_URL": "http://127.0.0.1:8000"}
    bench.manage("collectstatic", "--noinput", "--verbosity", "0", environment=values)
    reader = _reader(contender)
    pages = {"dashboard": reader["dashboard"], "profile": f"/{reader['filled']}", "docs": "/docs"}
    programs.found("chromium")
    with bench.running(contender) as (one,), chromium.running() as browser:
        for name, path in pages.items():
            cookie = reader["cookie"] if name == "dashboard" else ""
            file = bench.directory / f"page-{name}"
            load.write(file, _requests(path, one.port, cookie, population.addresses))
            samples = bench.compare([one], always(Load(file, bench.seconds / 2, connections=1)))
            result.add(f"{name}, one reader", samples)
            result.find(f"page-{name}", samples[one.name].web / 1000)
            if name == "profile":
                samples = bench.compare([one], always(Load(file, bench.seconds)))
                result.add(f"{name}, {load.CONNECTIONS} visitors at once", samples)
                result.find("profile-rate", samples[one.name].rate)
            bytes_, requests = _weight(browser, one, path, cookie)
            result.find(f"weight-{name}", bytes_ / 1000)
            result.notes.append(f"first view of {path}: {requests} requests")
    yield result


def _requests(path: str, port: int, cookie: str, addresses: list[str]) -> list[bytes]:
    """Requests of a browser from each address: of a profile, each is a view that counts."""
    headers = {"Host": f"127.0.0.1:{port}", "User-Agent": BROWSER, "Accept-Encoding": "gzip, br"}
    headers |= {"Cookie": cookie} if cookie else {}
    return [load.request(path, headers={**headers, ADDRESS_HEADER: address}) for address in addresses]


def _reader(contender: Contender) -> dict[str, str]:
    """The cookie of a user who is signed in, the dashboard's path, and the name of a filled profile with comments."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.page_session"],
        cwd=ROOT,
        env={**contender.environment, "BASE_URL": "http://127.0.0.1:8000"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchError(f"No session could be made:\n{done.stderr[-3000:]}")
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def _weight(browser: Browser, one: Running, path: str, cookie: str) -> tuple[float, int]:
    """Bytes over the wire, heads included, and requests of a browser that has nothing in its cache."""
    url = f"http://127.0.0.1:{one.port}"
    context = browser.new_context(extra_http_headers=READER)
    try:
        if cookie:
            name, _, value = cookie.partition("=")
            context.add_cookies([{"name": name, "value": value, "url": url}])
        page = context.new_page()
        lengths: list[float] = []
        session = context.new_cdp_session(page)
        session.on("Network.loadingFinished", lambda event: lengths.append(event["encodedDataLength"]))
        session.send("Network.enable")
        answer = page.goto(url + path, wait_until="networkidle")
        if answer is None or answer.status != 200:
            raise BenchError(f"{path} is answered {answer.status if answer else 'nothing'}")
        return sum(lengths), len(lengths)
    finally:
        context.close()
