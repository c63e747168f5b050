"""The command: devices, query and advise."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("rich")

HOST = {**os.environ, "CLREDUCE_DEVICE": "host"}


def run(*arguments, before="pass", columns="200"):
    """What the command says on a terminal of so many columns: its status, output and errors."""
    script = f"import sys; {before}; from clreduce.command import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True,
                          env={**HOST, "COLUMNS": columns}, check=False)
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


def test_advise(flights, tmp_path):
    queries = tmp_path / "queries.sql"
    queries.write_text("SELECT gpu_avg(delay) FROM flights; -- a comment; with a semicolon\n"
                       "SELECT count(*) FROM flights WHERE origin = 'a;b';\n"
                       "SELECT count(*) FROM flights a JOIN flights b ON a.rowid = b.rowid;\nDELETE FROM flights", encoding="utf-8")
    status, out, errors = run("advise", flights, str(queries), columns="80")
    assert (status, errors) == (0, "")
    lines = [line.rstrip() for line in out.split("\n")]
    assert all(len(line) <= 80 for line in lines)
    assert lines.count("    yes: host") == 2 and out.count("times as fast") == 2
    assert "    no: a join is not accelerated: let the view read one table" in lines
    assert "4 queries" in out and "a view holds a SELECT" in out and "WHERE origin = 'a;b'" in out


def test_without_rich():
    status, _, errors = run("devices", before="sys.modules['rich'] = sys.modules['rich.console'] = None")
    assert status == 2 and "pip install rich" in errors


def test_bar(flights):
    """The bar counts what the process reads, and the answer comes through it."""
    status, out, _ = run("query", flights, "SELECT count(*) FROM flights AS a JOIN flights AS b ON a.delay < b.delay % 3",
                         before="import clreduce.command.running as running; running.QUIET = 0")
    assert status == 0 and "1 row in" in out
