"""The examples of docs/python.md: pandas and SQLAlchemy."""

import clreduce
import pytest

SELECT = "SELECT origin, gpu_avg(delay) AS mean FROM flights WHERE distance > :d GROUP BY origin"


def test_pandas(sqlite, flights):
    pandas = pytest.importorskip("pandas")
    connection = clreduce.load(sqlite.connect(flights))
    frame = pandas.read_sql(clreduce.rewrite(connection, SELECT), connection, params={"d": 500}, index_col="origin")
    plain = pandas.read_sql(SELECT, connection, params={"d": 500}, index_col="origin")
    assert frame.equals(plain) and len(frame) > 100
    assert dict(connection.execute("SELECT name, value FROM clreduce_stats"))["scans_on_host"] == 1


def test_sqlalchemy(sqlite, flights):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{flights}")

    @sqlalchemy.event.listens_for(engine, "connect")
    def load(connection, _record):
        clreduce.load(connection)

    @sqlalchemy.event.listens_for(engine, "before_cursor_execute", retval=True)
    def rewrite(_connection, cursor, statement, parameters, _context, _many):
        return clreduce.rewrite(cursor.connection, statement), parameters

    table = sqlalchemy.Table("flights", sqlalchemy.MetaData(), autoload_with=engine)
    mean = sqlalchemy.func.gpu_avg(table.c.delay).label("mean")
    query = sqlalchemy.select(table.c.origin, mean).where(table.c.distance > 500).group_by(table.c.origin)
    with engine.connect() as connection:
        rows = connection.execute(query).all()
        scans = connection.execute(sqlalchemy.text("SELECT value FROM clreduce_stats WHERE name = 'scans_on_host'")).scalar()
    plain = sqlite.connect(flights)
    clreduce.load(plain)
    assert [tuple(row) for row in rows] == plain.execute(SELECT, {"d": 500}).fetchall()
    assert rows[0].origin == "ABE" and scans == 1
