"""Statements that read accelerated views which nobody had to write."""

import re


def rewrite(connection, sql):
    """The SELECT that reads the accelerated view of a SELECT, which is made in temp where it is not there yet.

    It has the parameters and the columns of the one given. What cannot be accelerated, and any other statement, comes back
    as it is. The text is to be run at once: the view is kept for as long as it is in use, and a while longer.
    """
    text = ask(connection, "SELECT CAST(clreduce_rewrite(?) AS BLOB)", sql)
    return sql if text is None else bytes(text).decode()


def execute(connection, sql, parameters=()):
    """Runs a statement by connection.execute(), through an accelerated view where it can, and returns the cursor.

    Rows, names of columns and errors are those of the statement itself.
    """
    return connection.execute(rewrite(connection, sql), parameters)


def accelerate(connection, view=None):
    """Has accelerated views go before the ordinary views of the databases, for this connection; returns how many do.

    With the name of a view it is that one, and an error of SQLite says why it cannot be.
    """
    if view is None:
        return ask(connection, "SELECT clreduce_accelerate()")
    return ask(connection, "SELECT clreduce_accelerate(?)", view)


def plan_of(connection, sql):
    """What clreduce_plan() says of a SELECT, line by line; an error of SQLite for what is no SELECT."""
    def lines(name):
        return [line for (line,) in connection.execute("SELECT line FROM clreduce_plan(?)", (name,))]

    text = rewrite(connection, sql)
    if text != sql:  # of its SELECTs some may be accelerated by themselves, each by a view
        views = dict.fromkeys(re.findall(r'temp\."(clreduce_view_\d+)"', text))
        return [line for view in views for line in lines(view)]
    connection.execute("CREATE VIRTUAL TABLE temp.clreduce_planned USING clreduce((" + sql.rstrip("; \t\r\n") + "\n))")
    try:
        return lines("clreduce_planned")
    finally:
        connection.execute("DROP TABLE temp.clreduce_planned")


def ask(connection, sql, *parameters):
    """The one value of a query, whatever the application makes of its own rows."""
    return rows(connection, sql, *parameters)[0][0]


def rows(connection, sql, *parameters):
    """All rows of a query, as tuples."""
    cursor = connection.cursor()
    try:
        if hasattr(cursor, "row_factory"):
            cursor.row_factory = None
        else:  # apsw
            cursor.exec_trace = lambda *_: True
            cursor.row_trace = lambda _, row: row
        # Of accelerated connections: their own cursors ask for the statements to run.
        getattr(cursor, "plain_execute", cursor.execute)(sql, parameters)
        return cursor.fetchall()
    finally:
        cursor.close()
