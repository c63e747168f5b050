"""Tables whose pages can't be read, and queries of views over them that are watched."""

import sqlite3

import support
import view_support as views

ROWS = 300
LATER, FILLED, KEPT = "will be kept when asked", "rows through SQLite", "all columns are resident"
FILL = support.numbered("{table}(a, b, c)", "{rows}", "i, i * 0.25,"
                        " CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i * 0.5 ELSE 'text ' || i END")
PLAIN = "CREATE TABLE {table}(a INT, b REAL, c)"
KEYED = "CREATE TABLE {table}(a INT, b REAL, c, PRIMARY KEY (a)) WITHOUT ROWID"
VIRTUAL = (
    "CREATE TABLE {table}(a INT, s INT AS (a + 1) STORED, b REAL, c,"
    " g AS (a * b - s), j REAL AS (json_extract('[' || a || ']', '$[0]')))"
)
SELECTS = {
    "sums": "SELECT gpu_sum(a), gpu_total(b), count(c), count(*) FROM t",
    "part": "SELECT gpu_sum(a), max(b), gpu_dot(a, b) FROM t WHERE b > :least",
}
ON_VIRTUAL = dict(SELECTS, made="SELECT gpu_sum(g), gpu_sum(j * a), gpu_max(g) FROM t WHERE g > 3")
PARAMETERS = {"part": (10,)}


def fill(db, kind, table="t", rows=ROWS):
    """A table of that declaration, with rows."""
    db.execute(kind.format(table=table))
    db.execute(FILL.format(table=table, rows=rows))


class Watch(views.Watch):
    """A connection whose views' plans are looked at, too; of which none has columns at first if there is a reason."""

    def __init__(self, db, label, selects=SELECTS, parameters=PARAMETERS, reason=None):
        super().__init__(db, f"filled by SQLite: {label}", selects, parameters)
        self.look("at first", reason)

    def settle(self, step):
        """Asks each view until its columns are there, or it is clear that they won't be."""
        last = {}
        for name in self.selects:
            for _ in range(12):
                last[name] = self.ask(name, step)
                if KEPT in last[name][-1] or LATER not in last[name][0] + FILLED * (FILLED in last[name][-1]):
                    if FILLED not in last[name][-1]:
                        break
        return last

    def kept(self, step):
        """Nothing but queries happens: after some all columns are there, and stay."""
        self.settle(step)
        loaded = support.stats(self.db)["rows_loaded"]
        for name in self.selects:
            lines = self.ask(name, step)
            self.batch.check(
                lines[0].startswith("accelerated") and KEPT in lines[-1],
                f"{step}: {name} is not kept: {lines}",
            )
        same = support.stats(self.db)["rows_loaded"] == loaded
        self.batch.check(same, f"{step}: columns were filled though nothing happened")

    def by_rows(self, step, reason):
        """SQLite runs the SELECTs, however often they are asked."""
        for name, lines in self.settle(step).items():
            told = lines[0].startswith("row by row") and reason in lines[0]
            self.batch.check(told, f"{step}: {name} is not by rows for '{reason}': {lines}")

    def look(self, step, reason):
        """Columns are kept, or rows are SQLite's for that reason."""
        if reason is None:
            self.kept(step)
        else:
            self.by_rows(step, reason)

    def run(self, sql, db=None, reason=None):
        """A statement, here or elsewhere, after which columns are kept again, or by rows why."""
        step = sql if db is None else f"elsewhere: {sql}"
        try:
            (db or self.db).execute(sql).fetchall()
        except sqlite3.Error as error:
            step += f" -- {error}"
        self.look(step, reason)

    def unchanged(self, sql):
        """A statement that changes nothing: the columns stay."""
        loaded = support.stats(self.db)["rows_loaded"]
        self.db.execute(sql).fetchall()
        for name in self.selects:
            lines = self.ask(name, sql)
            self.batch.check(KEPT in lines[-1], f"{sql}: {name} lost its columns: {lines}")
        same = support.stats(self.db)["rows_loaded"] == loaded
        self.batch.check(same, f"{sql}: columns were filled again")
