"""The sections of a machine's report, as Markdown. Each is None where its part was not measured."""

import re

import figures
import plots
import targets


def table(head, rows):
    """A table; columns whose head ends in a colon hold figures."""
    rule = ["---:" if title.endswith(":") else "---" for title in head]
    cells = [[title.rstrip(":") for title in head], rule, *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in cells) + "\n"


def duration(nanoseconds):
    """A time in the unit that suits it."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(nanoseconds) >= unit:
            return f"{nanoseconds / unit:,.3g} {name}"
    return f"{nanoseconds:.3g} ns"


def ranged(summary, form):
    """A summary as its median with the range."""
    return f"{form(summary['median'])} ({form(summary['min'])} to {form(summary['max'])})"


def ratio(summary):
    """A summary of ratios."""
    return ranged(summary, "{:.2f}".format)


def times(summary):
    """A summary of times."""
    return ranged(summary, duration)


def speed(line):
    """The GB/s of a line of device-bench."""
    return f"{line['gbytes_per_s']:,.4g}" if line["gbytes_per_s"] else ""


def machine(results):
    """The machine, the command, and what is missing."""
    about = results["machine"]
    device, memory_bytes = about["device"], about["memory_bytes"]
    memory_size = f", {memory_bytes / 2**30:.0f} GiB" if memory_bytes else ""
    lines = [f"## {figures.machine_name(results)}", "",
             f"- {about['processor']}, {about['cores']} cores{memory_size}; {about['system']}"]
    if device:
        lines.append(f"- {device['name']} ({device['type']}, {device['compute_units']} compute "
                     f"units, {int(device['memory_bytes']) / 2**30:.0f} GiB): {device['driver']}")
    lines.append("- " + ", ".join(f"{name} {version}"
                                  for name, version in about["versions"].items() if version))
    lines.append(f"- made by `{results['command']}` on {results['date']}, with "
                 f"{results['rows']:,} rows, in {sum(results['seconds'].values()):.0f} s")
    lines += [f"- missing: {reason}" for reason in results["missing"]]
    return "\n".join(lines) + "\n"


def goals(results):
    """Each target, measured, met or not; of a run of some parts those that were measured."""
    words = {True: "met", False: "**not met**", None: ""}
    is_whole = "kernel" in results["parts"]
    rows = [(what, goal, figure or "not measured", words[met])
            for what, goal, figure, met in targets.table(results) if figure or is_whole]
    return "### Targets\n\n" + table(("what", "target:", "measured:", ""), rows)


def statement_name(statement):
    """A statement of the feed, told from the others of its case."""
    call = re.match(r"SELECT (.*?)(?: OVER .*)? FROM", statement["sql"]).group(1)
    return f"`{call}`" + (" (host)" if statement["device"] == "host" else "")


def feed_rows(case):
    """A line for each comparison of a case; what is the same for all is in the first."""
    def per_row(statement):
        return f"{statement['time_ns']['median'] / case['rows']:.1f}"

    first, *others = case["statements"]
    head = (case["name"], f"{case['rows']:,}", per_row(first))
    for other in others:
        yield (*head, statement_name(other), per_row(other), ratio(other["ratio"]))
        head = ("", "", "")


def feed(results):
    """The aggregates beside SQLite's own."""
    cases = results["parts"].get("feed")
    if not cases:
        return None
    return ("### Feed\n\n"
            "Times in ns a row, with device auto unless it says host. `bench_noop` does nothing\n"
            "and `bench_context` only asks for its context: what SQLite itself spends on a row.\n\n"
            + table(("case", "rows:", "ns:", "against", "ns:", "ratio:"),
                    [row for case in cases for row in feed_rows(case)]))


def first(results):
    """What the first query waited for."""
    part = results["parts"].get("first")
    if not part:
        return None
    figure = part["statistics"]
    start = {key: value * 1e6 for key, value in part["startup_ms"].items()}
    rows = (("device auto", times(part["auto_ns"])), ("device host", times(part["host_ns"])),
            ("auto over host", ratio(part["ratio"])),
            ("difference", times(part["difference_ns"])),
            ("waited, device auto: neither running nor ready to", times(part["waited_ns"]["auto"])),
            ("waited, device host", times(part["waited_ns"]["host"])),
            ("of the device's start, done by then in the background", times(start)))
    return ("### The first query of a process, with cold caches\n\n"
            f"`{part['sql']}` over {part['rows']:,} rows, right after loading, with nothing\n"
            "compiled before.\n\n" + table(("", "time:"), rows) +
            f"\nOf its chunks, {figure['chunks_to_device']} went to the device; "
            f"{figure['host_before_start']} came before it was started, and "
            f"{figure['host_device_starting']} while it was starting.\n")


def peers(results):
    """SQLite, DuckDB, NumPy and Python side by side."""
    part = results["parts"].get("peers")
    if not part:
        return None
    rows = [(row["peer"], f"`{row['operation']}`", row["threads"] or "",
             f"{row['time_ns']['median'] / part['rows']:.2f}", times(row["time_ns"]),
             repr(row["result"])) for row in part["results"]]
    same = "have the same bits" if part["same_values"] else "**differ**"
    return ("### Peers\n\n"
            f"{part['rows']:,} values; SQLite reads them from a file row by row, DuckDB from its\n"
            "own table in memory, NumPy from an array, Python from a list.\n\n"
            + table(("", "operation", "threads:", "ns a value:", "time:", "result:"), rows)
            + f"\nThe exact sums, gpu_sum and math.fsum, {same}.\n")


def speedup(summary):
    """A summary of how many times something is as fast."""
    return ranged(summary, lambda value: targets.show(value, "x"))


def view_rows(part):
    """A line for each view; "read" is what of the file it read."""
    for row in part["candidates"]:
        read = plots.byte_label(row["bytes_decoded"]) if row["bytes_decoded"] else ""
        yield (f"`{row['sql']}`", row["device"], targets.view_state(row), times(row["time_ns"]),
               speedup(row["speedup"]), duration(row["select_ns"]), read, row["plan"],
               "same" if row["same"] else "**another**")


def view_bandwidth(results):
    """A sentence on the bandwidth of what reads a resident column once, or an empty text."""
    told = []
    part = results["parts"]["views"]
    for row in part["candidates"] + part.get("large", []):
        if (row["name"] not in ("sum(x)", "histogram(x)") or row["kind"] != "again"
                or not targets.view_bandwidth(row)):
            continue
        plain = targets.plain_read(results, row["device"] == "host")
        rows = f", {row['rows']:,} rows" if "rows" in row else ""
        told.append(f"{row['name']}, {row['device']}{rows}: {targets.view_bandwidth(row):,.4g} GB/s"
                    + (f", beside {plain:,.4g} of a plain read" if plain else ""))
    return f"\nBandwidth of resident columns: {'; '.join(told)}.\n" if told else ""


def view_peers(part):
    """DuckDB beside the resident views."""
    if not part["duckdb"]:
        return ""
    rows = []
    for row in part["duckdb"]["results"]:
        theirs = row["time_ns"]["median"]
        ours = [(other["device"], theirs / other["time_ns"]["median"])
                for other in part["candidates"]
                if (other["name"], other["kind"]) == (row["name"], "again")]
        rows.append((row["name"], row["threads"], times(row["time_ns"]),
                     ", ".join(f"{device}: {targets.show(ratio, 'x')}" for device, ratio in ours)))
    return ("\nDuckDB, from its own table in memory; the last column has its median over that of\n"
            "the resident view.\n\n"
            + table(("DuckDB", "threads:", "time:", "the view is as fast:"), rows))


def view_small(part):
    """A table too small for a view to help."""
    plain = part["small_reference"]
    rows = [("the SELECT itself", "host", f"{plain['runs']:,}", times(plain["time_ns"]),
             duration(plain["mean_ns"]), "", "")]
    rows += [("a view of it", row["device"], f"{row['runs']:,}", times(row["time_ns"]),
              duration(row["mean_ns"]), ratio(row["ratio"]), row["plan"]) for row in part["small"]]
    return (f"\n`{plain['sql']}`, 200 rows, prepared once: what a view costs where it\n"
            "cannot help.\n\n"
            + table(("", "device", "runs:", "time:", "mean:", "ratio:", "plan"), rows))


def views(results):
    """Accelerated views beside the SELECTs that they hold."""
    part = results["parts"].get("views")
    if not part:
        return None
    plain = part["reference"]
    return ("### Accelerated views\n\n"
            f"{part['rows']:,} rows in a file of {plots.byte_label(part['file_bytes'])} that the\n"
            "system holds in memory, read back from disk. A speed is how many times a view is as\n"
            f"fast as `{plain['sql']}`, which took\n"
            f"{times(plain['time_ns'])} in the same rounds. The view's own SELECT\n"
            "ran once, by SQLite's rows, and the bits of both results were compared.\n\n"
            + table(("view of", "device", "columns", "time:", "speed:", "its SELECT:", "read:",
                     "plan", "result"), view_rows(part))
            + view_bandwidth(results) + view_peers(part) + view_small(part))


def bandwidth_row(line):
    """A line of device-bench in a table."""
    share = line["share_of_read"]
    return (line["name"], "host" if line["device"] == "host" else "device", line["operation"] or "",
            line["element"] or "", plots.byte_label(line["bytes"]), speed(line),
            f"{100 * share:.0f}%" if share is not None else "")


def bandwidth(results):
    """What the largest sizes reach: memory, kernels and the host's path."""
    rows = []
    for part in ("bandwidth", "kernel", "host"):
        lines = results["parts"].get(part, ())
        sizes = [line["bytes"] for line in lines if line["operation"] != "copy"]
        # A copy counts what it reads and what it writes.
        largest = {max(sizes, default=0), 2 * max(sizes, default=0)}
        rows += [bandwidth_row(line) for line in lines
                 if line["bytes"] in largest or "all exponents" in line["name"]]
    if not rows:
        return None
    return ("### Bandwidth\n\n"
            "The largest size of each. A share is of the plain read of as many bytes in the same\n"
            "rounds: the device's plain, inexact sum, or where the device is the processor a C\n"
            "loop on all cores; for the host's path a C loop on one.\n\n"
            + table(("what", "where", "operation", "type", "size:", "GB/s:", "share:"), rows))


def ladder(results):
    """Each rung at each size, and against the plain loop."""
    lines = results["parts"].get("ladder")
    if not lines:
        return None
    words = {True: "right", False: "**wrong**", None: ""}
    rows = [(line["name"], line["operation"], f"{line['bytes'] // 8:,}", speed(line),
             f"{line['ratio']:,.1f}×" if line.get("ratio") else "", words[line["exact"]])
            for line in lines]
    return ("### The ladder\n\n"
            "The kernels by which the literature teaches reduction, beside the exact ones, on the\n"
            "same values. The published figure to stand beside: 25 million values, 68 times a\n"
            "plain loop on the processor, without the transfers.\n\n"
            + table(("kernel", "operation", "values:", "GB/s:", "plain loop:", "result"), rows))


def transfer(results):
    """Ways to the device, a column for each size of a chunk."""
    lines = results["parts"].get("transfer")
    if not lines:
        return None
    by_name = {}
    for line in lines:
        by_name.setdefault(line["name"], {})[line["bytes"]] = speed(line)
    sizes = sorted(min(by_name.values(), key=min))
    rows = []
    for name, speeds in by_name.items():
        # Where several chunks are transferred, a line's bytes are those of all of them.
        chunks = min(speeds) // sizes[0]
        rows.append([name, *(speeds.get(size * chunks, "") for size in sizes)])
    return ("### Transfer\n\nGB/s from the host to the device, by the size of a chunk.\n\n"
            + table(["", *(f"{plots.byte_label(size)}:" for size in sizes)], rows))


def startup(results):
    """Loading, discovery, opening and building."""
    lines = results["parts"].get("startup")
    if not lines:
        return None
    rows = []
    for line in lines:
        what = " ".join(filter(None, (line.get("operation"), line.get("element"))))
        taken = [line[f"{name}_ns"] for name in ("median", "min", "max")]
        rows.append((line["name"], what, *map(duration, taken)))
    return "### Start-up\n\n" + table(("step", "for", "median:", "min:", "max:"), rows)


def memory(results):
    """Memory and size."""
    parts, text = results["parts"], ""

    def mebibytes(summary):
        return f"{summary['median'] / 2**20:,.1f} MiB"

    if "memory" in parts:
        rows = [(row["name"], mebibytes(row["peak_bytes_before"]), mebibytes(row["peak_bytes"]))
                for row in parts["memory"]]
        text += ("\nPeak of a process's resident memory, before and after one query over "
                 f"{parts['memory'][0]['rows']:,} rows:\n\n"
                 + table(("", "before:", "after:"), rows))
    if "size" in parts:
        stripped = parts["size"]["stripped_bytes"]
        text += (f"\nThe extension has {parts['size']['bytes'] / 1024:,.0f} KiB"
                 + (f", stripped {stripped / 1024:,.0f} KiB" if stripped else "") + ".\n")
    return "### Memory and size\n" + text if text else None
