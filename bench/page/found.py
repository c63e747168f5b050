"""Figures among a machine's results: the worst one, where one covers several sizes.

Each function, or the function that it returns, takes results and returns a number, or None where
it was not measured. A speed is how many times something is as fast.
"""

import statistics

MIB, GIB = 1 << 20, 1 << 30


def lines(results, part, least=0, **wanted):
    """The lines of device-bench for a part, those with these values and at least so many bytes."""
    return [line for line in results["parts"].get(part, ())
            if line.get("bytes", 0) >= least
            and all(line.get(key) == value for key, value in wanted.items())]


def worst(values):
    """The least of some figures, or None of none."""
    return min(values, default=None)


def exact_share(operation, element, least):
    """An exact kernel's bandwidth, as a share of the plain read of as many bytes."""
    return lambda results: worst(
        line["share_of_read"] for line in lines(results, "kernel", least, name="exact",
                                                operation=operation, element=element))


def exact_bandwidth(operation, element, least):
    """An exact kernel's bandwidth."""
    return lambda results: worst(
        line["gbytes_per_s"] for line in lines(results, "kernel", least, name="exact",
                                               operation=operation, element=element))


def mapped_bandwidth(results):
    """Through mapped buffers, from memory that is filled already."""
    return worst(line["gbytes_per_s"] for line in lines(results, "transfer", 64 * MIB,
                                                        name="mapped, transfer alone"))


def overlap(results):
    """How much quicker several chunks are if one is filled while another one is transferred."""
    return worst(line["ratio"] for line in lines(results, "transfer", 4 * 64 * MIB,
                                                 name="mapped, overlapped"))


def host_share(results):
    """The host's exact sum on one thread, as a share of one thread's plain read."""
    return worst(line["share_of_read"] for line in lines(results, "host", 64 * MIB,
                                                         name="exact, one thread",
                                                         operation="sum", element="real"))


def host_over_fsum(results):
    """How many times the host's exact sum is as fast as math.fsum, value for value."""
    host = worst(line["gbytes_per_s"] for line in lines(results, "host", 64 * MIB,
                                                        name="exact, one thread",
                                                        operation="sum", element="real"))
    peers = results["parts"].get("peers")
    fsum = [row["time_ns"]["median"] / peers["rows"] for row in (peers or {}).get("results", ())
            if row["operation"] == "math.fsum(x)"]
    return fsum[0] / (8 / host) if fsum and host else None


def is_ours(line):
    """Whether a line of the ladder is one of the project's own kernels."""
    return "exact" in line["name"]


def is_rung(line):
    """Whether a line of the ladder is a kernel of the literature."""
    return line["name"][:1].isdigit() and not is_ours(line)


def ladder_share(operations, ours):
    """One of the project's kernels against the best rung that does the same, over as many bytes."""
    def figure(results):
        shares = []
        for line in lines(results, "ladder"):
            if not is_ours(line) or line["operation"] != ours:
                continue
            rungs = [rung["gbytes_per_s"] for rung in lines(results, "ladder", bytes=line["bytes"])
                     if is_rung(rung) and rung["operation"] in operations]
            if rungs:
                shares.append(line["gbytes_per_s"] / max(rungs))
        return worst(shares)
    return figure


def feed_speed(name, against=1):
    """A case of the feed: how many times its first statement is as fast as another one."""
    def figure(results):
        for case in results["parts"].get("feed", ()):
            if case["name"] == name:
                return case["statements"][against]["speed"]["median"]
        return None
    return figure


def first_speed(results):
    """How many times the first query with device auto is as fast as that with device host."""
    part = results["parts"].get("first")
    return part and part["speed_over_host"]["median"]


def first_wait(results):
    """How long the first query neither ran nor could have run, in ms."""
    part = results["parts"].get("first")
    return part["waited_ns"]["auto"]["median"] / 1e6 if part else None


def view_state(row):
    """Where a view's columns are before it runs."""
    return "pages read" if row["kind"] == "first" else "resident"


def setting_of(device):
    """The setting of a target's device: with a gpu, auto is on it."""
    return "auto" if device == "gpu" else "host"


def with_all_threads(rows, results):
    """Of DuckDB's rows those that were measured with all threads."""
    return [row for row in rows or () if row["threads"] == results["machine"]["cores"]]


def find_view(results, device, name, kind):
    """The views' candidate, or None; the device is a target's."""
    setting = setting_of(device)
    for row in results["parts"].get("views", {}).get("candidates", ()):
        if (row["device"], row["name"], row["kind"]) == (setting, name, kind):
            return row
    return None


def view_speed(device, name, kind):
    """How many times a view is as fast as SELECT sum(x)."""
    def figure(results):
        row = find_view(results, device, name, kind)
        return row and row["speed"]["median"]
    return figure


def view_over_duckdb(device):
    """How many times the resident sum is as fast as DuckDB's with all threads."""
    def figure(results):
        row = find_view(results, device, "sum(x)", "again")
        duckdb = results["parts"]["views"]["duckdb"] if row else None
        if not duckdb:
            return None
        theirs = min(found["time_ns"]["median"] for found in with_all_threads(duckdb["results"], results)
                     if found["name"] == "sum(x)")
        return theirs / row["time_ns"]["median"]
    return figure


def view_bandwidth(row):
    """The GB/s at which a resident view of x reads it, or None where x is not resident."""
    size = row["columns"].get("v.x")
    return size / row["time_ns"]["median"] if size else None


def plain_read(results, host):
    """The GB/s of the plain read of the largest size, by the host or the device, or None."""
    found = [line for part in ("bandwidth", "kernel") for line in lines(results, part)
             if line["name"] == ("read, all threads" if host else "plain read")
             and (line["device"] == "host") == host and line.get("element") == "real"]
    return max(found, key=lambda line: line["bytes"])["gbytes_per_s"] if found else None


def resident_share(results):
    """The resident sum over at least 1 GiB, as a share of the plain sum's bandwidth."""
    large, plain = results["parts"].get("views", {}).get("large", ()), plain_read(results, False)
    if plain is None:
        return None
    return worst(view_bandwidth(row) / plain
                 for row in large
                 if row["name"] == "sum(x)" and row["columns"].get("v.x", 0) >= GIB)


def group_speed(device, names, kind, against):
    """How many times views with groups, of these names, are as fast as SQLite ("speed") or DuckDB
    ("duckdb_speed"): the least of them, or None unless each was measured."""
    setting = setting_of(device)

    def figure(results):
        rows = [row for row in results["parts"].get("groups", {}).get("rows", ())
                if (row["device"], row["kind"]) == (setting, kind) and row["name"] in names]
        measured = [row[against] for row in rows if against in row]
        return worst(measured) if len(measured) == len(names) else None
    return figure


def asked(part, device, kind, figure, whole=worst):
    """What is told of the questions of a part, star or time, on a device: the least of a figure of their lines, or another
    whole of it."""
    setting = setting_of(device)

    def told(results):
        rows = results["parts"].get(part, {}).get("results", ())
        values = [figure(row) for row in rows if (row["device"], row["kind"]) == (setting, kind)]
        return whole(values) if values and None not in values else None
    return told


def small_speed(results):
    """How many times a view of 200 rows is as fast as its SELECT."""
    small = results["parts"].get("views", {}).get("small", ())
    return worst(row["speed"]["median"] for row in small)


def fed_statistic(part, name, theirs=None):
    """Of a statistic, our statement fed by rows or the one with this call; None without it."""
    for case in part["fed"]:
        if case["name"] == name:
            return next((statement for statement in case["statements"]
                         if theirs in (None, statement["sql"])), None)
    return None


def statistic_speed(name, theirs):
    """How many times a function is as fast as a statement of SQLite, both fed by rows."""
    def figure(results):
        part = results["parts"].get("statistics")
        statement = part and fed_statistic(part, name, f"SELECT {theirs} FROM t")
        return statement and statement["speed"]["median"]
    return figure


def fed_speed(name):
    """How many times a statistic is as fast as the first statement that it is held against, both fed by rows."""
    def figure(results):
        part = results["parts"].get("statistics")
        cases = [case["statements"] for case in part["fed"] if case["name"] == name] if part else ()
        return worst(statements[1]["speed"]["median"] for statements in cases)
    return figure


def statistic_over_duckdb(name, device):
    """How many times a statistic is as fast as DuckDB's with all threads: in a resident view, or, without a device, fed by
    rows."""
    setting = setting_of(device)

    def figure(results):
        part = results["parts"].get("statistics")
        if not part:
            return None
        theirs = [row for row in with_all_threads(part["duckdb"], results) if row["name"] == name]
        ours = ([row for row in part["views"] if (row["name"], row["device"], row["kind"]) == (name, setting, "again")]
                if device else [fed_statistic(part, name)])
        return theirs[0]["time_ns"]["median"] / ours[0]["time_ns"]["median"] if theirs and ours else None
    return figure


def line_figure(part, lines_name, device, name, figure):
    """A figure of a later query of that name, of a part that has such lines: a number, or the median of a summary."""
    setting = setting_of(device)

    def told(results):
        rows = (results["parts"].get(part) or {}).get(lines_name, ())
        values = [row[figure] for row in rows
                  if (row["device"], row["kind"], row["name"]) == (setting, "again", name) and figure in row]
        return worst(value["median"] if isinstance(value, dict) else value for value in values)
    return told


def shape_speed(which):
    """The median of how many times SELECTs of programs that nobody changed are as fast: the first time, the second, later."""
    def figure(results):
        part = results["parts"].get("shapes")
        return part and statistics.median(row["speeds"][which] for row in part["rows"])
    return figure


def exponents_share(results):
    """The exact sum of values of all exponents on a device, as a share of a plain read of as many bytes."""
    found = [line for line in lines(results, "exponents") if line["device"] != "host" and line["share_of_read"]]
    return max(found, key=lambda line: line["spread"])["share_of_read"] if found else None
