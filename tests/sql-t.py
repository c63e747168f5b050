"""Runs the cases of tests/sql/*.test, which are text. A line there is one of these; lines that begin with blanks go on with it:

    # ...                                       a comment
    let NAME = TEXT | TEXT                      further on $NAME is each of these: a line with names stands for all that they make of it;
                                                $OTHER is a path for another database
    == NAME                                     a new database; "== NAME, on devices": once on the host and once on each device
    set NAME VALUE                              a setting
    run SQL                                     a statement
    view NAME SELECT                            a view of the SELECT
    keep NAME SELECT                            a view that is asked thrice, and its SELECT once, after each
    then SQL => NAMES                           statement, or "elsewhere SQL" by another connection; the kept views of those names are accelerated
    ask SELECT => ROWS                          what a SELECT gives, which may read such views
    SELECT => ROWS                              the same, and as a new view, asked twice; "try TEXT" if it begins with another word,
                                                \\n is the end of a line and \\ufeff a mark of byte order
    soon SELECT => ROWS => PLAN                 the same, asked until the plan begins so
    FUNCTION of VALUES is RESULT  # WHAT        an aggregate of a column, or of two, whose rows are then in parentheses
    FUNCTION of VALUES is RESULT, as OWN()      and SQLite's own function gives it, too
    FUNCTION over VALUES is RESULTS  # WHAT     the same in frames of two rows
    state FUNCTION: BYTES is of VALUES          a state of these rows; or "is sound", or "is refused, ERROR  # WHAT"
    statistics of ROWS are ANSWERS  # WHAT      all functions of statistics_reference.py, of rows (y, x)

ROWS are tuples, with commas between, "none", "same" for what the SELECT gives by itself, or "error", or "error: " and a part of its message; before
"=>" may stand "with" and the parameters, several times with "; " between for one view, and after the rows "=> accelerated", or "=> " and how the view's plan begins when it is asked
again, or with "at once " the first time, too. Values are as
Python has them, with NULL, Inf, INT_MIN, INT_MAX, HUGE and TINY for the greatest and the least double, and ULP for 2.0**-52. ANSWERS are of functions by their names, as in "ALONE, corr=1.0", where ALONE has those of the pair (3, 2).

CLREDUCE_TEST_SHARE="2 3" takes every third of the cases, from the one numbered 2 on: of all lines that change nothing, and
of the changes after which kept views are asked.

An aggregate is asked for in all ways that there are: by rows as they stand, by rows that fill chunks of 16 on the host and on a device,
forwards and backwards, by a view, and where that is said by SQLite's own function.
"""

import glob
import itertools
import math
import os
import re

import statistics_runs as statistics
import support
import tap
import view_support as views
from reference import INT_MAX, INT_MIN, Failure, answer
from state_calls import call
from statistics_reference import FUNCTIONS, SINGLE

NAMES = {"NULL": None, "Inf": math.inf, "INT_MIN": INT_MIN, "INT_MAX": INT_MAX, "HUGE": 1.7976931348623157e308, "TINY": 5e-324,
         "ULP": 2.0**-52, "nextafter": math.nextafter, "sqrt": math.sqrt}
#: Answers of all statistics: where there is nothing to answer from, for the one pair (3, 2), and where x alone has a row.
NOTHING = dict.fromkeys((name.removeprefix("gpu_") for name in FUNCTIONS), None) | {"regr_count": 0}
ALONE = NOTHING | {"var_pop": 0.0, "stddev_pop": 0.0, "norm": 2.0, "covar_pop": 0.0, "regr_count": 1, "regr_avgx": 2.0,
                   "regr_avgy": 3.0, "regr_sxx": 0.0, "regr_syy": 0.0, "regr_sxy": 0.0}
SINGLE_ALONE = NOTHING | {name: ALONE[name] for name in (name.removeprefix("gpu_") for name in SINGLE)}
#: How often a view is asked until its plan is as it has to be.
ASKED = 1000
#: Copies of a case that fill chunks of 16 values and leave a remainder.
COPIES = 37
CASE = re.compile(r"(\w+) (of|over) (.*) is (.*?)(?:, as (\w+)\(\))?")
STATISTICS = re.compile(r"statistics of (.*) are (.*)")
STATE = re.compile(r"(gpu_\w+): ([0-9a-f ]*)is (sound|of|refused,) ?(.*)")
NAME = re.compile(r"\$([A-Z]\w*)")
#: What makes a SELECT's answer no longer SQLite's alone.
OURS = re.compile("gpu_|clreduce_")
#: Lines that others need, whichever share of the cases is taken.
NEEDED = ("set", "run", "view", "keep", "then", "elsewhere")
#: Those after which the kept views are asked, if it is their turn.
CHANGES = ("then", "elsewhere")
FIRST, STEP = map(int, os.environ.get("CLREDUCE_TEST_SHARE", "0 1").split())


def read(text):
    """Values with commas between, or one error."""
    if text.startswith("error: "):
        return Failure(text.removeprefix("error: "))
    return eval(f"[{text}]", {"__builtins__": {}}, NAMES)  # a test's own text


def lines_of(path):
    """The lines of a file, each with its number, and those that go on with one behind it."""
    result = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("  ") and result:
                result[-1][1] += " " + line.strip()
            elif line and not line.startswith("#"):
                result.append([number, line])
    return result


def expand(line, names):
    """All texts that a line stands for."""
    found = list(dict.fromkeys(NAME.findall(line)))
    for chosen in itertools.product(*(names[name] for name in found)):
        yield NAME.sub(lambda match: chosen[found.index(match[1])], line)


class Aggregates:
    """Connections for every way to ask for an aggregate."""

    def __init__(self):
        self.runs = [("host", support.connect(), False)]
        self.runs += [(f"{mode}, chunks of 16", support.connect(mode, **support.SMALL), True) for mode in support.modes()]
        self.viewed = views.connect()
        self.cases = 0

    @staticmethod
    def padded(function, pairs):
        """The rows among enough others to fill chunks, with the same answer: an INTEGER 0 changes no sum, and an average and
        the extremes stay when all rows are repeated."""
        if function.endswith(("avg", "min", "max")):
            return pairs * COPIES
        if all(None in (pair if function.endswith("dot") else pair[:1]) for pair in pairs):
            return pairs * COPIES
        return [(0, 0)] * COPIES + pairs + [(0, 0)] * COPIES

    def case(self, what, function, kind, values, want, own):
        """One check."""
        self.cases += 1
        pairs = values if function.endswith("dot") else [(value, None) for value in values]
        batch = support.Batch(what)
        call = support.call(function)
        if kind == "over":
            for label, db, _ in self.runs:
                support.fill(db, pairs)
                sql = f"SELECT {call} OVER (ORDER BY rowid ROWS 1 PRECEDING) FROM t ORDER BY rowid"
                batch.compare([row[0] for row in db.execute(sql)], want, label)
            return batch.end()
        want = want if isinstance(want, Failure) else want[0]
        batch.compare(answer(function, pairs), want, "the reference")
        for label, db, pads in self.runs:
            for order, given in (("", pairs), (", reversed", pairs[::-1])):
                given = self.padded(function, given) if pads else given
                support.fill(db, given)
                source = support.lingering(len(given) / 16) if pads else "t"
                batch.compare(support.value(db, f"SELECT {call} FROM {source}"), want, f"{label}{order}")
        support.fill(self.viewed, pairs)
        expected = want.message if isinstance(want, Failure) else want
        for turn in range(2):
            got = views.through_view(self.viewed, f"SELECT {call} FROM t") if turn == 0 else views.ask(self.viewed, "view_of_it")
            got = got.message.partition(": ")[2] if isinstance(got, Failure) else got[0][0]
            batch.compare(got, expected, f"a view, turn {turn}")
        if own:
            batch.compare(support.value(self.viewed, f"SELECT {support.call(own)} FROM t"), want, f"SQLite's own {own}()")
        return batch.end()

    def state(self, where, function, digits, outcome, rest):
        """A state by its bytes."""
        self.cases += 1
        db, given = self.runs[0][1], bytes.fromhex(digits)
        batch = support.Batch(f"{where} {function}: {digits} is {outcome} {rest}")
        for name in (f"{function}_merge", f"{function}_state_merge"):
            got = support.value(db, f"SELECT {name}(?)", given)
            if outcome == "refused,":
                told = f"{name}: the argument is not a state of {function}: {rest}"
                batch.check(support.is_refused(got, told), f"{got!r}, not {told}")
            elif name.endswith("state_merge"):
                batch.compare(got, given, name)
        if outcome == "of":
            support.fill(db, [value if isinstance(value, tuple) else (value, None) for value in read(rest)])
            batch.compare(support.value(db, f"SELECT {call(function, '_state')} FROM t"), given, "the state of these rows")
        batch.end()

    def end(self):
        """Whether devices took part."""
        for label, db, _ in self.runs:
            if label.startswith(support.device()):
                tap.ok(support.stats(db)["chunks_to_device"] > 0, f"a device took part ({label})")
        for _, db, _ in self.runs:
            db.close()
        self.viewed.close()


class Statistics:
    """Connections for every way to ask for the statistics."""

    #: Copies of the rows of a case that fill chunks of 16 values; no statistic of a population changes.
    COPIES = 20

    def __init__(self):
        self.runs = statistics.connections()

    def case(self, what, rows, wanted):
        """One check, of the reference too: all answers, and such as are worth writing down."""
        batch = support.Batch(what)
        want = statistics.answers(rows)
        for name, right in wanted.items():
            batch.compare(want[FUNCTIONS.index("gpu_" + name)], right, f"{name}, the reference")
        for label, db in self.runs:
            for order, given in (("", rows), (", reversed", rows[::-1]), (f", {self.COPIES} times", rows * self.COPIES)):
                statistics.fill(db, given)
                lingers = "times" in order and label != "host"
                source = support.lingering(len(given) / 16) if lingers else "t"
                got = db.execute(f"SELECT {statistics.CALLS} FROM {source}").fetchone()
                statistics.same(batch, got, statistics.answers(given), label + order)
        batch.end()


class File:
    """A file of cases, on one device. given: what SQLite's own SELECTs gave on the devices before."""

    def __init__(self, path, device, aggregates, moments, given):
        self.name, self.path, self.device, self.aggregates, self.moments = os.path.basename(path), path, device, aggregates, moments
        self.db, self.kept, self.given, self.cases, self.changes = None, {}, given, 0, 0

    def run(self):
        """All of it that is for the device."""
        applies, names = self.device == "host", {}
        for number, line in lines_of(self.path):
            word, _, rest = line.partition(" ")
            if word == "==":
                self.end()
                applies = self.device == "host" or rest.endswith(", on devices")
                if applies:
                    self.database, names["OTHER"] = views.new(), [views.new()]
                    # Statements that are kept would go on to mean what they meant.
                    self.db = views.connect(self.database, self.device, cached_statements=0)
                    self.db.execute("PRAGMA synchronous = OFF")
            elif word == "let":
                name, _, texts = rest.partition(" = ")
                names[name] = [made for text in texts.split(" | ") for made in expand(text.strip(), names)]
            elif applies:
                for text in expand(line, names):
                    word, _, rest = text.partition(" ")
                    self.cases += word not in NEEDED
                    self.changes += word in CHANGES
                    if word in CHANGES and self.changes % STEP != FIRST:
                        self.change(word, rest.partition(" => ")[0])
                    elif word in NEEDED or self.cases % STEP == FIRST:
                        self.line(f"{self.name}:{number}", word, rest, text)
        self.end()

    def line(self, where, word, rest, line):
        """A line that is no head."""
        if word == "set":
            support.configure(self.db, **dict([rest.split(" ", 1)]))
        elif word == "run":
            self.db.execute(rest).fetchall()
        elif word == "view":
            problem = views.create(self.db, *rest.split(" ", 1))
            if problem:
                tap.ok(False, f"{where} {problem}")
        elif word == "keep":
            name, _, text = rest.partition(" ")
            self.kept[name] = self.parts(text)[:2]
            tap.is_equal(views.create(self.db, name, self.kept[name][0]), None, f"{where} {name}")
        elif word in CHANGES:
            self.follow(where, word, *rest.partition(" => ")[::2])
        elif word in ("ask", "try", "soon", "SELECT", "WITH", "VALUES"):
            self.query(where, rest if word in ("ask", "try", "soon") else line, 0 if word == "ask" else ASKED if word == "soon" else 2)
        elif word == "state":
            self.aggregates.state(where, *STATE.fullmatch(rest.partition("  # ")[0].strip()).groups())
        elif word == "statistics":
            text, _, what = line.partition("  # ")
            case = STATISTICS.fullmatch(text.strip())
            wanted = eval(f"dict({case[2]})", {**NAMES, "NOTHING": NOTHING, "ALONE": ALONE, "SINGLE_ALONE": SINGLE_ALONE})
            self.moments.case(f"{where} {text.strip()[:90]}: {what}", read(case[1]), wanted)
        else:
            text, _, what = line.partition("  # ")
            case = CASE.fullmatch(text.strip())
            self.aggregates.case(f"{where} {text.strip()[:90]}: {what}", case[1], case[2], read(case[3]), read(case[4]), case[5])

    @staticmethod
    def parts(text):
        """A SELECT, all sets of parameters, and what is expected."""
        select, *expected = text.split(" => ")
        select, _, values = select.partition(" with ")
        return select.replace("\\n", "\n").replace("\\ufeff", "\ufeff"), [read(each) for each in values.split("; ")], expected

    def change(self, word, statement):
        """A statement, by this connection or another one."""
        db = self.db if word == "then" else tap.connect(self.database)
        db.execute(statement).fetchall()
        if db is not self.db:
            db.close()

    def follow(self, where, word, statement, fast):
        """A statement, and what the kept views give then."""
        self.change(word, statement)
        batch = support.Batch(f"{where} {self.device}: {word} {statement}")
        fast = [name for name in fast.split(", ") if name]
        batch.check(set(fast) <= set(self.kept), f"views {fast}")
        for name, (select, sets) in self.kept.items():
            wanted = {}
            for turn, (number, values) in itertools.product(range(3), enumerate(sets)):
                got = views.ask(self.db, name, values)
                if number not in wanted:
                    wanted[number] = views.outcome(self.db, select, values)
                batch.compare(got, wanted[number], f"{name}, turn {turn}: {select} {values}")
            verdict = views.plan(self.db, name)[0]
            batch.check(name not in fast or verdict.startswith("accelerated"), f"{name}: {verdict}")
        batch.end()

    def plain(self, where, select, values):
        """What a SELECT gives by itself: the same on each device, but for functions of ours."""
        asked = where, select, repr(values)
        if asked not in self.given or OURS.search(select):
            self.given[asked] = views.outcome(self.db, select, values)
        return self.given[asked]

    def query(self, where, text, turns):
        """A SELECT, and its view, asked so often, or until its plan begins as it has to."""
        select, sets, (rows, *plans) = self.parts(text)
        batch = support.Batch(f"{where} {self.device}: {select} {sets if sets[0] else ''}")
        problem = views.create(self.db, "view_of_it", select) if turns else None
        # Other versions of SQLite than that of most runs refuse some of the SELECTs.
        version = self.db.execute("SELECT sqlite_version()").fetchone()[0]
        batch.check(not problem or not plans or not version.startswith("3.40."), f"no view: {problem}")
        # Before 3.38 the functions of JSON are no part of SQLite, and may be anybody's.
        if "json_group_array(" in select and tuple(map(int, version.split("."))) < (3, 38):
            plans = ["row by row: a function of SQLite or clreduce is replaced"
                     if plan.startswith(("accelerated", "row by row: json_group_array(")) else plan for plan in plans]
        plans = [] if problem else plans
        for number, values in enumerate(sets):
            want = self.plain(where, select, values)
            if rows.startswith("error") and number == 0:
                fragment = rows.removeprefix("error").removeprefix(": ")
                batch.check(views.fails(want, fragment), f"no such error: {want}")
            elif rows != "same" and number == 0:
                batch.compare(want, [] if rows == "none" else read(rows), "by itself")
            for turn in range(turns):
                batch.compare(problem or views.ask(self.db, "view_of_it", values), want, f"a view, turn {turn}, {values}")
                told = views.plan(self.db, "view_of_it")[0] if plans else ""
                for plan in (each.removeprefix("at once ") for each in plans if turn + 1 == turns or each.startswith("at once ")):
                    batch.check(told.startswith(plan), f"the plan, turn {turn}: {told}, not {plan}")
                if turns > 2 and (not plans or told.startswith(plans[0])):
                    break
        if sets[0] and turns and not problem:
            missing = self.plain(where, select, (None,) * len(sets[0]))
            batch.compare(views.ask(self.db, "view_of_it"), missing, "a view without parameters")
        batch.end()

    def end(self):
        """Ends a group."""
        if self.db:
            support.configure(self.db, column_memory=0)
            self.db.close()
        self.db, self.kept = None, {}


def main():
    aggregates, moments = Aggregates(), Statistics()
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sql", "*.test"))):
        given = {}
        for device in views.devices():
            File(path, device, aggregates, moments, given).run()
    aggregates.end()
    support.skip_device(1, "a device takes part")
    tap.ok(aggregates.cases > 250 // STEP, f"{aggregates.cases} cases of aggregates")
    tap.done()


main()
