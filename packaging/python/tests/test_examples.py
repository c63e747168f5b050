"""The examples of docs/python.md: programs and libraries that know nothing of clreduce but the factory."""

import subprocess
import sys

import clreduce
import pytest
from clreduce import acceleration

SELECT = "SELECT origin, avg(delay) AS mean FROM flights WHERE distance > :d GROUP BY origin"


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """The flights are few, and yet enough."""
    monkeypatch.setattr(acceleration, "SMALL", 0)


@pytest.fixture
def expected(sqlite, flights):
    """The rows, without acceleration."""
    connection = clreduce.load(sqlite.connect(flights))
    connection.execute("SELECT clreduce_set('override', 'on')")
    return connection.execute(SELECT, {"d": 500}).fetchall()


#: What counts the scans of a connection.
SCANS = "SELECT value FROM clreduce_stats WHERE name = 'scans_on_host'"


def test_pandas(sqlite, flights, expected):
    pandas = pytest.importorskip("pandas")
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    frame = pandas.read_sql(SELECT, connection, params={"d": 500})
    assert list(frame.itertuples(index=False, name=None)) == expected
    assert connection.execute(SCANS).fetchone()[0] == 1


def test_sqlalchemy(flights, expected):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{flights}", connect_args={"factory": clreduce.Connection})
    table = sqlalchemy.Table("flights", sqlalchemy.MetaData(), autoload_with=engine)
    mean = sqlalchemy.func.avg(table.c.delay).label("mean")
    query = sqlalchemy.select(table.c.origin, mean).where(table.c.distance > 500).group_by(table.c.origin)
    with engine.connect() as connection:
        for _ in range(5):
            rows = connection.execute(query).all()
            assert [tuple(row) for row in rows] == expected and rows[0].origin == "ABE"
        assert connection.execute(sqlalchemy.text(SCANS)).scalar() > 0
        with pytest.raises(sqlalchemy.exc.OperationalError, match="no such column: nosuch"):
            connection.execute(sqlalchemy.text("SELECT count(nosuch) FROM flights"))
    orm = pytest.importorskip("sqlalchemy.orm")
    with orm.Session(engine) as session:
        assert session.execute(query).all()[0].origin == "ABE"


DJANGO = """
import sys, clreduce.acceleration, django
from django.conf import settings
from django.db.models import Avg
clreduce.acceleration.SMALL = 0
settings.configure(INSTALLED_APPS=[], DATABASES={"default": {
    "ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1], "OPTIONS": {"factory": clreduce.Connection}}})
django.setup()
from django.db import connection, models, transaction

class Flight(models.Model):
    date = models.TextField(primary_key=True)
    origin, delay, distance = models.TextField(), models.IntegerField(), models.IntegerField()
    class Meta:
        app_label, db_table, managed = "flights", "flights", False

def rows():
    return list(Flight.objects.filter(distance__gt=500).values_list("origin").annotate(mean=Avg("delay")).order_by("origin"))

first = rows()
for _ in range(4):
    assert rows() == first
with transaction.atomic():
    assert rows() == first
    Flight.objects.filter(origin="ABE").update(delay=1000)
    assert rows()[0] == ("ABE", 1000.0)
    transaction.set_rollback(True)
assert rows() == first
assert Flight.objects.count() == 20000
with connection.cursor() as cursor:
    cursor.execute("SELECT value FROM clreduce_stats WHERE name = %s", ["scans_on_host"])
    assert cursor.fetchone()[0] > 0
print(first)
"""


def run(script, *arguments):
    """What a script prints."""
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_django(sqlite, flights, expected):
    pytest.importorskip("django")
    assert run(DJANGO, flights) == str(expected)


IPYTHON = """
import sqlite3, sys, clreduce.acceleration
from IPython.core.interactiveshell import InteractiveShell
clreduce.acceleration.SMALL = 0
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
shell.user_ns["connection"] = sqlite3.connect(sys.argv[1], factory=clreduce.Connection)
shell.run_line_magic("sql", "connection")
shell.run_line_magic("config", "SqlMagic.feedback = 0")
result = shell.run_cell_magic("sql", "", sys.argv[2].replace(":d", "500"))
print([tuple(row) for row in result])
scans = shell.user_ns["connection"].execute("SELECT value FROM clreduce_stats WHERE name = 'scans_on_host'").fetchone()[0]
assert scans > 0
"""


def test_jupysql(sqlite, flights, expected):
    pytest.importorskip("IPython")
    pytest.importorskip("sql", reason="there is no jupysql")
    assert str(expected) in run(IPYTHON, flights, SELECT).splitlines()
