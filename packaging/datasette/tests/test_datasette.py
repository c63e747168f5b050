"""A server with the plugin and the example, asked as a browser asks it.

The environment variable CLREDUCE_EXTENSION names the extension; without it, it is that of the package clreduce.
CLREDUCE_SCREENSHOT names a file for what headless Chromium shows.
"""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from importlib.metadata import version

import httpx
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(os.path.dirname(HERE), "example")
SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CHROMIUM = shutil.which("chromium")

#: The option that names the configuration, and the page that runs SQL. 1.0, with its alphas, has other ones.
CONFIGURATION, QUERY = ("--metadata", "/flights.json") if version("datasette").startswith("0.") else ("--config", "/flights/-/query.json")


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    """The path of a database of the example's table."""
    folder = tmp_path_factory.mktemp("flights")
    path = str(folder / "flights.db")
    with open(os.path.join(EXAMPLE, "flights.sql"), encoding="utf-8") as script:
        subprocess.run(["sqlite3", path], stdin=script, cwd=SOURCES, check=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW far AS SELECT count(*) AS n, max(delay) AS worst FROM flights WHERE distance > 2000")
    connection.close()
    return path


def configuration(tmp_path, own=None, **others):
    """The example's configuration with the extension's path, and what a test adds to the database's part of the plugin."""
    with open(os.path.join(EXAMPLE, "metadata.json"), encoding="utf-8") as file:
        content = json.load(file)
    path = os.environ.get("CLREDUCE_EXTENSION")
    content["plugins"] = {"datasette-clreduce": ({"path": path} if path else {}) | others}
    content["databases"]["flights"]["plugins"]["datasette-clreduce"].update(own or {})
    file = tmp_path / "metadata.json"
    file.write_text(json.dumps(content))
    return str(file)


class Server:
    """A running Datasette of its own port, with one thread for SQL, so that a query sees what the one before did."""

    def __init__(self, flights, file, *options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "datasette", "serve", *options, flights, CONFIGURATION, file, "--port", self.url.rsplit(":", 1)[1],
             "--template-dir", os.path.join(EXAMPLE, "templates"), "--setting", "num_sql_threads", "1",
             "--setting", "sql_time_limit_ms", "20000"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        try:
            return self.wait()
        except BaseException:
            self.__exit__()
            raise

    def wait(self):
        """Returns when the server answers."""
        for _ in range(300):
            try:
                httpx.get(f"{self.url}/-/versions.json")
                return self
            except httpx.TransportError:
                assert self.process.poll() is None, self.process.stdout.read()
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)

    def get(self, path, **parameters):
        return httpx.get(f"{self.url}{path}", params=parameters, timeout=60)

    def rows(self, path, **parameters):
        answer = self.get(path, _shape="arrays", **parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()["rows"]


@pytest.fixture(scope="module")
def server(flights, tmp_path_factory):
    with Server(flights, configuration(tmp_path_factory.mktemp("server"), {"accelerate": ["far"]})) as running:
        yield running


def test_views_give_what_their_selects_give(server):
    rows = server.rows(QUERY, sql="SELECT * FROM airports ORDER BY flights DESC LIMIT 3")
    assert rows == [["ORD", 1075, 8.6, -1.0], ["DFW", 1041, 7.1, 0.0], ["ATL", 800, 9.7, 1.0]]
    assert server.rows(QUERY, sql="SELECT sum(value) FROM delays, json_each(counts)") == [[20000]]


def test_views_are_accelerated(server):
    server.rows("/flights/overview.json")
    lines = server.rows("/flights/plans.json")
    assert [name for name, line in lines if line.startswith("accelerated")] == ["airports", "delays"]


def test_an_ordinary_view_is_accelerated_by_its_name(server):
    expected = server.rows(QUERY, sql="SELECT count(*), max(delay) FROM flights WHERE distance > 2000")
    assert server.rows("/flights/far.json") == expected
    assert server.rows(QUERY, sql="SELECT line FROM clreduce_plan('far') LIMIT 1")[0][0].startswith("accelerated")


def test_aggregates_are_there(server):
    assert server.rows(QUERY, sql="SELECT gpu_sum(delay) FROM flights") == [[125808]]


def test_a_change_is_seen(flights, server):
    with sqlite3.connect(flights) as writer:
        writer.execute("INSERT INTO flights VALUES ('2001-07-01', 0, 100, 'ZZZ', 'ORD')")
    found = "SELECT flights FROM airports WHERE origin = 'ZZZ'"
    assert server.rows(QUERY, sql=found) == [[1]]
    with writer:
        writer.execute("DELETE FROM flights WHERE origin = 'ZZZ'")
    writer.close()
    assert server.rows(QUERY, sql=found) == []


@pytest.mark.parametrize("call", ["clreduce_set('device', 'host')", "clreduce_evict()", "clreduce_accelerate('far')",
                                  "clreduce_accelerate()", "clreduce_rewrite('SELECT 1')", "clreduce_rewrite('SELECT 1', 1)"])
def test_visitors_change_nothing(server, call):
    answer = server.get(QUERY, sql=f"SELECT {call}")
    assert answer.status_code == 400
    assert server.rows(QUERY, sql="SELECT value FROM clreduce_settings WHERE name = 'device'") == [["auto"]]


@pytest.mark.parametrize("call", ["Clreduce_Rewrite('SELECT 1')", "\"clreduce_rewrite\"('SELECT count(*) FROM flights')",
                                  "count(*) FROM flights WHERE clreduce_rewrite('SELECT 1') IS NULL", "CAST(clreduce_rewrite(:p) AS BLOB)"])
def test_visitors_do_not_rewrite(server, call):
    for _ in range(4):
        answer = server.get(QUERY, sql=f"SELECT {call}", p="SELECT count(*) FROM flights")
        assert answer.status_code == 400 and "not authorized to use function" in answer.text


def test_pages_are_accelerated(flights, tmp_path):
    """Counts, facets and visitors' statements, without any configuration, and with the same answers."""
    pytest.importorskip("clreduce", reason="the Python package is not there")
    file = tmp_path / "empty.json"
    path = os.environ.get("CLREDUCE_EXTENSION")
    file.write_text(json.dumps({"plugins": {"datasette-clreduce": {"path": path} if path else {}}}))
    large = str(tmp_path / "large.db")
    shutil.copy(flights, large)
    with sqlite3.connect(large) as connection:
        connection.execute("INSERT INTO flights SELECT f.* FROM flights AS f, json_each('[1, 2, 3, 4, 5]')")
        expected = connection.execute("SELECT origin, count(*) FROM flights WHERE origin IS NOT NULL GROUP BY origin"
                                      " ORDER BY count(*) DESC, origin LIMIT 5").fetchall()
        late = connection.execute("SELECT count(*), max(delay) FROM flights WHERE delay > 60").fetchall()
    connection.close()
    with Server(large, str(file), "--setting", "facet_time_limit_ms", "20000") as running:
        for _ in range(4):
            page = running.get("/large/flights.json", _facet="origin", _size=0, _extra="count,facet_results").json()
            count = page.get("filtered_table_rows_count", page.get("count"))
            facets = page["facet_results"].get("results", page["facet_results"])["origin"]["results"]
            assert count in (120000, 10001)  # 1.0 counts no further
            assert [(facet["value"], facet["count"]) for facet in facets[:5]] == expected
            assert running.rows(QUERY.replace("flights", "large"), sql="SELECT count(*), max(delay) FROM flights WHERE delay > :n",
                                n="60") == [list(row) for row in late]
        scans = running.rows(QUERY.replace("flights", "large"), sql="SELECT sum(value) FROM clreduce_stats WHERE name LIKE 'scans_on%' OR name = 'answers_kept'")
        assert scans[0][0] >= 4


def test_settings_are_the_configurations(flights, tmp_path):
    with Server(flights, configuration(tmp_path, {"settings": {"device": "host", "values_memory": 1000000}}), "-i") as running:
        rows = running.rows(QUERY, sql="SELECT name, value FROM clreduce_settings WHERE value <> \"default\"")
        assert [[name, str(value)] for name, value in rows] == [["device", "host"], ["values_memory", "1000000"]]
        assert running.rows(QUERY, sql="SELECT sum(flights) FROM airports") == [[20000]]


@pytest.mark.parametrize("own, others, message", [
    ({"settings": {"device": ""}}, {}, "setting device: "),
    ({"views": {"bad": "DELETE FROM flights"}}, {}, "view bad of flights: "),
    ({"accelerate": ["none"]}, {}, "view none of flights: "),
    ({"accelerate": "late"}, {}, "\"accelerate\" in the configuration must be an array, not 'late'"),
    ({"vews": {}}, {}, 'the configuration has no "vews": it has path, views, accelerate, settings'),
    ({}, {"path": "/nowhere/clreduce"}, "/nowhere/clreduce cannot be loaded: "),
])
def test_errors_of_the_configuration_are_told(flights, tmp_path, own, others, message):
    done = get(flights, configuration(tmp_path, own, **others))
    # Datasette breaks the lines of what it prints where the terminal ends.
    assert message in " ".join((done.stdout + done.stderr).split())


def get(flights, file, **environment):
    """What Datasette prints for a query of the example, without a server."""
    return subprocess.run([sys.executable, "-m", "datasette", flights, CONFIGURATION, file, "--get",
                           f"{QUERY}?_shape=arrays&sql=SELECT+sum(flights)+FROM+airports"],
                          env=os.environ | environment, capture_output=True, text=True, check=False)


def test_the_package_has_the_extension(flights, tmp_path):
    """Without a path it is the Python package that loads it: here one that is made for the test."""
    extension = os.environ.get("CLREDUCE_EXTENSION")
    if not extension:
        pytest.skip("all tests use the package")
    (tmp_path / "clreduce.py").write_text("def load(conn):\n    conn.enable_load_extension(True)\n"
                                          f"    conn.load_extension({extension!r})\n")
    file = configuration(tmp_path, path=None)
    assert json.loads(get(flights, file, PYTHONPATH=str(tmp_path)).stdout)["rows"] == [[20000]]
    (tmp_path / "clreduce.py").write_text("raise ImportError")
    done = get(flights, file, PYTHONPATH=str(tmp_path))
    assert "pip install ./packaging/python in a checkout of clreduce, or set" in " ".join((done.stdout + done.stderr).split())


def test_page(server):
    page = server.get("/flights/overview").text
    labels = re.findall(r'<td class="label">([^<]*)</td><td class="count">([^<]*)</td>', page)
    assert labels[:2] == [("ORD", "1,075"), ("DFW", "1,041")] and len(labels) == 15 + 20
    assert sum(int(count.replace(",", "")) for _, count in labels[15:]) == 20000


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_browser(server, tmp_path):
    picture = os.environ.get("CLREDUCE_SCREENSHOT", str(tmp_path / "page.png"))
    browser = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={tmp_path}/profile"]
    shown = subprocess.run([*browser, "--dump-dom", f"{server.url}/flights/overview"], capture_output=True, text=True,
                           timeout=120, check=True).stdout
    assert shown.count('class="bar"') == 15 + 20
    subprocess.run([*browser, "--window-size=1100,795", f"--screenshot={picture}", f"{server.url}/flights/overview"],
                   capture_output=True, timeout=120, check=True)
    with open(picture, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
