"""Connections of one process on one file, each at a snapshot, a schema and rights of its own: what
one of them has read, others may be given, and never another answer than their SELECT's.

Readers stay on old snapshots while others commit, checkpoint, VACUUM, change the schema, evict and
close. What one has not committed no other one sees. What one may not read it is not told.
"""

import os
import signal
import sqlite3

import pool_support as pool
import support
import tap
import view_support as views

MODES = ("DELETE", "WAL")
ROUNDS = 150 if tap.QUICK else 800

#: What writers do. Some fail where a reader has the file locked, or for the schema as it is.
CHANGES = (
    "UPDATE t SET a = a + 1 WHERE k % 7 = {n}",
    "UPDATE t SET c = 'name ' || (k % {n} + 1), b = b + 0.5",
    "DELETE FROM t WHERE k % 11 = {n}",
    "INSERT INTO t(a, b, c) SELECT a + {n}, -b, c FROM t WHERE k % 13 = {n}",
    "INSERT INTO t(a, b, c) VALUES ({n}, NULL, 'new {n}'), ('text', x'01', {n})",
    "CREATE TABLE IF NOT EXISTS u{n}(x)",
    "DROP TABLE IF EXISTS u{n}",
    "CREATE INDEX IF NOT EXISTS i{n} ON t(a, c)",
    "DROP INDEX IF EXISTS i{n}",
    "ALTER TABLE t ADD COLUMN d{n} DEFAULT {n}",
    "VACUUM",
    "PRAGMA wal_checkpoint(PASSIVE)",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA wal_checkpoint(RESTART)",
)
#: The same table with another root, and others' columns before its own.
MADE_ANEW = (
    "CREATE TABLE other AS SELECT * FROM t",
    "DROP TABLE t",
    "CREATE TABLE t(z, k INTEGER PRIMARY KEY, c TEXT, b REAL, a INT)",
    "INSERT INTO t(k, a, b, c) SELECT k, a * 2, b, c FROM other",
    "DROP TABLE other",
)


def attempt(client, *statements):
    """Runs statements that may fail; a transaction is rolled back then. Whether all went well."""
    try:
        for sql in statements:
            client.run(sql)
    except sqlite3.Error:
        if client.db.in_transaction:
            client.run("ROLLBACK")
        return False
    return True


class Crowd:
    """Connections to one file that come and go, some of them within a read transaction."""

    SIZE = 6

    def __init__(self, rng, mode, batch):
        self.rng, self.batch, self.path = rng, batch, views.new()
        pool.make(self.path, mode, rows=400)
        self.clients = []
        self.count = 0
        while len(self.clients) < self.SIZE:
            self.open()

    def open(self):
        """One more."""
        self.count += 1
        retention = self.rng.choice((0, 10, 10_000))
        client = pool.Client(self.path, f"number {self.count}", retention=retention, wait=0)
        self.clients.append(client)
        return client

    def step(self, number):
        """What one of them does."""
        client, luck = self.rng.choice(self.clients), self.rng.random()
        if luck < 0.15 and not client.db.in_transaction:
            client.run("BEGIN")
        elif luck < 0.3 and client.db.in_transaction:
            client.run("COMMIT")
        elif luck < 0.6 and not client.db.in_transaction:
            attempt(client, self.rng.choice(CHANGES).format(n=self.rng.randrange(7)))
        elif luck < 0.63 and not client.db.in_transaction:
            attempt(client, "BEGIN IMMEDIATE", *MADE_ANEW, "COMMIT")
        elif luck < 0.68:
            client.evict()
        elif luck < 0.72:
            support.configure(client.db, column_memory=self.rng.choice((0, 0, 1, 3_000, 20_000)))
        elif luck < 0.78:
            self.clients.remove(client)
            client.close()
            client = self.open()
        names = self.rng.sample(list(client.selects), 2)
        client.check(self.batch, f"step {number}", names)
        if number % 10 == 0:
            for other in self.clients:
                other.check(self.batch, f"all at {number}", ("sums", "grouped"))

    def close(self):
        """All of them, in any order."""
        self.rng.shuffle(self.clients)
        while self.clients:
            self.clients.pop().close()
            for other in self.clients:
                other.check(self.batch, "while others close", ("sums", "rows"))


def test_crowd(rng):
    """Steps by chance."""
    for mode in MODES:
        batch = support.Batch(f"{mode}: a crowd on one file")
        crowd = Crowd(rng, mode, batch)
        for number in range(ROUNDS):
            crowd.step(number)
        crowd.close()


def test_generations(batch):
    """A reader on each of many snapshots at once, asked in every order, and once more as they go."""
    path = pool.made("WAL")
    writer, readers = pool.Client(path, "writer"), []
    for number in range(8):
        reader = pool.Client(path, f"reader {number}")
        reader.run("BEGIN")
        if number % 2:
            reader.check(batch, "at first")
        else:
            reader.run("SELECT count(*) FROM t")
        readers.append(reader)
        writer.run("UPDATE t SET a = a + 1, c = 'name ' || ? WHERE k % 8 = ?", number, number)
        if number == 4:
            writer.run("INSERT INTO t(a, b, c) SELECT a, b, 'more' FROM t")
        writer.check(batch, f"after commit {number}")
        writer.run("PRAGMA wal_checkpoint(PASSIVE)")
    for order in (readers, readers[::-1], readers[::2] + readers[1::2]):
        pool.check_all(order, batch, "within its snapshot")
        writer.check(batch, "the newest")
    writer.evict()
    while readers:
        readers.pop(len(readers) // 2).close()
        pool.check_all((*readers, writer), batch, f"with {len(readers)} readers left")
    writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.check(batch, "after the log's end")
    writer.close()


def test_uncommitted():
    """A connection sees its own changes, and no other one does, before and after it takes them back."""
    for mode in MODES:
        batch = support.Batch(f"{mode}: uncommitted changes")
        path = pool.made(mode)
        writer, reader = pool.Client(path, "writer"), pool.Client(path, "reader", wait=0)
        for end in ("ROLLBACK", "COMMIT", "ROLLBACK"):
            pool.check_all((writer, reader), batch, "before")
            writer.run("BEGIN IMMEDIATE")
            for sql in ("UPDATE t SET a = a + 1000", "UPDATE t SET c = 'hidden' WHERE k % 2",
                        "DELETE FROM t WHERE k > 700", "ALTER TABLE t RENAME COLUMN b TO bb",
                        "ALTER TABLE t RENAME COLUMN bb TO b", *MADE_ANEW):
                writer.run(sql)
                if "bb" not in sql and "other" not in sql and not sql.startswith("DROP"):
                    writer.check(batch, f"its own: {sql}", ("sums", "grouped"))
                reader.check(batch, f"others': {sql}", ("sums", "grouped", "rows"))
            # A page cache that is too small has the changes in the log before the end.
            if mode == "WAL":
                writer.run("PRAGMA cache_size = 2")
                writer.run("UPDATE t SET c = c || ' and more'")
                reader.check(batch, "what has left the cache")
            writer.run(end)
            pool.check_all((reader, writer, reader), batch, f"after {end}")
        pool.close_all((writer, reader))


def test_rights(batch):
    """An authorizer that denies one connection what another has read and keeps."""
    path = pool.made()
    # Python would keep statements that were prepared with another authorizer.
    free, bound = pool.Client(path, "free"), pool.Client(path, "bound", cached_statements=0)
    free.check(batch, "at first")
    bound.check(batch, "at first")
    select = bound.selects["sums"]
    for verdict in (sqlite3.SQLITE_DENY, sqlite3.SQLITE_IGNORE):
        for forbidden in (("t", "a"), ("t", "b")):

            def judge(action, table, column, *_, verdict=verdict, forbidden=forbidden):
                hit = action == sqlite3.SQLITE_READ and (table, column) == forbidden
                return verdict if hit else sqlite3.SQLITE_OK

            bound.db.set_authorizer(judge)
            what = f"{forbidden}, {verdict}"
            for made in ("made before", "made now"):
                if made == "made now":
                    views.create(bound.db, "now", select)
                name = "sums" if made == "made before" else "now"
                got = views.ask(bound.db, name)
                want = views.outcome(bound.db, select)
                refused = views.fails(want)
                # The messages name what was denied, through a view or not.
                same = views.fails(got) if refused else tap.is_same(got, want)
                batch.check(same, f"{what}, {made}\n   got: {got}\n  want: {want}")
            free.check(batch, f"beside {what}")
            bound.db.set_authorizer(None)
            bound.check(batch, f"allowed again after {what}")
            bound.run("DROP TABLE IF EXISTS temp.now")
    # What denies reading tables altogether.
    bound.db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_READ
                            else sqlite3.SQLITE_OK)
    got = views.ask(bound.db, "sums")
    batch.check(views.fails(got), f"denied all, it got {got}")
    bound.db.set_authorizer(None)
    bound.run("PRAGMA query_only = 1")
    bound.check(batch, "query_only")


def test_locked():
    """A file that another has locked is read by nobody, though its columns are there."""
    for how in ("BEGIN EXCLUSIVE", "PRAGMA locking_mode = EXCLUSIVE"):
        batch = support.Batch(f"a locked file: {how}")
        path = pool.made()
        reader, other = (pool.Client(path, name, wait=0) for name in ("reader", "other"))
        holder = sqlite3.connect(path, isolation_level=None, timeout=0)
        pool.check_all((reader, other), batch, "before")
        holder.execute(how).fetchall()
        holder.execute("UPDATE t SET a = a + 1")
        for client in (reader, other):
            for name, select in client.selects.items():
                got = views.ask(client.db, name)
                batch.compare(got, views.outcome(client.db, select), name)
                batch.check(views.fails(got, "locked"), f"locked, it got {got}")
        if holder.in_transaction:
            holder.execute("COMMIT")
        holder.close()
        for client in (reader, other):
            client.check(batch, "after")
            client.close()


def test_lengths(batch):
    """Connections with other limits of the length of texts and rows."""
    if not hasattr(sqlite3.Connection, "setlimit"):
        batch.skip("this Python sets no limits")
        return
    path = pool.made("WAL")
    selects = {
        "sums": pool.SELECTS["sums"],
        "longest": "SELECT gpu_max(c), count(c), gpu_count_distinct(c) FROM {t}",
        "lookup": "SELECT gpu_sum(a) FROM {t} WHERE substr(c, 1, 6) = 'name 3'",
        "groups": "SELECT substr(c, 1, 6), gpu_sum(a) FROM {t} GROUP BY 1",
    }
    clients = []
    for limit in (1_000_000_000, 3_000, 1_000_000_000, 200):
        client = pool.Client(path, f"limit {limit}", selects=selects)
        client.db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
        clients.append(client)

    def check(step):
        pool.check_all(clients, batch, step)

    check("at first")
    clients[0].run("UPDATE t SET c = 'long ' || hex(zeroblob(500)) WHERE k = 5")
    check("a text of 1000 bytes")
    clients[0].run("UPDATE t SET c = 'longer ' || hex(zeroblob(2500)) WHERE k = 9")
    check("one of 5000 bytes")
    pool.check_all(reversed(clients), batch, "the other way round")
    clients[2].evict()
    pool.check_all(reversed(clients), batch, "evicted")
    clients[1].db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000_000)
    clients[2].db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 150)
    check("with the limits changed")
    pool.close_all(clients)


def test_forms(batch):
    """A column of one table as some need it: values, codes, bytes; and by collations of their own."""
    path = pool.made()
    forms = {
        "numbers": "SELECT gpu_sum(c), count(c) FROM t",
        "bytes": "SELECT gpu_max(c), gpu_min(c) FROM t",
        "codes": "SELECT c, count(*) FROM t GROUP BY c ORDER BY c",
        "lookup": "SELECT gpu_sum(a) FROM t WHERE mine(c) = 1",
        "collated": "SELECT count(*) FROM t WHERE c = 'NAME 3' COLLATE own",
    }
    collations = (
        lambda x, y: (x > y) - (x < y),
        lambda x, y: (x.lower() > y.lower()) - (x.lower() < y.lower()),
        lambda x, y: 0,
    )
    clients = []
    for number, collation in enumerate(collations):
        client = pool.Client(path, f"number {number}", selects={})
        # A function and a collation that mean another thing on each connection.
        client.db.create_function("mine", 1, lambda text, n=number: int(text.endswith(str(n))), deterministic=True)
        client.db.create_collation("own", collation)
        client.selects = forms
        for name, text in forms.items():
            problem = views.create(client.db, name, text)
            batch.check(problem is None, f"{name}: {problem}")
        clients.append(client)
    for step in ("at first", "again"):
        pool.check_all(clients, batch, step)
    pool.check_all(reversed(clients), batch, "the other way round")
    pool.close_all(clients)


def forked(work):
    """Runs work in a child by fork(), which ends it by _exit(); its status, or a signal's number below
    0, and a timeout is one."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_fork():
    """Children that open, ask, evict, and die in the middle: the parent's columns are its own."""
    if tap.SANITIZED:
        tap.skip(2, "a sanitizer's locks do not survive fork()")
        return
    for mode in MODES:
        batch = support.Batch(f"{mode}: children of a process with columns")
        path = pool.made(mode)
        clients = [pool.Client(path, f"number {number}") for number in range(3)]
        pool.check_all(clients, batch, "at first")

        def work(kill):
            own = support.Batch("in the child")
            inside = pool.Client(path, "child")
            for step in ("at first", "again"):
                inside.check(own, step)
            inside.evict()
            inside.check(own, "evicted")
            if kill:
                os.kill(os.getpid(), signal.SIGKILL)
            if not own.failures:
                inside.close()
            for failure in own.failures[:3]:
                tap.diag(failure)
            return not own.failures

        for turn in range(6):
            kill = turn % 2
            status = forked(lambda kill=kill: work(kill))
            batch.compare(status, -signal.SIGKILL if kill else 0, f"child {turn}'s end")
            clients[turn % len(clients)].run("UPDATE t SET a = a + 1 WHERE k % 5 = ?", turn % 5)
            pool.check_all(clients, batch, f"after child {turn}")
            if turn == 3:
                clients.pop().close()
        pool.close_all(clients)


def test_accelerated():
    """Of an old snapshot, and by limits or rights, SQLite may have to read the rows."""
    pool.TALLY.require(0.2, "all connections")


support.run(globals())
