"""The plan of a SELECT by states: what each file is asked, how states merge, and the SELECT that finishes.

sqlglot reads the SELECT, and SQLite's own code for it is compared with that of what sqlglot has read.
"""

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite

from .loading import open_database
from .statements import plan_of


class NotDistributable(ValueError):
    """The SELECT's result would not surely be the one of a single file; the message says what to write instead."""


class Dialect(SQLite):
    """SQLite's, without a meaning for functions: they are written as they are read."""

    class Parser(SQLite.Parser):
        """Every function but CAST is one that sqlglot does not know."""

        FUNCTIONS = {}
        NO_PAREN_FUNCTIONS = {}
        FUNCTION_PARSERS = {"CAST": SQLite.Parser.FUNCTION_PARSERS["CAST"]}

    class Generator(SQLite.Generator):
        """IS NOT is one operator in SQLite, too."""

        def not_sql(self, expression):
            """The text of NOT, or of IS NOT."""
            inner = expression.this
            if isinstance(inner, exp.Is):
                return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
            return super().not_sql(expression)


#: Functions by the one whose states they share.
KINDS = {
    "gpu_sum": ("gpu_sum", "gpu_total", "gpu_avg"),
    "gpu_dot": ("gpu_dot",),
    "gpu_min": ("gpu_min",),
    "gpu_max": ("gpu_max",),
    "gpu_var_pop": ("gpu_var_pop", "gpu_var_samp", "gpu_stddev_pop", "gpu_stddev_samp", "gpu_norm"),
    "gpu_covar_pop": ("gpu_covar_pop", "gpu_covar_samp", "gpu_corr", "gpu_regr_slope", "gpu_regr_intercept", "gpu_regr_r2",
                      "gpu_regr_count", "gpu_regr_avgx", "gpu_regr_avgy", "gpu_regr_sxx", "gpu_regr_syy", "gpu_regr_sxy"),
    "gpu_histogram": ("gpu_histogram",),
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}

#: What is to be written instead of SQLite's own aggregates, whose results depend on the order of rows.
INSTEAD = {name: f"write gpu_{name}()" for name in ("sum", "total", "avg", "min", "max")}
NO_STATE = "it has no small state that could be merged"

#: Parts of a SELECT that are understood.
PARTS = {"expressions", "from", "from_", "where", "group", "having", "order", "limit", "offset"}
MOMENTS = ("now", "localtime", "utc")
#: Functions that give TEXT alone, or a BLOB, or NULL.
TEXTS = ("date", "datetime", "format", "hex", "lower", "ltrim", "printf", "replace", "rtrim", "strftime", "substr",
         "substring", "time", "trim", "upper")
DATES = {"date": 1, "time": 1, "datetime": 1, "julianday": 1, "unixepoch": 1, "strftime": 2}
DETERMINISTIC = 0x800


@dataclass(frozen=True)
class Plan:
    """What is to be run, as text; it can be sent anywhere."""

    table: str
    schema: tuple  # what read_schema() gives
    parameters: dict
    columns: tuple  # the names of the result's
    shard: str  # the SELECT of keys and states, of a file
    key_types: tuple
    merges: tuple  # for each state the function that merges it, with a value of the same kind
    finish: str  # the SELECT of the result, from merged states
    mixed: tuple  # for each key that may be equal and yet differ: its number and the columns of four states


def text_of(node):
    """A part of a SELECT, as text."""
    return node.sql(dialect=Dialect, normalize_functions=False, comments=False)


def column(number):
    """The name of a column of keys and states: none that a SELECT is likely to have."""
    return f'"clreduce {number}"'


def parse(sql):
    """The SELECT as a tree, and its table's name."""
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=Dialect) if tree is not None]
    except sqlglot.errors.SqlglotError as error:
        raise NotDistributable(f"the SELECT cannot be read: {str(error).splitlines()[0]}") from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise NotDistributable("one SELECT is needed, without WITH, VALUES or UNION")
    select = trees[0]
    for name, part in select.args.items():
        if part and name not in PARTS:
            hint = ": write GROUP BY" if name == "distinct" else ""
            raise NotDistributable(f"{'a join' if name == 'joins' else name.strip('_').upper()} is not distributed{hint}")
    source = select.args.get("from_") or select.args.get("from")
    table = source.this if source else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier) or table.catalog \
            or table.db.lower() not in ("", "main") or any(table.args.get(name) for name in ("joins", "laterals", "pivots")):
        raise NotDistributable("the SELECT is to read one table")
    if select.args.get("limit") and not select.args.get("order"):
        raise NotDistributable("LIMIT without ORDER BY may take any rows: write ORDER BY")
    if any(node.name in ("", "?") or node.name.isdigit() for node in select.find_all(exp.Placeholder, exp.Parameter)):
        raise NotDistributable("a parameter without a name is not distributed: write :name")
    return select, table.name


def make_plan(sql, schema, parameters=None):
    """The plan of a SELECT, with parameters by name, over files whose table has that schema."""
    select, table = parse(sql)
    parameters = dict(parameters or {})
    if any(isinstance(value, str) and value.lower() in MOMENTS for value in parameters.values()):
        raise NotDistributable("'now', 'localtime' and 'utc' mean other things in other tasks")
    database = open_database(":memory:")
    try:
        database.execute(schema[1])
        cursor = database.execute(sql, parameters)
        names = tuple(description[0] for description in cursor.description)
        cursor.close()
        compare_code(database, sql, text_of(select), parameters)
        return Planning(database, select, table, schema, parameters).plan(names)
    finally:
        database.close()


def compare_code(database, sql, read, parameters):
    """SQLite does the same for the SELECT, and for what sqlglot has read."""
    code = [database.execute(f"EXPLAIN {text}", parameters).fetchall() for text in (sql, read)]
    if code[0] != code[1]:
        raise NotDistributable(f"the SELECT is not read as SQLite reads it, but as: {read}")


class Planning:
    """The work on one SELECT, in a database that has its table, and nothing in it."""

    def __init__(self, database, select, table, schema, parameters):
        self.database, self.select, self.table, self.schema, self.parameters = database, select, table, schema, parameters
        self.names = {name.lower(): name for name, _, _ in schema[0]}
        source = (select.args.get("from_") or select.args.get("from")).this
        self.qualifiers = {(source.alias or table).lower()}
        self.aliases = {item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
        self.functions = database.execute("SELECT name, type, narg, flags FROM pragma_function_list").fetchall()
        self.keys, self.states, self.merges = [], [], []

    def plan(self, names):
        """The plan; names are those of the result's columns."""
        for node in list(self.select.walk()):
            self.check_node(node)
        self.resolve_columns()
        for name, item in self.aliases.items():
            if name in self.names and not (isinstance(item, exp.Column) and item.name.lower() == name):
                raise NotDistributable(f"{name} is a column and the name of another one: rename that")
        where, group = self.select.args.get("where"), self.select.args.get("group")
        if where and any(self.is_aggregate(node) for node in where.walk()):
            raise NotDistributable("an aggregate is not distributed in WHERE")
        self.find_keys(group)
        types = self.key_types()
        items = [self.from_states(item, False) for item in self.select.expressions]
        having, order = self.select.args.get("having"), self.select.args.get("order")
        having = self.from_states(having, True) if having else None
        order = self.from_states(order, True) if order else None
        if not self.states and not self.keys:
            raise NotDistributable("there is no aggregate and no GROUP BY")
        mixed = tuple(self.watch(i) for i, key in enumerate(self.keys) if not is_of_one_type(key, types[i]))
        if where and self.names_aliases(where):
            raise NotDistributable("a name of the select list is not distributed in WHERE: write its expression")
        return Plan(self.table, self.schema, self.parameters, names, self.write_shard(where), types, tuple(self.merges),
                    self.write_finish(items, having, order), mixed)

    # ---- What is refused.

    def check_node(self, node):
        """Refuses what depends on more than one row's values, but for the aggregates that merge."""
        if isinstance(node, (exp.Query, exp.Subquery, exp.Exists)) and node is not self.select \
                or isinstance(node, exp.In) and (node.args.get("field") or node.args.get("query")):
            raise NotDistributable("a subquery is not distributed")
        if isinstance(node, exp.Window):
            raise NotDistributable("a window function is not distributed")
        if isinstance(node, exp.Star) and not (isinstance(node.parent, exp.Anonymous) and node.parent.name.lower() == "count"):
            raise NotDistributable("* is not distributed: write the columns")
        if isinstance(node, exp.Literal) and node.is_string and node.this.lower() in MOMENTS:
            raise NotDistributable(f"'{node.this}' means other things in other tasks")
        if isinstance(node, exp.Anonymous):
            self.check_function(node)
        elif isinstance(node, exp.AggFunc):
            raise NotDistributable(f"{text_of(node)} is not distributed")

    def check_function(self, node):
        """Refuses aggregates that do not merge, and functions that are not deterministic."""
        name, count = node.name.lower(), len(node.expressions)
        entries = [entry for entry in self.functions if entry[0].lower() == name and entry[2] in (count, -1)]
        exact = [entry for entry in entries if entry[2] == count and not is_star(node)] or entries
        if name == "count" or name in KIND_OF:
            if node.find(exp.Distinct):
                raise NotDistributable(f"{name}(DISTINCT) is not distributed: {NO_STATE}")
            if node.find(exp.Order):
                raise NotDistributable(f"ORDER BY in {name}() is not distributed")
        elif any(entry[1] in ("w", "a") for entry in exact):
            raise NotDistributable(f"{name}() is not distributed: {INSTEAD.get(name, NO_STATE)}")
        elif not exact or not exact[0][3] & DETERMINISTIC or count < DATES.get(name, 0):
            raise NotDistributable(f"{name}() is not distributed: its result may be another in another task")

    def is_aggregate(self, node):
        """Whether it is a call of an aggregate, its FILTER not included."""
        return isinstance(node, exp.Anonymous) and (node.name.lower() == "count" or node.name.lower() in KIND_OF)

    def resolve_columns(self):
        """Writes columns of the table alike; others may be names of the select list."""
        for node in list(self.select.find_all(exp.Column)):
            name = node.name.lower()
            if node.table and node.table.lower() not in self.qualifiers or not node.table and name not in self.names and \
                    name not in self.aliases or node.table and name not in self.names:
                reason = ": rows have other numbers in other files" if name in ("rowid", "oid", "_rowid_") else ""
                raise NotDistributable(f"{text_of(node)} is no column of {self.table}{reason}")
            if name in self.names:
                node.replace(exp.Column(this=exp.to_identifier(self.names[name], quoted=True)))

    def names_aliases(self, node):
        """Whether a name of the select list is in it that is no column."""
        return any(column.name.lower() not in self.names for column in node.find_all(exp.Column))

    # ---- Keys.

    def find_keys(self, group):
        """The expressions of GROUP BY; numbers and names stand for items of the select list."""
        if group is None:
            return
        if any(part for name, part in group.args.items() if name != "expressions"):
            raise NotDistributable("GROUP BY takes expressions alone")
        items = [item.unalias() for item in self.select.expressions]
        for key in group.expressions:
            if isinstance(key, exp.Literal) and not key.is_string and 1 <= int(key.this) <= len(items):
                key = items[int(key.this) - 1]
            elif isinstance(key, exp.Column) and key.name.lower() not in self.names:
                key = self.aliases[key.name.lower()]
            if self.names_aliases(key) or any(self.is_aggregate(node) for node in key.walk()):
                raise NotDistributable(f"GROUP BY {text_of(key)} is not distributed")
            self.keys.append(key.copy())

    def key_types(self):
        """The affinities of the keys as types, by SQLite. They are compared by BINARY alone."""
        table = exp.to_identifier(self.table, quoted=True)
        for key in self.keys:
            texts = self.database.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM (SELECT {text_of(key)} AS k FROM {text_of(table)} WHERE 0"
                " UNION ALL VALUES ('a'), ('A'), ('a ')) GROUP BY k)", self.parameters).fetchone()[0]
            if texts != 3:
                raise NotDistributable(f"GROUP BY {text_of(key)} compares by another collating sequence than BINARY, and "
                                       "SQLite names a group by some row: write COLLATE BINARY behind it")
        if not self.keys:
            return ()
        # SQLite has no parameters in a table that it makes of a SELECT; what they are changes no affinity.
        keys = [key.transform(lambda node: exp.Null() if isinstance(node, (exp.Placeholder, exp.Parameter)) else node)
                for key in self.keys]
        wanted = ", ".join(f"{text_of(key)} AS {column(i)}" for i, key in enumerate(keys))
        self.database.execute(f'CREATE TEMP TABLE "clreduce keys" AS SELECT {wanted} FROM {text_of(table)} WHERE 0')
        return tuple(type for (type,) in self.database.execute("SELECT type FROM pragma_table_info('clreduce keys')"))

    def watch(self, i):
        """Has states say whether all keys of each group are the same value: 1 and 1.0 are equal, and so are 0.0 and -0.0."""
        key = self.keys[i]
        kind = exp.Anonymous(this="typeof", expressions=[key])
        calls = [("gpu_min", kind), ("gpu_max", kind), ("gpu_min", key), ("gpu_max", key)]
        return (i, *(self.state(name, text_of(value), "") for name, value in calls))

    # ---- Aggregates.

    def state(self, kind, arguments, condition):
        """The number of the column of a state, which is added if it is not there."""
        call = f"count({arguments})" if kind == "count" else f"{kind}_state({arguments})"
        merge = "sum" if kind == "count" else f"{kind}_state_merge"
        if call + condition not in self.states:
            self.states.append(call + condition)
            self.merges.append(merge)
        return len(self.keys) + self.states.index(call + condition)

    def from_states(self, node, has_names):
        """An expression of keys and aggregates as one of the columns of keys and states.

        has_names: names of the select list may stand in it.
        """
        def replaced(part):
            for i, key in enumerate(self.keys):
                if part == key:
                    return identifier(i)
            call = part.this if isinstance(part, exp.Filter) else part
            if self.is_aggregate(call):
                return self.aggregate(call, part)
            if isinstance(part, exp.Column) and (part.name.lower() in self.names or not has_names):
                raise NotDistributable(f"{text_of(part)}: {self.why_no_key()}")
            return part

        return node.transform(replaced)

    def why_no_key(self):
        """Why a column that is neither a key nor in an aggregate has no certain value, in the library's words."""
        self.database.execute('CREATE TEMP TABLE IF NOT EXISTS "clreduce rows"(key, value)')
        plan = plan_of(self.database, 'SELECT value, count(*) FROM temp."clreduce rows" GROUP BY key')
        return plan[0].partition(": ")[2]

    def aggregate(self, call, part):
        """The merging call for an aggregate; part is the call with its FILTER, if it has one."""
        name = call.name.lower()
        if self.names_aliases(part):
            raise NotDistributable("a name of the select list is not distributed in an aggregate: write its expression")
        condition = ""
        if part is not call:
            condition = f" FILTER (WHERE {text_of(part.expression.this)})"
        arguments = ", ".join(map(text_of, call.expressions))
        state = self.state("count" if name == "count" else KIND_OF[name], arguments, condition)
        return exp.Anonymous(this="sum" if name == "count" else f"{name}_merge", expressions=[identifier(state)])

    # ---- What is written.

    def write_shard(self, where):
        """The SELECT of a file's keys and states."""
        keys = [text_of(key) for key in self.keys]
        items = ", ".join(f"{text} AS {column(i)}" for i, text in enumerate([*keys, *self.states]))
        table = text_of(exp.to_identifier(self.table, quoted=True))
        sql = f"SELECT {items} FROM {table}" + (f" {text_of(where)}" if where else "")
        return sql + (f" GROUP BY {', '.join(keys)}" if keys else "")

    def write_finish(self, items, having, order):
        """The SELECT of the result; what ORDER BY leaves open is in the order of the keys."""
        keys = ", ".join(map(column, range(len(self.keys))))
        sql = f"SELECT {', '.join(map(text_of, items))} FROM parts" + (f" GROUP BY {keys}" if keys else "")
        sql += f" {text_of(having)}" if having else ""
        orders = [text_of(order)[len("ORDER BY "):]] if order else []
        orders += [keys] if keys else []
        sql += f" ORDER BY {', '.join(orders)}" if orders else ""
        for name in ("limit", "offset"):
            if self.select.args.get(name):
                sql += f" {text_of(self.select.args[name])}"
        return sql


def identifier(number):
    """A column of keys and states, for a tree."""
    return exp.Column(this=exp.to_identifier(column(number).strip('"'), quoted=True))


def is_star(node):
    """Whether it is count(*)."""
    return len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Star)


def is_of_one_type(key, affinity):
    """Whether equal values of the key are the same value: not 1 and 1.0, nor 0.0 and -0.0."""
    if isinstance(key, exp.Column):
        return affinity in ("INT", "NUM", "TEXT")
    if isinstance(key, exp.Anonymous):
        return key.name.lower() in TEXTS
    return isinstance(key, exp.DPipe) or isinstance(key, exp.Cast) and affinity in ("INT", "TEXT")
