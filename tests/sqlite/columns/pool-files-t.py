"""Connections of one process, and which file it is that each has open: what one has read of a file is
never another one's answer about another file, whatever their names and inodes.

Files are replaced under their name while no connection or another one has them open, with columns
that stay for a while after the last connection and with none.
"""

import os
import resource
import sqlite3
import subprocess
import sys
import time

import pool_support as pool
import support
import tap
import view_support as views

MODES = ("DELETE", "WAL")

#: Milliseconds that columns stay without a connection.
RETENTIONS = (0, 60_000)

#: The database header: where the change counter is, and what goes with it.
COUNTER, VALID_FOR = slice(24, 28), slice(92, 96)


def everywhere():
    """All modes and times."""
    return ((mode, retention) for mode in MODES for retention in RETENTIONS)


def asked(batch, path, step, **options):
    """A connection that is opened, asked twice, and returned."""
    client = pool.Client(path, **options)
    batch.compare(client.problems, [None] * len(client.selects), f"{step}: views are made")
    client.check(batch, step)
    client.check(batch, f"{step}, again")
    return client


def bytes_of(path):
    """A file's content."""
    with open(path, "rb") as file:
        return file.read()


def overwrite(path, content):
    """Writes over a file that stays the same inode."""
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate()


def test_renamed():
    """Another file takes the name, while the old one is closed, and while it is open."""
    for mode, retention in everywhere():
        batch = support.Batch(f"{mode}, {retention} ms: a file is renamed over another")
        path, other = pool.made(mode), views.new()
        asked(batch, path, "at first", retention=retention).close()
        for factor in (3, 9):
            pool.make(other, mode, factor=factor)
            os.replace(other, path)
            asked(batch, path, f"factor {factor}", retention=retention).close()
        # A connection that has the old file open goes on with that in a mode without a log's name.
        if mode == "DELETE":
            old = asked(batch, path, "the old one", label="old", retention=retention)
            pool.make(other, mode, factor=11)
            os.replace(other, path)
            new = asked(batch, path, "the new one", label="new", retention=retention)
            for step in ("both", "both again"):
                old.check(batch, step)
                new.check(batch, step)
            new.run("UPDATE t SET a = a + 1 WHERE k % 3 = 0")
            pool.check_all((old, new, old), batch, "after a change of the new one")
            old.close()
            new.check(batch, "after the old one is closed")
            new.close()


def copied_over(batch, path, content, retention, what, times=None):
    """A file whose content is another one, with the connections closed and opened again."""
    status = os.stat(path)
    overwrite(path, content)
    if times:
        os.utime(path, ns=times)
    batch.check(os.stat(path).st_ino == status.st_ino, f"{what}: the inode stays")
    asked(batch, path, what, retention=retention).close()


def test_copied_over():
    """A file's content is replaced: of the same size, and with the same change counter, too; and
    with the time of its last change set back, as a copy that preserves times has it."""
    for mode, retention in everywhere():
        batch = support.Batch(f"{mode}, {retention} ms: a file is copied over another")
        path, other = pool.made(mode, factor=1), pool.made(mode, factor=3)
        one, two = bytes_of(path), bytearray(bytes_of(other))
        batch.compare(len(two), len(one), "files of the same size")
        for part in (COUNTER, VALID_FOR):
            two[part] = one[part]
        times = (os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns)
        asked(batch, path, "at first", retention=retention).close()
        copied_over(batch, path, bytes(two), retention, "the same counter")
        copied_over(batch, path, one, retention, "and the first content")
        copied_over(batch, path, bytes(two), retention, "the same times", times)
        copied_over(batch, path, one, retention, "the same times and the first content", times)
        # Another's change in between, with the counter set back.
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("UPDATE t SET a = a + 7")
        db.close()
        changed = bytearray(bytes_of(path))
        for part in (COUNTER, VALID_FOR):
            changed[part] = one[part]
        copied_over(batch, path, bytes(changed), retention, "changed, and the counter set back")


#: What others do to a file that nobody here has open: as a rule its size stays.
ELSEWHERE = (
    "UPDATE t SET a = a + 1 WHERE k = 9",
    "UPDATE t SET a = a - 1 WHERE k = 9; UPDATE t SET b = b + 1 WHERE k = 500",
    "BEGIN; UPDATE t SET a = 0; ROLLBACK",
    "UPDATE t SET a = a + 1; UPDATE t SET a = a - 1",
    "UPDATE t SET a = a + 2 WHERE k % 2",
    "PRAGMA journal_mode = DELETE; UPDATE t SET a = -a; PRAGMA journal_mode = WAL",
    "PRAGMA journal_mode = WAL; UPDATE t SET a = a * 3; PRAGMA journal_mode = DELETE",
    "VACUUM; UPDATE t SET c = 'name 1' WHERE c = 'name 2'",
)


def test_written_elsewhere():
    """Another process, or a connection without the extension, writes while nobody has the file open
    here, and is the last to close it."""
    code = ("import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
            " db.executescript(sys.argv[2]); db.close()")
    for mode, retention in everywhere():
        batch = support.Batch(f"{mode}, {retention} ms: written while it is closed")
        path = pool.made(mode)
        asked(batch, path, "at first", retention=retention).close()
        for number, script in enumerate(ELSEWHERE):
            if number % 2:
                db = sqlite3.connect(path, isolation_level=None)
                db.executescript(script)
                db.close()
            else:
                subprocess.run([sys.executable, "-c", code, path, script], check=True, timeout=60)
            asked(batch, path, script, retention=retention).close()


class Keeper:
    """A process that has run statements, and leaves the log as it is: it does not close the file."""

    CODE = ("import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
            " db.execute('PRAGMA wal_autocheckpoint = 0'); db.executescript(sys.argv[2]);"
            " print('done', flush=True); sys.stdin.read()")

    def __init__(self, path, script):
        self.child = subprocess.Popen([sys.executable, "-c", self.CODE, path, script],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.child.stdout.readline()

    def kill(self):
        """Its end."""
        self.child.kill()
        self.child.communicate()


def test_restored():
    """A database and its log as they were are written over those of later, and go on in another way:
    with the same salts, and in the end with more frames."""
    for retention in RETENTIONS:
        batch = support.Batch(f"{retention} ms: a database and its log are restored")
        path = pool.made("WAL")
        keeper = Keeper(path, "UPDATE t SET a = a + 1 WHERE k = 100")
        saved = {name: bytes_of(name) for name in (path, f"{path}-wal")}
        keeper.kill()
        for number in range(4):
            # More and more frames; those that the columns are of are not among the next ones.
            changes = [f"UPDATE t SET a = a + {number + 1} WHERE k = {row}"
                       for row in range(5 + 40 * number, 780, 180 - 40 * number)]
            keeper = Keeper(path, ";".join(changes))
            asked(batch, path, f"history {number}", retention=retention).close()
            keeper.kill()
            if number == 1:
                os.remove(f"{path}-shm")
            for name, content in saved.items():
                overwrite(name, content)
        asked(batch, path, "as it was in the beginning", retention=retention).close()


def lets_go(client, way, other):
    """A connection that stays open gives up its file, and nothing of the library looks at that."""
    if way == "DETACH":
        client.run("DETACH b")
    elif way == "deserialize":
        client.db.deserialize(bytes_of(other))
    else:
        client.run("PRAGMA journal_mode = DELETE")


def test_let_go():
    """A file is let go by a connection that stays open; then it is restored with its log, and goes on
    in another way, with the same salts and more frames."""
    for way in ("DETACH", "deserialize", "journal_mode"):
        if way == "deserialize" and not views.can_deserialize():
            continue
        batch = support.Batch(f"restored after {way} of a connection that stays open")
        path, other = pool.made("WAL"), pool.made()
        keeper = Keeper(path, "UPDATE t SET a = a + 1 WHERE k = 100")
        saved = {name: bytes_of(name) for name in (path, f"{path}-wal")}
        keeper.kill()
        clients = []
        for number in range(4):
            changes = [f"UPDATE t SET a = a + {number + 1} WHERE k = {row}"
                       for row in range(5 + 40 * number, 780, 180 - 40 * number)]
            keeper = Keeper(path, ";".join(changes))
            if way == "DETACH" and clients:
                clients[0].run("ATTACH ? AS b", path)
                clients[0].check(batch, f"history {number}, attached again")
                clients[0].check(batch, f"history {number}, once more")
            elif way == "journal_mode" and clients:
                clients[0].check(batch, f"history {number}, opened all the time")
            else:
                clients.append(asked(batch, other, f"history {number}", table="b.t", label=way,
                                     before=(f"ATTACH '{path}' AS b",))
                               if way == "DETACH" else
                               asked(batch, path, f"history {number}", label=way))
            # Another one finds what the first has read, while that has the file open.
            asked(batch, path, f"history {number}, another").close()
            keeper.kill()
            lets_go(clients[-1], way, other)
            if number == 1 and os.path.exists(f"{path}-shm"):
                os.remove(f"{path}-shm")
            for name, content in saved.items():
                with open(name, "r+b" if os.path.exists(name) else "wb") as file:
                    file.write(content)
                    file.truncate()
        asked(batch, path, "as it was in the beginning").close()
        pool.close_all(clients)


def test_replaced():
    """Another database takes the place of one that a connection has let go, and attaches again by the
    same name: it is renamed over it, backed up or vacuumed into it."""
    for mode in MODES:
        batch = support.Batch(f"{mode}: replaced between DETACH and ATTACH")
        path, main = pool.made(mode), pool.made()
        client = asked(batch, main, "at first", table="b.t", before=(f"ATTACH '{path}' AS b",))
        for number, way in enumerate(("rename", "backup", "VACUUM INTO", "rename")):
            client.run("DETACH b")
            other = pool.made(mode, factor=3 + 2 * number)
            if way == "rename":
                os.replace(other, path)
            else:
                source = sqlite3.connect(other, isolation_level=None)
                if way == "backup":
                    target = sqlite3.connect(path, isolation_level=None)
                    source.backup(target)
                    target.close()
                else:
                    os.truncate(path, 0)
                    source.execute("VACUUM INTO ?", (path,))
                source.close()
            client.run("ATTACH ? AS b", path)
            client.check(batch, way)
            client.check(batch, f"{way}, again")
        # And while it is attached.
        source, target = sqlite3.connect(main), sqlite3.connect(path)
        client.check(batch, "before the last")
        source.backup(target)
        client.check(batch, "backed up while it is open")
        pool.close_all((source, target))
        client.close()


def test_forked(batch):
    """A child after fork() has its parent's columns, and no hold on its parent's files: these are
    restored before it opens them."""
    path = pool.made("WAL")
    keeper = Keeper(path, "UPDATE t SET a = a + 1 WHERE k = 100")
    saved = {name: bytes_of(name) for name in (path, f"{path}-wal")}
    keeper.kill()
    keeper = Keeper(path, "UPDATE t SET a = a + 7 WHERE k = 5; UPDATE t SET a = a + 7 WHERE k = 9")
    parents = asked(batch, path, "the parent", retention=60_000)
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        asked(batch, path, "the child").close()
        for failure in batch.failures:
            tap.diag(failure)
        sys.stdout.flush()
        os._exit(1 if batch.failures else 0)
    os.close(reading)
    parents.close()
    keeper.kill()
    for name, content in saved.items():
        overwrite(name, content)
    keeper = Keeper(path, ";".join(f"UPDATE t SET a = a + 1 WHERE k = {k}" for k in range(300, 600, 40)))
    os.close(writing)
    batch.compare(os.waitpid(child, 0)[1], 0, "the child's end")
    keeper.kill()


def descriptors(path):
    """How many of this process's descriptors are of databases beside that one."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.path.dirname(path) in os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass
    return found


def test_descriptors(batch):
    """Closed files whose columns stay take a descriptor each: of few files, of fewer where the process
    may have few, and of none that is deleted."""
    paths = [pool.made(rows=200) for _ in range(40)]
    # What has changed just now would not stay at all.
    time.sleep(0.2)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit, most in ((min(limits[0], 1024), 16), (128, 4)):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limits[1]))
        for path in paths:
            asked(batch, path, f"limit {limit}", retention=60_000).close()
            batch.check(descriptors(path) <= most, f"limit {limit}: {descriptors(path)} descriptors")
        batch.check(descriptors(path) > 0, f"limit {limit}: some stay")
        again = asked(batch, paths[-1], "columns that stay", retention=60_000)
        batch.compare(again.decoded(), 0, "what is read again")
        again.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    # Deleted while it is open, and afterwards.
    before = descriptors(path)
    client = asked(batch, paths[0], "deleted while it is open", retention=60_000)
    os.remove(paths[0])
    client.close()
    batch.check(descriptors(path) <= before, "of a file deleted before it is closed")
    for path in paths[1:]:
        os.remove(path)
    for _ in range(1000):
        if descriptors(path) == 0:
            break
        time.sleep(0.02)
    batch.compare(descriptors(path), 0, "of files deleted after they are closed")


def test_inode_again():
    """A file is deleted, and another made by the same steps, often with the same inode."""
    for mode, retention in everywhere():
        batch = support.Batch(f"{mode}, {retention} ms: files that come and go")
        path, inodes = views.new(), []
        for factor in (1, 3, 9, 11, 13, 17):
            pool.make(path, mode, factor=factor)
            inodes.append(os.stat(path).st_ino)
            asked(batch, path, f"factor {factor}", retention=retention).close()
            views.remove(path)
        tap.diag(f"{len(inodes)} files had {len(set(inodes))} inodes")
        # And while another connection keeps an older file open.
        pool.make(path, mode, factor=19)
        old = asked(batch, path, "deleted while it is open", label="old", retention=retention)
        if mode == "DELETE":
            views.remove(path)
            pool.make(path, mode, factor=21)
            new = asked(batch, path, "made anew", label="new", retention=retention)
            old.check(batch, "of a file without a name")
            new.close()
            old.check(batch, "and again")
        old.close()


def test_links():
    """One file by several names: what one connection writes the others see."""
    for mode in MODES:
        batch = support.Batch(f"{mode}: links to one file")
        path = pool.made(mode)
        names = [path, f"{path}-symbolic", os.path.join(os.path.dirname(path), ".", os.path.basename(path))]
        os.symlink(path, names[1])
        # A log belongs to a name, and so SQLite's users may not have hard links in WAL mode.
        if mode == "DELETE":
            names.append(f"{path}-hard")
            os.link(path, names[-1])
        clients = [asked(batch, name, "at first") for name in names]
        for number, client in enumerate(clients):
            client.run("UPDATE t SET a = a + ? WHERE k % 5 = ?", number + 1, number)
            pool.check_all(clients, batch, f"after a change by {os.path.basename(client.label)}")
        # The symbolic link comes to mean another file.
        os.remove(names[1])
        os.symlink(pool.made(mode, factor=3), names[1])
        moved = asked(batch, names[1], "the link means another file", label="moved")
        pool.check_all((*clients, moved), batch, "beside that")
        pool.close_all((*clients, moved))


def vfs_of(path):
    """The names by which the same file is opened in other ways."""
    yield "unix-dotfile", f"file:{path}?vfs=unix-dotfile"
    yield "unix-none", f"file:{path}?vfs=unix-none"
    yield "unix-excl", f"file:{path}?vfs=unix-excl"
    yield "nolock", f"file:{path}?nolock=1"
    yield "immutable", f"file:{path}?immutable=1"
    yield "mode=ro", f"file:{path}?mode=ro"


def test_other_vfs(batch):
    """The same path through other VFSes, whose locks exclude nobody: nobody writes while they are
    open, and each time they see what was written before."""
    path = pool.made()
    first = asked(batch, path, "at first", retention=60_000)
    for round_number in range(2):
        for name, address in vfs_of(path):
            other = asked(batch, address, f"round {round_number}", label=name, uri=True)
            first.check(batch, f"beside {name}")
            other.close()
            first.run("UPDATE t SET a = a + 1 WHERE k % 2 = 1")
            first.check(batch, f"after a change behind {name}")
    # What does not see changes is told of none: it may answer of what was there when it was opened.
    still = asked(batch, f"file:{path}?immutable=1", "immutable", label="immutable", uri=True)
    still.check(batch, "immutable, while another reads")
    first.check(batch, "beside it")
    still.close()
    first.close()


def test_no_file(batch):
    """Databases that are no files are each connection's own, whatever their names."""
    clients = []
    for factor, path in ((1, ":memory:"), (3, ":memory:"), (9, ""), (11, ""), (13, "file:one?mode=memory")):
        fill = pool.FILL.format(t="t", rows=pool.ROWS, factor=factor)
        clients.append(pool.Client(path, label=f"{path} {factor}", uri=path.startswith("file:"),
                                   before=(pool.TABLE.format(t="t"), fill)))
    for step in ("at first", "again"):
        pool.check_all(clients, batch, step)
    clients[0].run("UPDATE t SET a = -a")
    pool.check_all(clients, batch, "after one's change")
    pool.close_all(clients)
    if views.can_deserialize():
        path, other = pool.made(factor=1), pool.made(factor=3)
        file = asked(batch, path, "a file")
        for content in (bytes_of(path), bytes_of(other), bytes_of(path)):
            loaded = pool.Client(path, label="deserialized")
            loaded.check(batch, "before it is another")
            loaded.db.deserialize(content)
            loaded.check(batch, "deserialized")
            loaded.run("UPDATE t SET a = a + 1 WHERE k > 5")
            loaded.check(batch, "deserialized and changed")
            file.check(batch, "beside it")
            loaded.close()
        file.close()


def test_attached():
    """Files by other names of schemas: a connection's main is another one's b, and so on; the tables
    have the same names and the same roots."""
    for mode in MODES:
        batch = support.Batch(f"{mode}: attached by other names")
        paths = [pool.made(mode, factor) for factor in (1, 3, 9)]
        clients = []
        for turn in range(3):
            main, left, right = paths[turn:] + paths[:turn]
            for schema in ("main", "a", "b"):
                clients.append(
                    asked(batch, main, "at first", table=f"{schema}.t", label=f"{turn} {schema}",
                          before=(f"ATTACH '{left}' AS a", f"ATTACH '{right}' AS b"))
                )
        for number, client in enumerate(clients):
            schema = ("main", "a", "b")[number % 3]
            client.run(f"UPDATE {schema}.t SET a = a + ?, b = b * 2 WHERE k % 9 = ?", number, number)
            pool.check_all(clients, batch, f"after {client.label}'s change", ("sums", "grouped"))
        # A name comes to mean another file.
        client = clients[0]
        client.run("DETACH a")
        client.run("DETACH b")
        client.run("ATTACH ? AS a", paths[2])
        client.run("ATTACH ? AS b", paths[1])
        for schema in ("a", "b"):
            select = pool.SELECTS["grouped"].format(t=f"{schema}.t")
            batch.compare(views.through_view(client.db, select), client.run(select), f"{schema} is another file now")
        # One file twice in a connection.
        twice = asked(batch, paths[0], "twice", table="again.t",
                      before=(f"ATTACH '{paths[0]}' AS again",))
        twice.check(batch, "the second time")
        twice.close()
        pool.close_all(clients)


def test_roots(batch):
    """Tables with the same root page and name in files of the same size; and tables that exchange
    their roots."""
    one, two = pool.made(tables=("t", "u"), factor=1), pool.made(tables=("u", "t"), factor=3)
    roots = "SELECT name, rootpage FROM sqlite_schema ORDER BY name"
    clients = [asked(batch, path, "at first", table=table, label=f"{path} {table}")
               for path in (one, two) for table in ("t", "u")]
    batch.compare(sorted(root for _, root in clients[0].run(roots)),
                  sorted(root for _, root in clients[2].run(roots)), "the roots are the same")
    clients[0].run("BEGIN")
    for sql in ("ALTER TABLE t RENAME TO w", "ALTER TABLE u RENAME TO t", "ALTER TABLE w RENAME TO u"):
        clients[0].run(sql)
    clients[0].check(batch, "exchanged, not committed")
    clients[2].check(batch, "beside that")
    clients[0].run("COMMIT")
    pool.check_all(clients, batch, "exchanged")
    pool.close_all(clients)


def test_accelerated():
    """Most answers were."""
    pool.TALLY.require(0.5, "all files")


support.run(globals())
