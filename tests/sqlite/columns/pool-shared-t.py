"""What the connections of a process share: a column is read once, whoever needs it, and lies in memory
once; settings that are the process's; what stays when connections close.

That answers are right whatever is shared is tested elsewhere: pool-files-t.py, pool-snapshots-t.py
and pool-threads-t.c.
"""

import time

import pool_support as pool
import support
import tap
import view_support as views

ROWS = 20_000
SUMS = {"sums": pool.SELECTS["sums"], "grouped": pool.SELECTS["grouped"]}

#: Milliseconds that columns stay without a connection: hardly any, and more than a test takes.
SHORT, LONG = 300, 600_000


def columns(client):
    """What is kept, as this connection has it listed: a dictionary for each column, by its name."""
    cursor = client.db.execute("SELECT * FROM clreduce_columns")
    names = [entry[0] for entry in cursor.description]
    return {row["column"]: row for row in (dict(zip(names, values)) for values in cursor)}


def size(client):
    """The bytes of these."""
    return sum(row["bytes"] or 0 for row in columns(client).values())


def resident(client, name):
    """Whether the view's last query found all columns there, and its plan says so."""
    return any(line.endswith("all columns are resident") for line in views.plan(client.db, name))


def asked(batch, client, step, reads):
    """Asks all views of a client; it reads something or nothing, as its statistics say."""
    before = client.decoded()
    client.check(batch, step)
    got = client.decoded() - before
    batch.check((got > 0) == reads, f"{step}: {client.label} has read {got} bytes")
    if not reads:
        for name in client.selects:
            batch.check(resident(client, name), f"{step}: {client.label}, {views.plan(client.db, name)}")


def clients_of(path, count, **options):
    """So many connections."""
    options.setdefault("selects", SUMS)
    return [pool.Client(path, f"number {number}", **options) for number in range(count)]


def new(mode="WAL", **options):
    """A new file."""
    return pool.made(mode, rows=ROWS, **options)


def test_read_once():
    """What one has read the others find, by any name of the file, and with views of their own."""
    for mode in ("DELETE", "WAL"):
        batch = support.Batch(f"{mode}: others find what one has read")
        path = new(mode)
        first, *others = clients_of(path, 5)
        asked(batch, first, "at first", True)
        asked(batch, first, "again", False)  # what is kept of blocks of rows comes with the second scan
        whole = size(first)
        for client in others:
            asked(batch, client, "others", False)
            batch.compare(size(client), whole, "they list the same columns")
        attached = pool.Client(views.new(), "attached", table="x.t", selects=SUMS,
                               before=(f"ATTACH '{path}' AS x",))
        asked(batch, attached, "attached by another name", False)
        late = pool.Client(path, "late", selects=SUMS)
        pool.close_all([first, *others])
        asked(batch, late, "after the one that read is closed", False)
        batch.compare(size(late), whole, "nothing went with that")
        pool.close_all([late, attached])


def test_changes(batch):
    """A commit is read once, and by parts; readers of the old snapshot go on with the old columns."""
    path = new()
    clients = clients_of(path, 4)
    # What a commit has changed is known between two snapshots of one log: so there has to be one.
    clients[0].run("UPDATE t SET a = a + 1 WHERE k = 100")
    pool.check_all(clients, batch, "at first")
    whole = size(clients[0])
    for turn in range(3):
        old, newer = clients[0], clients[1:]
        old.run("BEGIN")
        old.check(batch, "at the old snapshot")
        newer[0].run("UPDATE t SET a = a + 1 WHERE k = ?", turn + 1)
        before = [client.decoded() for client in clients]
        pool.check_all(newer, batch, "at the new one")
        read = [client.decoded() - was for client, was in zip(clients, before)]
        batch.check(0 < sum(read) < whole / 4, f"turn {turn}: of {whole} bytes {read} were read")
        batch.check(sum(bytes_read > 0 for bytes_read in read) == 1, f"turn {turn}: by one: {read}")
        before = old.decoded()
        old.check(batch, "the old one goes on")
        batch.compare(old.decoded(), before, "and reads nothing")
        batch.check(size(old) <= 2.5 * whole, f"turn {turn}: {size(old)} bytes of both")
        old.run("COMMIT")
        asked(batch, old, "the old one is new", False)
        asked(batch, newer[0], "the newest stays", False)
    batch.check(size(clients[0]) <= 1.2 * whole, f"in the end {size(clients[0])} bytes, not {whole}")
    pool.close_all(clients)


def test_memory(batch):
    """The columns of many connections take what those of one take."""
    path = new()
    one = pool.Client(path, "one", selects=SUMS)
    one.check(batch, "alone")
    one.check(batch, "again")  # what is kept of blocks of rows comes with the second scan
    whole = size(one)
    clients = [one, *clients_of(path, 7)]
    pool.check_all(clients, batch, "all")
    batch.compare(size(one), whole, "bytes for all")
    pool.close_all(clients)


def setting(client, name):
    """A setting's value, or None if there is none of that name."""
    found = client.run("SELECT value FROM clreduce_settings WHERE name = ?", name)
    return found[0][0] if found else None


def default(client, name):
    """What it is if nobody sets it, likewise."""
    found = client.run('SELECT "default" FROM clreduce_settings WHERE name = ?', name)
    return found[0][0] if found else None


def test_settings(batch):
    """column_memory and column_retention are the process's."""
    path = new()
    first, second = clients_of(path, 2)
    batch.compare(default(first, "column_retention"), "10000", "milliseconds if nobody says more")
    for name, value in (("column_memory", 1_234_567), ("column_retention", 321)):
        if not batch.check(pool.has(first.db, name), f"there is a setting {name}"):
            continue
        usual = setting(first, name)
        support.configure(first.db, **{name: value})
        late = pool.Client(path, "late", selects=SUMS)
        for client in (first, second, late):
            batch.compare(setting(client, name), str(value), f"{name}, {client.label}")
        late.close()
        support.configure(second.db, **{name: usual})
        batch.compare(setting(first, name), usual, f"{name} as it was")
    # What is too much for the new value goes, whoever used it.
    pool.check_all((first, second), batch, "with memory")
    whole = size(first)
    support.configure(second.db, column_memory=whole // 3)
    second.check(batch, "with less memory")
    first.check(batch, "with less memory")
    batch.check(size(first) <= whole // 3, f"{size(first)} bytes of {whole // 3}")
    support.configure(first.db, column_memory=0)
    pool.close_all([first, second])


def test_evicted(batch):
    """clreduce_evict() frees what nobody is using at that moment, whoever read it."""
    path = new()
    first, second = clients_of(path, 2)
    first.evict()  # what stays of files that were closed before
    pool.check_all((first, second), batch, "at first")
    lookups = int(support.stats(first.db)["lookup_bytes"])
    batch.check(lookups > 0, "and what was looked up")
    whole = size(first) + lookups
    batch.compare(second.evict(), whole, "the other frees what the first has read")
    batch.compare((columns(first), int(support.stats(first.db)["lookup_bytes"])), ({}, 0), "nothing is left")
    asked(batch, first, "it is read again", True)
    asked(batch, second, "and once", False)
    pool.close_all([first, second])


def test_retention(batch):
    """Columns stay for a while after a file's last connection has closed, or go at once."""
    keeper = pool.Client(":memory:", "keeper", selects={})
    for kept in (True, False):
        path = new()
        time.sleep(0.2)  # what a file had that changed just now is not kept
        client = pool.Client(path, "first", selects=SUMS, retention=LONG if kept else 0)
        client.check(batch, "at first")
        client.close()
        again = pool.Client(path, "again", selects=SUMS)
        asked(batch, again, f"kept: {kept}", not kept)
        again.close()
    # After the time is over they go, if not before something else happens here.
    path = new()
    client = pool.Client(path, "first", selects=SUMS, retention=SHORT)
    client.check(batch, "for a moment")
    client.close()
    time.sleep(8 * SHORT / 1000)
    batch.compare(columns(keeper), {}, "they are gone after a while")
    again = pool.Client(path, "again", selects=SUMS)
    asked(batch, again, "after the time is over", True)
    again.close()
    # One that opens in between keeps them.
    time.sleep(0.2)
    client = pool.Client(path, "one", selects=SUMS, retention=5_000)
    client.check(batch, "one")
    client.close()
    again = pool.Client(path, "two", selects=SUMS)
    asked(batch, again, "within the time", False)
    time.sleep(0.2)
    asked(batch, again, "and it is its own now", False)
    again.close()
    if pool.has(keeper.db, "column_retention"):
        support.configure(keeper.db, column_retention=10_000)
    keeper.close()


def test_own(batch):
    """What is no proved file is each connection's own, and is not listed for others, nor evicted."""
    path = new("DELETE")
    file = pool.Client(path, "file", selects=SUMS)
    file.check(batch, "at first")
    whole = size(file)
    for address in (f"file:{path}?vfs=unix-dotfile", f"file:{path}?nolock=1", f"file:{path}?immutable=1"):
        one = pool.Client(address, address, selects=SUMS, uri=True)
        one.check(batch, "not shared")
        one.check(batch, "not shared")
        batch.compare(size(file), whole, f"the file's columns alone are listed beside {address}")
        one.close()
    file.close()


def test_device():
    """A device has one copy of a column, which all connections use."""
    kinds = [kind for kind in views.devices() if kind != "host"]
    if not kinds:
        tap.skip(1, "no device to keep columns on")
        return
    batch = support.Batch(f"one copy on {kinds[0]}")
    path = new()
    select = {"sums": "SELECT gpu_sum(a), gpu_max(b) FROM {t}"}
    first, second = clients_of(path, 2, device=kinds[0], selects=select)
    batch.check(views.ask_device(first.db, "sums"), "a device answers")
    copies = {name: row["device_bytes"] for name, row in columns(first).items()}
    batch.check(views.ask_device(second.db, "sums"), "and the other's query")
    second.check(batch, "the other")
    batch.compare({name: row["device_bytes"] for name, row in columns(second).items()}, copies, "the same copies")
    batch.compare(second.decoded(), 0, "the other has read nothing")
    pool.close_all([first, second])


support.run(globals())
