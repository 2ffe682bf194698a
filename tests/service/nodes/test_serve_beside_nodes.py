"""`serve` with the state on several machines is one more node: nothing is crawled twice, and it shows what all do."""

from __future__ import annotations

import subprocess
from typing import Any

import httpx
import pytest
from support.machines import PAGES, Machines
from support.started import address
from support.until import until

pytestmark = [pytest.mark.servers, pytest.mark.processes]


class Service:
    """A service among nodes, asked by its API."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        made = machines.workspace("s").command("token", "create", "me", "--role", "administrator")
        self.token = made.out.strip()
        self.process: subprocess.Popen[str] = machines.start("s", "serve", "--port", "0")
        self.url = address(machines.log_file("s"), self.process)

    def ask(self, method: str, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = httpx.request(
            method, f"{self.url}/api/v1{path}", headers=headers, timeout=100, trust_env=False
        )
        assert answer.is_success, answer.text
        return answer.json()

    def status(self, schedule: str) -> str:
        (shown,) = (one for one in self.ask("GET", "/schedules")["schedules"] if one["name"] == schedule)
        return str(shown["status"])


def test_serve_shares_due_crawls_with_a_node_and_each_starts_once(machines: Machines) -> None:
    service = Service(machines)
    a = machines.start("a")
    holds = [machines.source(name).hold("/7") for name in ("one", "two", "three")]
    machines.give({"s": service.process, "a": a})
    until(lambda: all(site.count("/7") for site in machines.sites.values()), a)
    listed = machines.listed()
    assert sorted([*listed["a"]["sources"], *listed["s"]["sources"]]) == ["one", "three", "two"]
    for hold in holds:
        hold.set()
    until(lambda: not any(node.plans for node in machines.nodes().values()), a)
    for name, site in machines.sites.items():
        assert machines.outcomes(name) == ["NEW"] * (PAGES + 1)
        assert set(site.counts().values()) == {1}, name
    due = {one["source"]: one["service"]["next_run"] for one in service.ask("GET", "/sources")["sources"]}
    assert all(due[name] for name in machines.sites), due
    for name, process in (("s", service.process), ("a", a)):
        assert "runs this already" not in machines.log(name)
        machines.end(name, process)


def test_orders_of_the_api_reach_the_node_that_runs_a_schedule(machines: Machines) -> None:
    site = machines.source("one", refresh={})
    hold = site.hold("/7")
    machines.definition["schedules"] = {"nightly": {"sources": "one", "cron": "0 0 29 2 *", "node": "a"}}
    service = Service(machines)
    a = machines.start("a")
    until(lambda: "a" in machines.nodes(), a)
    assert service.status("nightly") == "scheduled"
    service.ask("POST", "/schedules/nightly/launch")
    until(lambda: site.count("/7"), a)
    until(lambda: service.status("nightly") == "executing", a)
    service.ask("POST", "/schedules/nightly/stop")
    hold.set()
    until(lambda: service.status("nightly") == "stopped", a)
    service.ask("POST", "/schedules/nightly/resume")
    until(lambda: service.status("nightly") == "scheduled", a)
    service.ask("POST", "/sources/one/start")
    until(lambda: "'a'" in str(machines.command("status", "one", "--json").json["sources"][0]["failure"]))
    for name, process in (("s", service.process), ("a", a)):
        machines.end(name, process)
