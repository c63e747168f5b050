"""Processes that fork, before, while and after the extension has a device."""

import os

import support
import tap


def in_child(work):
    """Runs a function in a forked child; what it returned, as text, or how the child ended."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, repr(work()).encode())
        except BaseException as error:  # the child must never go on with the parent's tests
            os.write(writer, repr(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitpid(pid, 0)[1]
    return text if status == 0 else f"exit status {status}, {text}"


def test_fork():
    """A child works on the host, with a connection it inherits and with one of its own."""
    for mode in support.modes():
        db = support.connect(mode, **support.SMALL)
        support.fill(db, [(i * 0.5, i) for i in range(5000)])
        query = "SELECT gpu_sum(x), gpu_min(y), gpu_max(x), gpu_dot(x, y) FROM t"
        want = db.execute(query).fetchone()
        before = support.stats(db)

        def inherited(db=db, query=query):
            return db.execute(query).fetchone()

        def counted(db=db, query=query, before=before):
            db.execute(query).fetchone()
            after = support.stats(db)
            return (
                after["chunks_to_device"] - before["chunks_to_device"],
                after["kernels_launched"] - before["kernels_launched"],
                mode == "host" or after["host_after_fork"] > 0,
            )

        def own(mode=mode, query=query):
            child = support.connect(mode, **support.SMALL)
            support.fill(child, [(i * 0.5, i) for i in range(5000)])
            got = child.execute(query).fetchone()
            child.close()
            return got

        def twice(own=own):
            return in_child(own)

        def closing(db=db):
            db.close()
            return "closed"

        tap.is_equal(in_child(inherited), repr(want), f"a child with its parent's connection, {mode}")
        tap.is_equal(in_child(counted), repr((0, 0, True)), f"the child's statistics say so, {mode}")
        tap.is_equal(in_child(own), repr(want), f"a child with a connection of its own, {mode}")
        tap.is_equal(in_child(twice), repr(repr(want)), f"a child's child, {mode}")
        tap.is_equal(in_child(closing), repr("closed"), f"a child closes its parent's connection, {mode}")
        tap.is_equal(db.execute(query).fetchone(), want, f"the parent works on, {mode}")
        if mode != "host":
            db.execute(query.replace("FROM t", f"FROM {support.lingering(64)}")).fetchone()
            tap.ok(
                support.stats(db)["chunks_to_device"] > before["chunks_to_device"],
                "the parent still uses the device",
            )
        in_use = "SELECT count(*) FROM clreduce_devices WHERE in_use"
        tap.is_equal(
            in_child(lambda db=db: support.value(db, in_use) in (0, 1)),
            "True",
            f"a child can look at the devices, {mode}",
        )
        db.close()


def test_fork_between_rows():
    """A child forked between two rows of a statement steps it to its end, as does the parent."""
    for mode in support.modes():
        db = support.connect(mode, **support.SMALL)
        support.fill(db, [(i * 0.5, i % 7) for i in range(3000)])
        for query in (
            "SELECT y, gpu_sum(x), gpu_max(x) FROM t GROUP BY y",
            "SELECT gpu_sum(x) OVER w, gpu_min(x) OVER w FROM t"
            " WINDOW w AS (ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
            "SELECT gpu_sum(x) OVER w, gpu_max(x) OVER w FROM t WINDOW w AS (ROWS 100 PRECEDING)",
        ):
            want = db.execute(query).fetchall()
            cursor = db.execute(query)
            first = cursor.fetchmany(3)
            text = in_child(lambda cursor=cursor: cursor.fetchall())
            tap.is_equal(text == repr(want[3:]), True, f"the child, {mode}: {query}")
            tap.is_equal(first + cursor.fetchall() == want, True, f"the parent, {mode}: {query}")
        db.close()


LEAVING = """
import os, signal
db = support.connect({mode!r}, **support.SMALL)
support.fill(db, [(i * 0.5, i) for i in range(5000)])
want = db.execute("SELECT gpu_sum(x) FROM t").fetchone()
if {mode!r} != "host":
    assert support.wait_for_device(db)
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    assert db.execute("SELECT gpu_sum(x) FROM t").fetchone() == want
    raise SystemExit(0)
assert os.waitpid(pid, 0)[1] == 0, "the child failed"
assert db.execute("SELECT gpu_sum(x) FROM t").fetchone() == want
"""


def test_fork_and_exit():
    """A child that ends as any process does, and not by a way around what runs at exit."""
    for mode in support.modes():
        support.child_ok(support.child(LEAVING.format(mode=mode)), f"a child ends by exit(), {mode}")


support.run(globals())
