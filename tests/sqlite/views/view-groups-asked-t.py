"""What people ask of tables with GROUP BY: the questions of three benchmarks, and an analyst's.

Each view gives what its SELECT gives, and is accelerated, except for the few that LEFT names with
the reason that clreduce_plan() gives.
"""

import support
import tap
import view_questions as questions
import view_support as views

FOLDER = views.Folder()

#: What SQLite runs, and what the plan says of it.
MANY = "row by row: more than one row in 50 passes: SQLite is as quick"
LEFT = {
    **{f"ClickBench {i}": MANY for i in (24, 25, 26)},
}

#: How many of each are accelerated.
FAST = {"h2oai": 10, "TPC-H": 2, "ClickBench": 40, "flights": 16}
#: How often a table is read to see whether its rows come in order.
LOADS = 30


def test_questions(db, what, asked):
    """Each question, through a view, and whether it is accelerated."""
    fast = 0
    for name, select in asked.items():
        want = views.outcome(db, select)
        tap.ok(isinstance(want, list) and want, f"{name}: rows")
        got = views.through_view(db, select)
        tap.is_equal(views.comparable(got), views.comparable(want), name)
        if "asked again" in views.plan(db, "view_of_it")[0]:
            tap.is_equal(views.comparable(views.ask(db, "view_of_it")), views.comparable(want), f"{name}, again")
        verdict = views.plan(db, "view_of_it")[0]
        if name in LEFT:
            tap.is_equal(verdict, LEFT[name], f"{name}: left to SQLite")
        else:
            fast += tap.ok(verdict.startswith("accelerated"), f"{name}: {verdict}")
    tap.diag(f"{what}: {fast} of {len(asked)} are accelerated")
    tap.is_equal(fast, FAST[what], f"{what}: as many are accelerated as the table says")


def test_order(db):
    """The rows of DISTINCT come in the table's order, whichever of the threads that read its pages
    is the first: what is read has that order."""
    fast = 0
    for _ in range(LOADS):
        views.evict(db)
        views.through_view(db, questions.FLIGHTS["the airports"])
        fast += views.accelerated(db, "view_of_it")
    tap.is_equal(fast, LOADS, "DISTINCT is accelerated each time that pages are read")


def main():
    rng = support.seed()
    db = views.connect(FOLDER.new())
    db.execute("PRAGMA synchronous = OFF")
    questions.h2oai(db, rng)
    questions.lineitem(db, rng)
    questions.hits(db, rng)
    questions.flights(db)
    test_questions(db, "h2oai", questions.H2OAI)
    test_questions(db, "TPC-H", questions.TPCH)
    test_questions(db, "ClickBench", questions.CLICKS)
    test_questions(db, "flights", questions.FLIGHTS)
    test_order(db)
    db.close()
    tap.done()


main()
