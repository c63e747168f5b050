"""Damaged database files: a view gives what its SELECT gives, or an error, and nothing worse.

SQLite itself does not notice all damage. So a view may give just what the SELECT gives, may fail
where that fails, and may say that the database is malformed. The files are read in processes of
their own, where a crash is seen and comes with its seed.
"""

import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import support
import tap
import view_support as views

FILES = 150 if tap.QUICK else 1_200
BATCH = 50

#: Seconds for one batch: a walk that damage makes endless is an error as well.
LIMIT = 120

#: What a view may always say of a damaged file.
MALFORMED = ("database disk image is malformed",)

SELECTS = (
    "SELECT gpu_sum(a), count(*), gpu_max(b) FROM t",
    "SELECT gpu_total(b), gpu_min(a), count(added) FROM t WHERE a > 10",
    "SELECT gpu_sum(rowid), gpu_avg(added), gpu_dot(a, 2) FROM t WHERE b < 1e9 OR a IS NULL",
    "SELECT gpu_sum(x), count(*) FROM wide",
    "SELECT gpu_sum(a), count(*), gpu_max(b) FROM keyed",
    "SELECT gpu_count_distinct(c), gpu_mode(c), gpu_min(k) FROM keyed WHERE a > 3",
    "SELECT gpu_count_distinct(c), gpu_mode(c), gpu_count_distinct(added) FROM t WHERE a > 3",
    "SELECT gpu_count_distinct(y), gpu_mode(x) FROM wide",
)


#: What became of the last view, unless it could not even be made.
FIRST_LINE = "SELECT substr(line, 1, 11) FROM clreduce_plan('view_of_it') LIMIT 1"


def make(path, rng):
    """A database with overflow pages, freed pages and short records; WAL: with a log left over."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA page_size = {rng.choice((512, 512, 1024, 4096))}")
    db.execute(f"PRAGMA auto_vacuum = {rng.choice((0, 0, 1))}")
    mode = rng.choice(("DELETE", "WAL"))
    support.execute(db, f"PRAGMA journal_mode = {mode}", "PRAGMA synchronous = OFF",
                    "CREATE TABLE t(c TEXT, a INT, b REAL)", "CREATE TABLE wide(x INT, y BLOB)",
                    "CREATE TABLE keyed(a INT, b REAL, c TEXT, k INT, PRIMARY KEY (c DESC, k)) WITHOUT ROWID",
                    "BEGIN")
    for number in range(rng.choice((5, 300, 900))):
        long = "x" * rng.choice((0, 3, 30, 700, 3000))
        real = rng.choice((number * 0.5, float(number), None))
        db.execute("INSERT INTO t VALUES (?, ?, ?)", (long, rng.choice((number, None)), real))
        if number % 2 == 0:
            db.execute("INSERT INTO keyed VALUES (?, ?, ?, ?)", (number, real, long, number * 7 % 1009))
        if number % 7 == 0:
            db.execute("INSERT INTO wide VALUES (?, zeroblob(?))", (number, number * 10))
    support.execute(db, "DELETE FROM t WHERE rowid % 5 = 0", "ALTER TABLE t ADD COLUMN added REAL DEFAULT 2",
                    "COMMIT")
    if mode == "WAL":
        support.execute(db, "PRAGMA wal_checkpoint", "UPDATE t SET a = a + 1")
    # What is copied before the connection goes has the log, as after a crash.
    images = {}
    for suffix in ("", "-wal"):
        if os.path.exists(path + suffix):
            with open(path + suffix, "rb") as file:
                images[suffix] = file.read()
    db.close()
    views.remove(path)
    return images


def page_size(image):
    """The size of the pages of a database's image."""
    size = int.from_bytes(image[16:18], "big")
    return 65536 if size == 1 else size


def damage(image, rng):
    """The image with some damage."""
    data, size = bytearray(image), page_size(image)
    pages = max(len(data) // size, 1)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        page = rng.randrange(pages)
        start = page * size
        first = start + (100 if page == 0 else 0)
        kind = rng.randrange(11)
        if kind < 2:  # anywhere
            data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind < 4:  # a page's own header, with its type, its counts and the last child
            value = rng.choice((0, 1, 2, 5, 10, 13, 255, rng.randrange(256)))
            data[first + rng.randrange(12)] = value
        elif kind < 6:  # the pointers to cells
            at = min(first + 8 + rng.randrange(60), len(data) - 2)
            data[at : at + 2] = rng.choice((b"\0\0", b"\xff\xff", rng.randbytes(2)))
        elif kind < 7:  # cells: sizes, rowids, headers of records, numbers of pages
            at = start + size - 1 - rng.randrange(min(size, 200))
            data[at : at + 4] = rng.choice((b"\xff" * 4, b"\x80" * 4, b"\0" * 4, rng.randbytes(4)))
        elif kind < 8:  # a child or an overflow page: perhaps a page that is read already
            at = start + rng.randrange(size - 4)
            data[at : at + 4] = rng.randint(0, pages + 1).to_bytes(4, "big")
        elif kind < 9:
            other = rng.randrange(pages) * size
            data[start : start + size] = data[other : other + size]
        elif kind < 10:  # the database's header, but for what makes it one
            data[rng.randrange(16, 100)] = rng.choice((0, 1, 255, rng.randrange(256)))
        else:
            data[start : start + size] = bytes(size)
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    return bytes(data[: len(image)])


def damage_log(image, rng):
    """The log with a byte changed, or cut off."""
    data = bytearray(image)
    if data and rng.random() < 0.7:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.3:
        del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def answers(path, images, through, memory=0, strict=False):
    """What each SELECT gives on a new connection to the file: directly, or through a view."""
    for suffix, data in images.items():
        with open(path + suffix, "wb") as file:
            file.write(data)
    try:
        db = views.connect(path)
        support.configure(db, column_memory=memory)
    except sqlite3.DatabaseError as error:
        # Newer ones read the schema, damaged as it is, for any statement with a function.
        views.remove(path)
        return [views.failure(error)] * (len(SELECTS) + 2), 0
    except UnicodeDecodeError:
        # The same, with a message that names what is damaged.
        views.remove(path)
        return [views.Failure("a message that is no UTF-8")] * (len(SELECTS) + 2), 0
    if strict:
        support.rows(db, "PRAGMA cell_size_check = 1")
    if through:
        results = [views.through_view(db, select) for select in SELECTS]
        results += [views.ask(db, "view_of_it"), views.through_view(db, SELECTS[0])]
        fast = views.outcome(db, FIRST_LINE) == [("accelerated",)]
    else:
        results = [views.outcome(db, select) for select in SELECTS]
        results += [results[-1], views.outcome(db, SELECTS[0])]
        fast = 0
    db.close()
    views.remove(path)
    return results, fast


def is_allowed(got, want):
    """Whether a view may give that where the SELECT gives this."""
    if views.fails(got):
        return views.fails(want) or got.message.endswith(MALFORMED)
    return tap.is_same(got, want)


def is_undefined(path, images):
    """Whether some cell reaches beyond its page.

    SQLite reads what lies behind the page in its memory then, and gives now this, now that.
    """
    return any(views.fails(result) for result in answers(path, images, False, strict=True)[0])


def batch(path, seed):
    """One process's work: prints its result as JSON."""
    signal.alarm(LIMIT)
    rng = random.Random(seed)
    images, problems = make(path, rng), []
    fast = errors = undefined = 0
    for number in range(BATCH):
        damaged = dict(images)
        if "-wal" in images and rng.random() < 0.5:
            damaged["-wal"] = damage_log(images["-wal"], rng)
        else:
            damaged[""] = damage(images[""], rng)
        print(number, end=" ", file=sys.stderr, flush=True)  # the last of them crashed
        start = time.monotonic()
        want, _ = answers(path, damaged, False)
        middle = time.monotonic()
        # With next to no memory pages are scanned as they pass.
        got, some = answers(path, damaged, True, memory=rng.choice((0, 1)))
        fast += some
        errors += views.fails(want[0])
        took, direct = time.monotonic() - middle, middle - start
        wrong = [
            f"file {number}, {select}: {one!r}, directly {other!r}"
            for one, other, select in zip(got, want, SELECTS + (SELECTS[-1], SELECTS[0]))
            if not is_allowed(one, other)
        ]
        if wrong and is_undefined(path, damaged):
            undefined += 1
        else:
            problems += wrong
        if took > 5 + 10 * direct:
            problems.append(f"file {number}: {took:.1f} s, directly {direct:.1f} s")
    counts = {"fast": fast, "errors": errors, "undefined": undefined}
    print(json.dumps({"problems": problems, **counts}))


def test_damage(rng):
    """One check: many batches."""
    check = support.Batch(f"{FILES} damaged files")
    tally, errors, undefined = views.Tally(), 0, 0
    for _ in range(FILES // BATCH):
        seed = rng.randrange(2**32)
        process = subprocess.run(
            [sys.executable, "-X", "faulthandler", __file__, views.new(), str(seed)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT + 60,
        )
        what = f"batch of seed {seed}"
        if not check.compare(process.returncode, 0, f"{what}: {process.stderr[-1500:]}"):
            continue
        result = json.loads(process.stdout.splitlines()[-1])
        check.check(not result["problems"], f"{what}: " + "\n".join(result["problems"][:5]))
        tally.answers += BATCH
        tally.fast += result["fast"]
        errors += result["errors"]
        undefined += result["undefined"]
    check.end()
    tap.diag(f"SQLite itself noticed the damage in {errors} of them")
    tap.diag(f"not compared, since SQLite reads beyond a page: {undefined}")
    tally.require(0.5, "damaged files, the last view on each")


def test_truncated():
    """A file that another process cuts off between two queries."""
    for pages, memory in itertools.product((1, 2, 10, 100), (0, 10_000)):
        path = views.new()
        db = views.connect(path)
        support.configure(db, column_memory=memory)
        support.execute(db, "CREATE TABLE t(c TEXT, a INT, b REAL, added REAL)", "BEGIN")
        rows = [(number, number * 0.5) for number in range(50_000)]
        db.executemany("INSERT INTO t VALUES ('pad', ?, ?, 1)", rows)
        db.execute("COMMIT")
        views.create(db, "v", SELECTS[0])
        want = views.outcome(db, SELECTS[0])
        tap.is_equal(views.ask(db, "v"), want, "before the file is cut off")
        code = f"import os; os.truncate({path!r}, {pages} * 4096)"
        subprocess.run([sys.executable, "-c", code], check=True)
        for turn in ("at once", "with nothing in memory"):
            got = views.ask(db, "v")
            error = views.fails(got, "malformed", "I/O error")
            tap.ok(error or tap.is_same(got, want), f"cut off, {pages}, {memory}, {turn}: {got}")
            views.evict(db)
            db.execute("PRAGMA shrink_memory")
        db.close()


#: The pages of a sparse file, 1 TiB of them, and what it may take of memory, in KiB: a bit for each is 256 MiB.
SPARSE_PAGES, SPARSE_SIZE = (1 << 31) - 1, 512
SPARSE_MEMORY = 100 << 10


def peak():
    """The most memory that this process has had resident, in KiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def ask_sparse(path, mode):
    """One process's work: makes the file, and prints what was asked of it, and what that took of memory."""
    signal.alarm(LIMIT)
    db = sqlite3.connect(path, isolation_level=None)
    support.execute(db, f"PRAGMA page_size = {SPARSE_SIZE}", f"PRAGMA journal_mode = {mode}",
                    "CREATE TABLE t(x INT, s TEXT)",
                    support.numbered("t", 20_000, "i, iif(i % 100, i % 7, printf('%.*c', 900, 'a'))"))
    db.close()
    with open(path, "r+b") as file:
        file.seek(28)
        file.write(SPARSE_PAGES.to_bytes(4, "big"))
        file.truncate(SPARSE_PAGES * SPARSE_SIZE)
    db = views.connect(path)
    selects = ("SELECT gpu_sum(x), count(*) FROM t", "SELECT gpu_count_distinct(s), gpu_max(x) FROM t WHERE x > 7")
    problems = []
    views.create_all(db, selects)
    views.outcome(db, selects[0])
    before = peak()
    for turn in range(4):
        for number, select in enumerate(selects):
            want, got = views.outcome(db, select), views.ask(db, f"v{number}")
            if not tap.is_same(got, want):
                problems.append(f"{turn}: {select}: {got!r}, directly {want!r}")
        if mode == "WAL":
            db.execute(f"UPDATE t SET x = x + 1 WHERE rowid = {turn * 1000 + 5}")
    fast = [views.plan(db, f"v{number}")[0] for number in range(2)]
    print(json.dumps({"problems": problems, "memory": peak() - before, "fast": fast}))


def test_sparse():
    """A small table in a file that is large only by its size, and by the number of pages in its header."""
    if not os.path.exists("/proc/self/status"):
        tap.skip(6, "no /proc/self/status")
        return
    for mode in ("DELETE", "WAL"):
        path = views.new()
        try:
            with open(path, "wb") as file:
                file.truncate(SPARSE_PAGES * SPARSE_SIZE)
        except OSError as error:
            tap.skip(3, f"no such file can be: {error}")
            continue
        os.remove(path)
        process = subprocess.run([sys.executable, "-X", "faulthandler", __file__, path, "sparse", mode],
                                 capture_output=True, text=True, check=False, timeout=LIMIT + 60)
        views.remove(path)
        if not support.child_ok(process, f"a sparse file, {mode}"):
            tap.skip(2, "it was not asked")
            continue
        result = json.loads(process.stdout.splitlines()[-1])
        tap.is_equal((result["problems"], result["fast"]), ([], ["accelerated: host"] * 2), "its answers")
        tap.ok(result["memory"] < SPARSE_MEMORY, f"take {result['memory']} KiB more")


if len(sys.argv) == 3:
    batch(sys.argv[1], int(sys.argv[2]))
elif len(sys.argv) == 4:
    ask_sparse(sys.argv[1], sys.argv[3])
else:
    views.run(globals())
