"""Random SELECTs over random tables: what each gives directly, it gives through a view.

Same values, same types, same bits, same errors (clause 1 of view.h). Most SELECTs are of the kind
that can be accelerated; the tables have all forms of storage, and change in between.
"""

import re
import time

import support
import tap
import view_data
import view_support as views

#: Statements to compare, on the host, on each device, and on the host with little column_memory,
#: where tables stream.
STATEMENTS = 1_000 if tap.QUICK else 18_000
ON_DEVICE = 12 if tap.QUICK else 300
STREAMED = 250 if tap.QUICK else 4_000

#: Statements on one table, and between two changes of it; each new one is compiled for a device.
ON_TABLE, ON_DEVICES_TABLE, BETWEEN = 60 if tap.QUICK else 120, 30, 12

#: That memory: for no column, for some of a small table's, for some of a large one's.
LITTLE = (1, 1, 2_000, 30_000)

#: What a device never does, or only for plain columns: nobody waits for it.
HOSTS_OWN = re.compile("_distinct|_mode|_median|_percentile|_histogram")

#: Views that are kept while their table changes.
KEPT = 4

GPU = ("gpu_sum", "gpu_total", "gpu_avg", "gpu_min", "gpu_max")
SINGLES = ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "norm")
REGRESSIONS = ("slope", "intercept", "r2", "count", "avgx", "avgy", "sxx", "syy", "sxy")
PAIRS = ("covar_pop", "covar_samp", "corr", *(f"regr_{name}" for name in REGRESSIONS))
ORDERS = ("median", "mode", "mode", "count_distinct", "count_distinct")
FRACTIONS = ("0", "1", "0.5", ".25", "0.999", "1e-3")
BUILTIN = ("sum", "total", "avg", "min", "max", "count")
COMPARISONS = ("=", "==", "<>", "!=", "<", "<=", ">", ">=", "IS", "IS NOT")
LITERALS = ["0", "1", "-1", "2", "5", "10", "-3", "0.5", "2.5", "-0.0", "1e3", ".25", "0x10"]
HOSTILE_LITERALS = (
    ["9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e308", "1e400"]
    + ["9007199254740993", "9007199254740992", "9007199254740993.0", "-9007199254740993", "NULL"]
    + ["0x7fffffffffffffff", "0xffffffffffffffff", "5e-324", "TRUE", "4294967296", "3.0"]
)
CASTS = ("INTEGER", "INT", "REAL", "DOUBLE PRECISION", "NUMERIC", "DECIMAL(10, 5)")
ROUNDINGS = ("round", "floor", "ceil", "ceiling", "trunc", "sign", "likely", "unlikely")
STRINGS = ["'x'", "'12'", "''", "x'31'", "' 3'", "'1e2'"]


class Writer:
    """Writes random SELECTs over a table, with the values of their parameters."""

    def __init__(self, rng, table):
        self.rng, self.table = rng, table
        self.pick, self.chance = rng.choice, lambda share: rng.random() < share
        self.values = []

    def parameter(self):
        """A parameter, now and then one that was used already."""
        if self.values and self.chance(0.2):
            return f"?{self.rng.randint(1, len(self.values))}"
        self.values.append(self.parameter_value())
        return f"?{len(self.values)}"

    def parameter_value(self):
        """A value for a parameter: mostly a small number."""
        if self.chance(0.3):
            return view_data.anything(self.rng)
        return self.pick((self.rng.randint(-20, 20), self.rng.randint(-80, 80) / 8))

    def atom(self):
        """A column mostly, a literal or a parameter."""
        kind = self.rng.random()
        if kind < 0.68:
            name = self.pick(self.numbers)
            return f"{self.prefix}{name}" if self.prefix and self.chance(0.3) else name
        if kind < 0.75:
            return self.parameter()
        luck = self.rng.random()
        return self.pick(STRINGS if luck < 0.01 else HOSTILE_LITERALS if luck < 0.1 else LITERALS)

    def number(self, depth=2):
        """An expression."""
        if depth == 0 or self.chance(0.4):
            return self.atom()
        kind, below = self.rng.randrange(19), depth - 1
        if kind < 6:
            left, operator = self.number(below), self.pick(("+", "-", "*", "*", "/", "%"))
            return f"{left} {operator} {self.number(below)}"
        if kind < 7:
            return f"{self.pick(('-', '+', '- -'))}{self.number(below)}"
        if kind < 8:
            return f"({self.number(below)})"
        if kind < 9:
            return f"abs({self.number(below)})"
        if kind < 10:
            return f"{self.pick(('min', 'max', 'coalesce', 'ifnull'))}" + self.arguments(below)
        if kind < 12:
            return self.case(below)
        if kind < 14:
            return f"({self.condition(below)})"
        return self.bits(below) if kind < 16 else self.rounded(below)

    def bits(self, depth):
        """Bit operators, in parentheses mostly: they bind less than others."""
        if self.chance(0.2):
            return f"~{self.number(depth)}"
        right = self.pick(("1", "3", "-2", "64", "7.9", self.number(depth)))
        text = f"{self.number(depth)} {self.pick(('&', '|', '<<', '>>'))} {right}"
        return text if self.chance(0.2) else f"({text})"

    def rounded(self, depth):
        """Casts to numbers, functions that round, and choices that are functions."""
        value = self.number(depth)
        forms = [f"CAST({value} AS {kind})" for kind in CASTS]
        forms += [f"{name}({value})" for name in ROUNDINGS]
        forms += [f"round({value}, 0)", f"nullif{self.arguments(depth)}"]
        forms += [f"iif({self.condition(depth)}, {value}, {self.number(depth)})"]
        forms += [f"likelihood({value}, 0.5)"]
        return self.pick(forms)

    def arguments(self, depth):
        """Two arguments."""
        return f"({self.number(depth)}, {self.number(depth)})"

    def case(self, depth):
        """CASE in its two forms."""
        if self.chance(0.3):
            base, match = self.number(depth), self.number(depth)
            return f"CASE {base} WHEN {match} THEN {self.number(depth)} END"
        text = f"CASE WHEN {self.condition(depth)} THEN {self.number(depth)}"
        if self.chance(0.3):
            text += f" WHEN {self.condition(depth)} THEN {self.number(depth)}"
        return text + (f" ELSE {self.number(depth)} END" if self.chance(0.6) else " END")

    def condition(self, depth=2):
        """A condition."""
        kind, below = self.rng.randrange(14 if depth else 9), max(depth - 1, 0)
        if kind < 5:
            left = self.pick(self.numbers) if self.chance(0.5) else self.number(below)
            return f"{left} {self.pick(COMPARISONS)} {self.number(below)}"
        if kind < 6:
            low, high = self.number(below), self.number(0)
            value = self.pick(self.numbers)
            return f"{value} {self.pick(('', 'NOT '))}BETWEEN {low} AND {high}"
        if kind < 7:
            head = f"{self.number(below)} {self.pick(('', 'NOT '))}IN ("
            return head + ", ".join(self.number(0) for _ in range(self.rng.randint(1, 4))) + ")"
        if kind < 8:
            check = self.pick(("IS NULL", "IS NOT NULL", "ISNULL", "NOTNULL", "NOT NULL"))
            return f"{self.number(below)} {check}"
        if kind < 9:
            return self.number(below)
        if kind < 12:
            left, operator = self.condition(below), self.pick(("AND", "AND", "OR"))
            return f"{left} {operator} {self.condition(below)}"
        if kind < 13:
            return f"NOT {self.condition(below)}"
        return f"({self.condition(below)})"

    def aggregate(self, ours=0.6):
        """A call of an aggregate."""
        kind = self.rng.random()
        if kind < 0.1:
            text = "count(*)"
        elif kind < 0.2:
            text = f"gpu_dot{self.arguments(1)}"
        elif kind < 0.3:
            text = f"gpu_{self.pick(SINGLES)}({self.number()})"
        elif kind < 0.4:
            text = f"gpu_{self.pick(PAIRS)}{self.arguments(1)}"
        elif kind < 0.45:
            text = f"{self.pick(GPU)}_state({self.number()})"
        elif kind < 0.5:
            text = f"gpu_{self.pick(('norm_state(x)', 'dot_state', 'corr_state'))}"
            text = text.replace("(x)", f"({self.number()})")
            text += "" if text.endswith(")") else self.arguments(1)
        elif kind < 0.58:
            text = self.order()
        else:
            name = self.pick(GPU if self.chance(ours) else BUILTIN)
            text = f"{name}({self.number()})"
        if self.chance(0.15):
            text += f" FILTER (WHERE {self.condition(1)})"
        return text

    def order(self):
        """A call of a function of all values together, seldom with an argument that it refuses."""
        kind, value = self.rng.random(), self.number(1)
        if kind < 0.2:
            name = self.pick([column.name for column in self.table.columns])
            return f"gpu_{self.pick(('mode', 'count_distinct'))}({name})"
        if kind < 0.5:
            return f"gpu_{self.pick(ORDERS)}({value})"
        fraction = self.parameter() if self.chance(0.02) else self.pick(FRACTIONS)
        if kind < 0.6:
            return f"gpu_percentile({value}, {self.pick(('50', '12.5', '100', fraction))})"
        if kind < 0.8:
            return f"gpu_percentile_{self.pick(('cont', 'disc'))}({value}, {fraction})"
        low = self.parameter() if self.chance(0.02) else self.pick(("-9", "0", "0.1", "-1e9"))
        high = self.pick(("10", "33.3", "1e10", "9007199254740993"))
        form = self.pick(("", "_state"))
        return f"gpu_histogram{form}({value}, {low}, {high}, {self.pick((1, 2, 7, 100))})"

    def item(self):
        """An item of the select list: an aggregate, sometimes an expression over some."""
        forms = ["-{0}", "{0} + {1}", "{0} / {1}", "coalesce({0}, 0)", "({0}) * 2", "abs({0})"]
        forms += ["CASE WHEN {0} > 1 THEN {1} ELSE 'none' END", "{0} IS NULL"]
        forms += ["({0} - 1) * {1}", "max({0}, 1)", "{0} IN (1, 2)", "ifnull({0}, {1})"]
        # Whatever stands beside the aggregates, SQLite computes it.
        forms += [self.pick(("round({0}, 2)", "{0} || 'x'", "CAST({0} AS INT)", "typeof({0})"))]
        text = "{0}" if self.chance(0.8) else self.pick(forms)
        calls = [self.aggregate() for _ in range(2 if "{1}" in text else 1)]
        # Put in one by one: a call may have braces of its own in a quoted name, but no {0}.
        for number, call in enumerate(calls):
            text = text.replace("{%d}" % number, call)
        return text + (f" AS r{self.rng.randrange(3)}" if self.chance(0.3) else "")

    def source(self):
        """The FROM clause, and the WHERE clause."""
        text = f" FROM {self.table.name}{self.alias}"
        return text + (f" WHERE {self.condition()}" if self.chance(0.6) else "")

    def plain(self):
        """A SELECT that may be accelerated."""
        items = ", ".join(self.item() for _ in range(self.rng.randint(1, 4)))
        return f"SELECT {items}{self.source()}" + (";" if self.chance(0.03) else "")

    def other(self):
        """A SELECT that must be left to SQLite."""
        table, n = self.table.name, self.number
        column, where = self.pick(self.numbers), self.source
        item, cond = self.item, self.condition
        forms = (
            lambda: f"SELECT {self.number(1)}, {item()}{where()} GROUP BY 1",
            lambda: f"SELECT {item()}{where()} GROUP BY {n(1)} HAVING {cond(1)}",
            lambda: f"SELECT {item()} FROM {table} AS t1, (SELECT 1 AS z UNION SELECT 2) AS t2",
            lambda: f"SELECT {item()} FROM (SELECT * FROM {table} LIMIT 20)",
            lambda: f"SELECT (SELECT {item()}{where()}), {self.pick(LITERALS)}",
            lambda: f"SELECT gpu_sum(DISTINCT {n(1)}), count(DISTINCT {n(1)}){where()}",
            lambda: f"SELECT DISTINCT {item()}{where()}",
            lambda: f"SELECT {item()}{where()} ORDER BY 1 DESC LIMIT 1",
            lambda: f"SELECT {item()} FROM {table} WHERE {column} LIKE '%1%'",
            lambda: f"SELECT {item()} FROM {table} WHERE {column} GLOB '1*' OR {cond(1)}",
            lambda: f"SELECT gpu_sum(CAST({n(1)} AS TEXT)), sum({column} || 1){where()}",
            lambda: f"SELECT {item()} FROM {table} WHERE {column} = 'A' COLLATE NOCASE",
            lambda: f"SELECT gpu_sum({n(1)}) OVER (ORDER BY {column} ROWS 3 PRECEDING){where()}",
            lambda: f"SELECT gpu_sum(round({n(1)}, 1)), gpu_max(length({column})){where()}",
            lambda: f"SELECT gpu_sum(missing({n(1)})){where()}",
            lambda: f"SELECT gpu_sum(missing), {item()}{where()}",
            lambda: f"SELECT {item()}{where()} AND",
            lambda: f"SELECT {item()},{where()}",
            lambda: f"SELECT {column}, max({n(1)}){where()}",
            lambda: f"SELECT {column}, {n(1)}{where()} LIMIT 5",
            lambda: f"SELECT {item()}{where()} UNION ALL SELECT 1",
            lambda: f"SELECT {item()} FROM {table} NOT INDEXED WHERE {cond(1)}",
            lambda: f"WITH c AS (SELECT 1) {self.plain()}",
            lambda: f"SELECT group_concat({column}), {item()}{where()}",
            lambda: f"SELECT {item()} FROM {table} WHERE ({column}, 1) = ({n(0)}, 1)",
            lambda: f"SELECT gpu_sum({n(1)}), {item()}{where()} AND random() IS NULL",
            lambda: f"SELECT sum({column} IS DISTINCT FROM {n(1)}), count({n(1)} -> 1){where()}",
        )
        return self.pick(forms)()

    def select(self):
        """A SELECT and the values of its parameters."""
        self.values = []
        self.numbers = self.table.numbers()
        self.alias = self.pick(("", "", " AS q", " q"))
        self.prefix = "q." if self.alias else "t."
        text = self.plain() if self.chance(0.75) else self.other()
        return self.styled(text)

    def styled(self, text):
        """Writes the parameters in one of the ways there are; their values are in their order."""
        style, values = self.rng.randrange(4), self.values
        found = [int(number) for number in re.findall(r"\?(\d+)", text)]
        if style == 0:
            return text, tuple(values[: max(found, default=0)])
        if style == 1:
            return re.sub(r"\?\d+", "?", text), tuple(values[number - 1] for number in found)
        mark = self.pick(":@$")
        order = list(dict.fromkeys(found))
        text = re.sub(r"\?(\d+)", lambda match: f"{mark}p{match[1]}", text)
        return text, tuple(values[number - 1] for number in order)


class Run:
    """Tables and statements on the host or on a device, one after the other."""

    def __init__(self, rng, device, count, memories=(0,)):
        self.rng, self.device, self.count, self.memories = rng, device, count, memories
        self.folder = views.Folder()
        self.name = device if memories == (0,) else f"{device}, with little memory"
        self.batch = support.Batch(f"{count} random SELECTs and their views, {self.name}")
        self.tally = views.Tally()
        self.errors = 0
        self.told = False
        self.rewritten = 0
        self.filled = 0  # answers from columns that SQLite filled
        self.declined = []  # SELECTs that the device could have, and left to the host

    def compare(self, table, name, select, values, what):
        """One comparison of a view that there is, or several until a device answers."""
        want = views.comparable(views.outcome(table.db, select, values))

        def judge(got):
            return self.judge(table, views.comparable(got), want, f"{what}: {select}\n  with {values!r}")

        if self.device == "host" or HOSTS_OWN.search(select):
            judge(views.ask(table.db, name, values))
        elif not views.ask_device(table.db, name, values, judge) and views.accelerated(table.db, name):
            self.declined.append(select)
        if isinstance(want, list):
            self.tally.add(table.db, name, hosts_own=bool(HOSTS_OWN.search(select)))
            self.filled += "through SQLite" in views.plan(table.db, name)[-1]
        else:
            self.tally.answers += 1
            self.errors += 1

    def judge(self, table, got, want, what):
        """Shows how a table came to be with the first failure on it."""
        same = self.batch.compare(got, want, what)
        if not same and not table.told:
            table.told = True
            if len(self.batch.failures) <= self.batch.SHOWN:
                self.batch.failures[-1] += "\n" + "\n".join(table.log)
        return same

    def statement(self, table, writer, kept):
        """A new SELECT and its view, which may be kept."""
        select, values = writer.select()
        name = f"v{self.rng.randrange(KEPT)}"
        kept.pop(name, None)
        problem = views.create(table.db, name, select)
        if problem:
            want = views.comparable(views.outcome(table.db, select, values))
            self.judge(table, views.comparable(problem), want, f"created: {select}\n  {values!r}")
            self.tally.answers += 1
            self.errors += 1
            return
        if self.device == "host" and self.rng.random() < 0.05:
            self.rewrite(table, select, values)
        self.compare(table, name, select, values, "new")
        kept[name] = select, values
        for _ in range(2):
            # SQLite fills columns for a view that is asked again; the third answer is theirs too.
            lines = views.plan(table.db, name)
            if "kept when asked" in lines[0] or "rows through SQLite" in lines[-1]:
                self.compare(table, name, select, values, "asked again")

    def rewrite(self, table, select, values):
        """What is to be run instead of a SELECT, if there is something."""
        [(text,)] = table.db.execute("SELECT clreduce_rewrite(?)", (select,))
        if text is not None:
            want = views.comparable(views.outcome(table.db, select, values))
            got = views.comparable(views.outcome(table.db, text, values))
            self.judge(table, got, want, f"rewritten as {text}: {select}\n  with {values!r}")
            self.rewritten += 1

    def again(self, table, writer, kept):
        """The views that were kept, after a change, also with other parameters."""
        for name, (select, values) in kept.items():
            self.compare(table, name, select, values, "again")
            if values:
                values = tuple(writer.parameter_value() for _ in values)
                self.compare(table, name, select, values, "again")

    def change(self, table, writer, kept):
        """A change, sometimes inside a transaction that is looked into, and rolled back."""
        if table.other and self.rng.random() < 0.4:
            table.change(table.other)
            if self.device == "host" and self.rng.random() < 0.5:
                self.rewrite(table, *writer.select())
        elif self.rng.random() < 0.3:
            table.run("BEGIN")
            table.change()
            self.again(table, writer, kept)
            if self.rng.random() < 0.3:
                table.run("SAVEPOINT inside")
                table.change()
                self.again(table, writer, kept)
                table.run("ROLLBACK TO inside")
            table.run(self.rng.choice(("ROLLBACK", "ROLLBACK", "COMMIT")))
            table.refresh()
        else:
            table.change()
        self.again(table, writer, kept)

    def table(self):
        """One table with all that is asked of it."""
        # What a device gets has some rows at least.
        sizes = (0, 1, 3, 40, 40, 200, 200, 1200) if self.device == "host" else (150, 1200)
        table = view_data.Table(self.rng, self.folder.new(), self.device, sizes)
        support.configure(table.db, column_memory=self.rng.choice(self.memories))
        table.told = False
        writer, kept = Writer(self.rng, table), {}
        end = self.tally.answers + (ON_TABLE if self.device == "host" else ON_DEVICES_TABLE)
        while self.tally.answers < end:
            for _ in range(BETWEEN):
                self.statement(table, writer, kept)
            self.change(table, writer, kept)
        table.close()

    def streamed(self):
        """How many answers came from tables that were scanned as their pages passed."""
        return sum(count for reason, count in self.tally.reasons.items() if "streaming" in reason)

    def goes_on(self):
        """Whether statements are missing: with little memory also such as are streamed or filled, which
        few tables may happen to have none of."""
        lacking = (
            self.memories != (0,)
            and not (self.streamed() and self.filled)
            and self.tally.answers < 9 * self.count
        )
        if self.device != "host":
            lacking = self.tally.fast < 10 and self.tally.answers < 9 * self.count
        return (self.tally.answers < self.count or lacking) and len(self.batch.failures) < 50

    def all(self):
        """The check."""
        start = time.monotonic()
        while self.goes_on():
            self.table()
        self.batch.end()
        took = time.monotonic() - start
        tap.diag(f"{self.tally.answers} statements, {self.errors} of them errors, {took:.1f} s")
        tap.ok(self.errors < self.tally.answers / 2, "most of them gave rows")
        little = self.memories != (0,)
        # On a device there are so few, since each is compiled, that their share varies.
        share = 0.02 if little else 0.1 if self.device == "host" else 0.05
        self.tally.require(share, f"random SELECTs, {self.name}")
        if little:
            share = 0.002 if tap.QUICK else 0.01
            streamed = self.streamed()
            tap.ok(streamed > share * self.tally.answers, f"{streamed} of them were streamed")
        if self.device != "host":
            self.tally.require_device(0.3 if tap.QUICK else 0.5, f"random SELECTs, {self.name}")
            tap.diag("\n".join(f"not on the device: {select}" for select in self.declined))
        else:
            tap.ok(self.rewritten > 0, f"{self.rewritten} of them were rewritten")
            # With little memory tables rather stream.
            share = 0 if little else 0.002 if tap.QUICK else 0.02
            tap.ok(
                self.filled > share * self.tally.answers,
                f"{self.filled} of them came from columns that SQLite filled",
            )


def main():
    rng = support.seed()
    for device in views.devices():
        started = views.warm(device)
        Run(rng, device, STATEMENTS if device == "host" else ON_DEVICE).all()
        started.close()
    Run(rng, "host", STREAMED, LITTLE).all()
    tap.done()


main()
