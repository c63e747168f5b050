"""The command: devices, query and advise."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("rich")

HOST = {**os.environ, "CLREDUCE_DEVICE": "host"}


def run(*arguments, before="pass", columns="200", settings=""):
    """What the command says on a terminal of so many columns: its status, output and errors."""
    script = f"import sys; {before}; from clreduce.command import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True,
                          env={**HOST, "COLUMNS": columns, "CLREDUCE_SETTINGS": settings}, check=False)
    return done.returncode, done.stdout, done.stderr


def test_installed():
    done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "clreduce"), "--help"], capture_output=True,
                          text=True, check=True)
    for name in ("devices", "query", "advise"):
        assert name in done.stdout


def test_devices():
    status, out, _ = run("devices")
    assert status == 0 and ("in use" in out or "no OpenCL device" in out)


def test_query(flights):
    before = os.stat(flights)
    status, out, errors = run("query", flights, "SELECT origin, count(*) AS n FROM flights GROUP BY origin ORDER BY n DESC LIMIT 2",
                              "--plan")
    assert (status, errors) == (0, "")
    assert "ORD" in out and "1075" in out and "DFW" in out
    assert "2 rows in" in out and "accelerated: host" in out and "column origin: codes" in out
    status, out, _ = run("query", flights, "SELECT NULL AS a, x'00ff' AS b, '[b]' AS c UNION ALL SELECT 1, 2, 3", "--rows", "1")
    assert "NULL" in out and "x'00ff'" in out and "[b]" in out and "1 more row" in out and "row by row: " in out
    after = os.stat(flights)
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


@pytest.mark.parametrize("arguments, message", [
    (("query", "nosuch.db", "SELECT 1"), "there is no database nosuch.db"),
    (("query", None, "SELECT nosuch"), "no such column: nosuch"),
    (("query", None, "DELETE FROM flights"), "readonly"),
    (("query", None, "SELECT 1", "--device", ""), "clreduce_set: device must "),
    (("advise", None, "nosuch.sql"), "nosuch.sql"),
])
def test_errors(flights, arguments, message):
    status, out, errors = run(*(flights if argument is None else argument for argument in arguments))
    assert status == 1 and out == "" and message in errors and "Traceback" not in errors


QUERIES = ("SELECT gpu_avg(delay) FROM flights; -- a comment; with a semicolon\n"
           "SELECT count(*) FROM flights WHERE origin = 'a;b';\n"
           "SELECT count(*) FROM flights a JOIN flights b ON a.fare = b.fare;\n"
           "SELECT origin, 'sum(x)', sum(fare) FROM flights GROUP BY origin;\nDELETE FROM flights")


@pytest.fixture
def queries(tmp_path):
    """The path of a file of statements."""
    path = tmp_path / "queries.sql"
    path.write_text(QUERIES, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("columns", [80, 200])
def test_advise(flights, queries, columns):
    status, out, errors = run("advise", flights, queries, columns=str(columns))
    assert (status, errors) == (0, "")
    assert all(len(line.rstrip()) <= columns for line in out.split("\n"))
    assert out.count("yes: host") == 3 and out.count(" x ") == 3 and "5 queries" in out


def test_advise_for_programs(flights, queries):
    status, out, errors = run("advise", flights, queries, "--json", settings="override=off")
    rows = json.loads(out)
    assert (status, errors) == (0, "") and [row["accelerated"] for row in rows] == ["yes", "yes", "no", "no", "error"]
    assert rows[1]["statement"].endswith("WHERE origin = 'a;b'") and rows[1]["again_ms"] > 0 and rows[1]["instead"] is None
    assert "is not joined by a unique key" in rows[2]["reason"] and rows[2]["factor"] is None
    assert rows[3]["instead"] == "SELECT origin, 'sum(x)', gpu_sum(fare) FROM flights GROUP BY origin"
    assert rows[3]["same_rows"] == "no" and rows[3]["instead_ms"] > 0 and rows[3]["factor"] > 0
    assert "a view holds a SELECT" in rows[4]["reason"]
    status, out, _ = run("advise", flights, queries, "--csv", settings="override=off")
    assert status == 0 and [row["instead"] for row in csv.DictReader(io.StringIO(out))] == ["", "", "", rows[3]["instead"], ""]


def test_query_for_programs(flights):
    sql = "SELECT NULL AS a, x'00ff' AS b, 'c,\"d' AS c, 1.5 AS d FROM flights WHERE delay = 919"
    status, out, errors = run("query", flights, sql, "--csv")
    assert (status, out, errors) == (0, "a,b,c,d\n,x'00ff',\"c,\"\"d\",1.5\n", "")
    status, out, errors = run("query", flights, sql, "--json")
    assert (status, errors) == (0, "") and json.loads(out) == [{"a": None, "b": {"base64": "AP8="}, "c": 'c,"d', "d": 1.5}]


def test_without_rich():
    status, _, errors = run("devices", before="sys.modules['rich'] = sys.modules['rich.console'] = None")
    assert status == 2 and "pip install rich" in errors


def test_bar(flights):
    """The bar counts what the process reads, and the answer comes through it."""
    status, out, _ = run("query", flights, "SELECT count(*) FROM flights AS a JOIN flights AS b ON a.delay < b.delay % 3",
                         before="import clreduce.command.running as running; running.QUIET = 0")
    assert status == 0 and "1 row in" in out
