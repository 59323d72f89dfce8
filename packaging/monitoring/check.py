#!/usr/bin/env python3
"""Tests the alert rules and the dashboard with a real Prometheus, which reads a real machine's counters, and the dashboard by Grafana's types.

check.py OUTBOARD MODULE        OUTBOARD: the command; MODULE: liboutboard.so. Go 1.24 or later is in PATH

As root it has a /dev/shm of its own, so nobody else's counters are seen. Everything listens on 127.0.0.1 and ends with the test.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE = 120  # seconds, on a busy machine


def ask(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if found := condition():
                return found
        except OSError:
            pass
        time.sleep(0.3)
    sys.exit(f"FAILED: waited for {what}")


def known_metrics():
    """Every name that 'outboard stats --openmetrics' can print."""
    source = (HERE / "../../crates/ledger-report/src/openmetrics.rs").read_text()
    names = re.findall(r'"(outboard_\w+)",\s*(Counter|Gauge)', source)
    return {name + ("_total" if kind == "Counter" else "") for name, kind in names} | {"up"}


def expressions():
    dashboard = json.loads((HERE / "outboard-dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['title']!r}", target["expr"]
    for name in re.findall(r"^ *expr: *(?!\|)(.+)$|^ +((?:sum by|>).*)$", (HERE / "outboard-rules.yml").read_text(), re.M):
        yield "an alert", "".join(name)
    variables = dashboard["templating"]["list"]
    assert [variable["name"] for variable in variables] == ["datasource", "instance"]
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids), "two panels have one number"


def typed(work):
    """The dashboard, by the types that Grafana publishes; and a broken one, which they must refuse."""
    program, broken = work / "dashboard", work / "broken.json"
    subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / "dashboard", check=True)
    panels = subprocess.run([program, HERE / "outboard-dashboard.json"], check=True, capture_output=True, text=True).stdout.strip()
    broken.write_text((HERE / "outboard-dashboard.json").read_text().replace('"legendFormat"', '"legend"', 1))
    if subprocess.run([program, broken], capture_output=True).returncode == 0:
        sys.exit("FAILED: a broken dashboard fits: this test shows nothing")
    print(f"the dashboard's {panels} panels fit Grafana's types")


def main(outboard, module):
    known = known_metrics()
    for where, expression in expressions():
        used = set(re.findall(r"\boutboard_\w+", expression))
        if unknown := used - known:
            sys.exit(f"FAILED: {where} uses {unknown}, which Outboard does not tell")
    subprocess.run(["promtool", "check", "rules", "outboard-rules.yml"], cwd=HERE, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["promtool", "test", "rules", "outboard-rules-test.yml"], cwd=HERE, check=True, stdout=subprocess.DEVNULL)
    print(f"{len(known)} metrics, the dashboard's and the rules' names are among them; the rules' own tests pass")

    started = []
    with tempfile.TemporaryDirectory() as work:
        try:
            typed(Path(work))
            real(Path(work), outboard, module, started)
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(timeout=PATIENCE)


def real(work, outboard, module, started):
    # Something to count, at the ledger's usual place.
    configuration = work / "openssl.cnf"
    configuration.write_text(
        "openssl_conf = a\n[a]\nproviders = b\n[b]\noutboard = c\ndefault = d\n[d]\nactivate = 1\n"
        f"[c]\nmodule = {module}\noffer = all\nactivate = 1\n"
    )
    stock = {**os.environ, "OPENSSL_CONF": "/dev/null"}
    key = work / "key.pem"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], env=stock, check=True, stderr=subprocess.DEVNULL)
    for _ in range(3):
        sign = ["openssl", "dgst", "-sha256", "-sign", key, "-out", "/dev/null", "/etc/hostname"]
        subprocess.run(sign, env={**os.environ, "OPENSSL_CONF": str(configuration)}, check=True)

    # What outboard-metrics.socket does with the line that docs/monitoring.md names.
    told, web = free_port(), free_port()
    activate = ["systemd-socket-activate", "--accept", "--inetd", "-l", f"127.0.0.1:{told}"]
    started.append(
        subprocess.Popen([*activate, outboard, "stats", "--all", "--openmetrics"], env=stock, stderr=subprocess.DEVNULL)
    )
    (work / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 2s, evaluation_interval: 2s}}\nrule_files: ['{HERE}/outboard-rules.yml']\n"
        f"scrape_configs: [{{job_name: outboard, static_configs: [{{targets: ['127.0.0.1:{told}']}}]}}]\n"
    )
    subprocess.run(["promtool", "check", "config", work / "prometheus.yml"], check=True, stdout=subprocess.DEVNULL)
    log = open(work / "log", "w")
    prometheus = ["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/data"]
    started.append(subprocess.Popen([*prometheus, f"--web.listen-address=127.0.0.1:{web}"], stdout=log, stderr=log))

    def value(expression):
        result = ask(web, "/api/v1/query", query=expression)["data"]["result"]
        return result[0]["value"][1] if result else None

    wait_for("a scrape", lambda: value('up{job="outboard"} == 1'))
    signed = 'outboard_operations_total{program="openssl",operation="rsa-2048-sign"}'
    wait_for("what was counted", lambda: value(f"sum({signed})") == "3")
    groups = wait_for("the rules", lambda: ask(web, "/api/v1/rules")["data"]["groups"])
    wait_for(
        "healthy rules",
        lambda: all(rule["health"] == "ok" for group in ask(web, "/api/v1/rules")["data"]["groups"] for rule in group["rules"]),
    )
    asked = 0
    for where, expression in expressions():
        if where.startswith("panel"):
            expression = expression.replace("$instance", ".*").replace("$__rate_interval", "1m")
            # An error of the expression is an HTTP error.
            ask(web, "/api/v1/query", query=expression)
            asked += 1
    print(f"Prometheus reads the endpoint, evaluates {len(groups[0]['rules'])} alerts and answers {asked} panels")


if __name__ == "__main__":
    if os.geteuid() == 0 and os.environ.get("OUTBOARD_UNSHARED") is None:
        os.environ["OUTBOARD_UNSHARED"] = "1"
        mount = 'mount -t tmpfs -o mode=1777 none /dev/shm && exec "$0" "$@"'
        os.execvp("unshare", ["unshare", "-m", "sh", "-c", mount, sys.executable, *sys.argv])
    main(*map(os.path.realpath, sys.argv[1:3]))
