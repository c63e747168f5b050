"""Random SELECTs over random tables, and their views, on the host or on a device, in much memory or in little.

What a SELECT gives directly, it gives through a view: same values, same types, same bits, same errors (clause 1 of
view.h), when the view is new, when its table has changed, and with other parameters.
"""

import re
import time

import support
import tap
import view_support as views

#: What a device never does, or only for plain columns: nobody waits for it.
HOSTS_OWN = re.compile("_distinct|_mode|_median|_percentile|_histogram")
#: Views that are kept while their table changes.
KEPT = 4


def as_reals(result):
    """Rows with their integers as REALs: SQLite 3.40's sorter gives a REAL that is whole, and goes through CASE or such
    a function, as an INTEGER."""
    return [
        tuple(float(value) if isinstance(value, int) and abs(value) < 2**53 else value for value in row)
        if isinstance(row, tuple) else row
        for row in result
    ] if isinstance(result, list) else result


class Run:
    """One line of a matrix: tables of a domain and what is asked about them.

    domain: a class of domains.py. count: how many SELECTs. on_table: how many SELECTs before the next table, if not all. between: how
    many SELECTs before the next change. memories: the column_memory of a table is one of these; 0 is enough. fast: what
    share of the answers is accelerated at least; on_device: what share of those that are for a device come from it. told:
    the least and the greatest share of the answers whose plan begins so. filled: what share comes from columns that SQLite
    filled, and then some are rewritten too. together: how many views
    are made before they are asked. asks_again: how often each is.
    """

    def __init__(self, domain, count, *, device="host", memories=(0,), encoding="UTF-8", on_table=None, between=12, fast=0.1,
                 on_device=None, told=None, filled=None,
                 together=1, asks_again=1):
        self.domain, self.count, self.device, self.memories, self.encoding = domain, count, device, memories, encoding
        self.on_table, self.between, self.fast, self.on_device, self.told = on_table or count, between, fast, on_device, told or {}
        self.least_filled, self.together, self.asks_again = filled, together, asks_again
        self.name = f"{domain.__name__}, {encoding}, {device}" + ("" if memories == (0,) else ", with little memory")
        self.batch = support.Batch(f"{self.name}: {count} random SELECTs and their views")
        self.tally = views.Tally()
        self.selects = self.errors = self.rewritten = self.filled = 0
        self.keeps = False  # the connection's views keep answers
        self.declined = []  # SELECTs that the device could have, and left to the host

    def outcome(self, table, select, values):
        """What a SELECT gives directly, asked once until something changes."""
        asked = select, repr(values)
        if asked not in self.known:
            self.known[asked] = views.outcome(table.db, select, values)
        return self.known[asked]

    def compare(self, table, name, select, values, what):
        """One comparison of a view that there is, or several until a device answers."""
        want = self.outcome(table, select, values)
        skipped = support.stats(table.db)["blocks_skipped"] if self.device != "host" else 0

        def judge(got):
            return self.judge(table, got, want, f"{what}: {select}\n  with {values!r}")

        hosts_own = self.device == "host" or bool(HOSTS_OWN.search(select))
        if hosts_own:
            for _ in range(1 + self.keeps):
                judge(views.ask(table.db, name, values))
        elif not views.ask_device(table.db, name, values, judge) and views.accelerated(table.db, name):
            self.declined.append(select)
        if isinstance(want, list):
            # Where blocks of rows are left out the others may be too few for a device.
            hosts_own = hosts_own or support.stats(table.db)["blocks_skipped"] > skipped
            self.tally.add(table.db, name, hosts_own)
            self.filled += "through SQLite" in views.plan(table.db, name)[-1]
        else:
            self.tally.answers += 1
            self.errors += 1

    def judge(self, table, got, want, what):
        """Shows how a table came to be with the first failure on it."""
        if "price" in what and re.search("CASE|iif|nullif|coalesce", what):
            got, want = as_reals(got), as_reals(want)
        same = self.batch.compare(got, want, what)
        if not same and table.log and len(self.batch.failures) <= self.batch.SHOWN:
            self.batch.failures[-1] += "\n" + "\n".join(table.log)
            table.log = []
        return same

    def statements(self, table, kept, rng):
        """New SELECTs and their views, which may be kept: first all views are made, then they are asked in turns."""
        made = []
        for name in rng.sample([f"v{number}" for number in range(max(KEPT, self.together))], self.together):
            select, values = table.select()
            self.selects += 1
            kept.pop(name, None)
            problem = views.create(table.db, name, select)
            if problem:
                want = self.outcome(table, select, values)
                self.judge(table, problem, want, f"created: {select}\n  {values!r}")
                self.tally.answers += 1
                self.errors += 1
                continue
            if self.device == "host" and rng.random() < 0.05:
                self.rewrite(table, select, values)
            made.append(name)
            kept[name] = select, values
        for turn in range(self.asks_again):
            for name in made:
                self.compare(table, name, *kept[name], "asked again" if turn else "new")
        for name in made * 2:
            # SQLite fills columns for a view that is asked again; the third answer is theirs too.
            lines = views.plan(table.db, name)
            if "kept when asked" in lines[0] or "rows through SQLite" in lines[-1]:
                self.compare(table, name, *kept[name], "asked again")

    def rewrite(self, table, select, values):
        """What is to be run instead of a SELECT, if there is something."""
        [(text,)] = table.db.execute("SELECT clreduce_rewrite(?)", (select,))
        if text is not None:
            want = views.outcome(table.db, select, values)
            got = views.outcome(table.db, text, values)
            self.judge(table, got, want, f"rewritten as {text}: {select}\n  with {values!r}")
            self.rewritten += 1

    def again(self, table, kept, rng):
        """The views that were kept, after a change, also with other parameters."""
        self.known = {}
        for name, (select, values) in kept.items():
            self.compare(table, name, select, values, "again")
            if values:
                values = tuple(table.parameter(rng) for _ in values)
                self.compare(table, name, select, values, "again")

    def change(self, table, kept, rng):
        """A change, sometimes inside a transaction that is looked into, and rolled back."""
        if table.other and rng.random() < 0.4:
            table.change(table.other)
            if self.device == "host" and rng.random() < 0.5:
                self.rewrite(table, *table.select())
        elif rng.random() < 0.3:
            table.run("BEGIN")
            table.change()
            self.again(table, kept, rng)
            if rng.random() < 0.3:
                table.run("SAVEPOINT inside")
                table.change()
                self.again(table, kept, rng)
                table.run("ROLLBACK TO inside")
            table.run(rng.choice(("ROLLBACK", "ROLLBACK", "COMMIT")))
            table.refresh()
        else:
            table.change()
        self.again(table, kept, rng)

    def table(self, rng):
        """One table with all that is asked of it."""
        table = self.domain(rng, views.new(), self.device, self.encoding)
        # Of plans that have to be told nothing is kept: a kept answer's tells of nothing else.
        self.keeps = self.device == "host" and not self.told and rng.random() < 0.5
        support.configure(table.db, column_memory=rng.choice(self.memories), keep_answers="on" if self.keeps else "off")
        self.known, kept, end = {}, {}, self.selects + self.on_table
        while self.selects < end:
            for _ in range(min(self.between, end - self.selects + self.together - 1) // self.together):
                self.statements(table, kept, rng)
            self.change(table, kept, rng)
        table.close()

    def share(self, beginning):
        """What share of the answers had a plan that begins so."""
        return sum(count for reason, count in self.tally.reasons.items() if reason.startswith(beginning)) / max(1, self.tally.answers)

    def goes_on(self):
        """Whether statements are missing: also such as are told in the plan, which few tables may happen to have none of."""
        lacking = any(self.share(beginning) <= least for beginning, (least, _) in self.told.items())
        lacking = lacking or (self.least_filled is not None and not self.filled)
        lacking = lacking or (self.device != "host" and self.tally.fast < min(10, self.count / 2))
        return (self.selects < self.count or (lacking and self.selects < 9 * self.count)) and len(self.batch.failures) < 50

    def all(self, rng):
        """The checks."""
        start = time.monotonic()
        while self.goes_on():
            self.table(rng)
        self.batch.end()
        tap.diag(f"{self.selects} SELECTs, {self.tally.answers} answers, {self.errors} of them errors, {self.rewritten} rewritten,"
                 f" {time.monotonic() - start:.1f} s")
        tap.ok(self.errors < self.tally.answers / 2, "most of them gave rows")
        self.tally.require(self.fast, self.name)
        for beginning, (least, most) in self.told.items():
            share = self.share(beginning)
            tap.ok(least < share < most, f"{share:.1%} of the plans are '{beginning}': more than {least:.1%}, less than {most:.1%}")
        if self.least_filled is not None:
            tap.ok(self.rewritten > 0, f"{self.rewritten} of them were rewritten")
            tap.ok(self.filled > self.least_filled * self.tally.answers, f"{self.filled} came from columns that SQLite filled")
        if self.on_device is not None:
            self.tally.require_device(self.on_device, self.name)
            tap.diag("\n".join(f"not on the device: {select}" for select in self.declined))


def times(quick, long):
    """How many SELECTs, or what share of them, in a quick run and in a long one."""
    return quick if tap.QUICK else long


def run_all(rng, runs):
    """All lines of a matrix; a device stays started while they run."""
    for device in dict.fromkeys(run.device for run in runs):
        started = views.warm(device)
        for run in runs:
            if run.device == device:
                run.all(rng)
        started.close()
