"""What people ask of tables with GROUP BY: the questions of three benchmarks, and an analyst's.

Each view gives what its SELECT gives, and is accelerated.
"""

import support
import tap
import view_questions as questions
import view_support as views

#: How many there are of each.
COUNTS = {"h2oai": 10, "TPC-H": 2, "ClickBench": 42, "flights": 16}
#: The rest, with what is said of it: TEXT in order, without GROUP BY.
REFUSED = {"ClickBench 25": "row by row: more than one row in 50 passes"}
#: How often a table is read to see whether its rows come in order.
LOADS = 30


@tap.each(("h2oai", questions.H2OAI), ("TPC-H", questions.TPCH), ("ClickBench", questions.CLICKS), ("flights", questions.FLIGHTS))
def test_questions(db, what, asked):
    """Each question, through a view, and whether it is accelerated."""
    fast = 0
    for name, select in asked.items():
        want = views.outcome(db, select)
        tap.ok(isinstance(want, list) and want, f"{name}: rows")
        tap.is_equal(views.through_view(db, select), want, name)
        if "asked again" in views.plan(db, "view_of_it")[0]:
            tap.is_equal(views.ask(db, "view_of_it"), want, f"{name}, again")
        verdict = views.plan(db, "view_of_it")[0]
        fast += verdict.startswith("accelerated")
        tap.ok(verdict.startswith(REFUSED.get(name, "accelerated")), f"{name}: {verdict}")
    tap.is_equal(fast, COUNTS[what], f"{what}: so many are accelerated")


def test_order(db):
    """The rows of DISTINCT come in the table's order, whichever of the threads that read its pages
    is the first: what is read has that order."""
    fast = 0
    for _ in range(LOADS):
        views.evict(db)
        views.through_view(db, questions.FLIGHTS["the airports"])
        fast += views.accelerated(db, "view_of_it")
    tap.is_equal(fast, LOADS, "DISTINCT is accelerated each time that pages are read")


DB, RNG = views.connect(views.new()), support.seed()
DB.execute("PRAGMA synchronous = OFF")
questions.h2oai(DB, RNG)
questions.lineitem(DB, RNG)
questions.hits(DB, RNG)
questions.flights(DB)
views.run(globals(), db=DB)
