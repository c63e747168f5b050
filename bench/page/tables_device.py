"""Raw tables of what lies below SQL, and of what a process needs, as Markdown.

Each function is given results and returns a section, or None where its part was not measured.
"""

from page.words import bandwidth, byte_label, duration, mebibytes, table, times_as_fast


def bandwidth_row(line):
    """A line of device-bench in a table."""
    share = line["share_of_read"]
    return (line["name"], "host" if line["device"] == "host" else "device", line["operation"] or "",
            line["element"] or "", byte_label(line["bytes"]), bandwidth(line),
            times_as_fast(share) if share is not None else "")


def bandwidths(results):
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
            "The largest size of each. A speed is how many times it is as fast as a plain read of\n"
            "as many bytes in the same rounds: the device's plain, inexact sum, or where the\n"
            "device is the processor a C loop on all cores; for the host's path a C loop on one.\n\n"
            + table(("what", "where", "operation", "type", "size:", "GB/s:", "speed:"), rows))


def ladder(results):
    """Each rung at each size, and against the plain loop."""
    lines = results["parts"].get("ladder")
    if not lines:
        return None
    words = {True: "right", False: "**wrong**", None: ""}
    rows = [(line["name"], line["operation"], f"{line['bytes'] // 8:,}", bandwidth(line),
             times_as_fast(line["ratio"]) if line.get("ratio") else "", words[line["exact"]])
            for line in lines]
    return ("### The ladder\n\n"
            "The kernels by which the literature teaches reduction, beside the exact ones, on the\n"
            "same values, without the transfers. A speed is how many times it is as fast as the\n"
            "host's read with all threads.\n\n"
            + table(("kernel", "operation", "values:", "GB/s:", "speed:", "result"), rows))


def sort(results):
    """How long a device takes for the order of values that it holds."""
    lines = results["parts"].get("sort")
    if not lines:
        return None
    rows = []
    for line in lines:
        count, taken = line["bytes"] // 8, line["median_ns"]
        rows.append((line["element"], line["name"], f"{count:,}", duration(taken),
                     f"{count / taken * 1000:,.0f}", line["notes"]))
    return ("### Sorting\n\n"
            "From values that the device holds to their order, by the clock on the wall.\n\n"
            + table(("type", "values", "rows:", "median:", "million a second:", ""), rows))


def transfer(results):
    """Ways to the device, a column for each size of a chunk."""
    lines = results["parts"].get("transfer")
    if not lines:
        return None
    by_name = {}
    for line in lines:
        by_name.setdefault(line["name"], {})[line["bytes"]] = bandwidth(line)
    sizes = sorted(min(by_name.values(), key=min))
    rows = []
    for name, speeds in by_name.items():
        # Where several chunks are transferred, a line's bytes are those of all of them.
        chunks = min(speeds) // sizes[0]
        rows.append([name, *(speeds.get(size * chunks, "") for size in sizes)])
    return ("### Transfer\n\nGB/s from the host to the device, by the size of a chunk.\n\n"
            + table(["", *(f"{byte_label(size)}:" for size in sizes)], rows))


def devices(results):
    """A column on one device, and divided among several."""
    lines = results["parts"].get("devices")
    if not lines:
        return None
    rows = [(line["name"], line["notes"].partition(" device")[0].removeprefix("by "),
             byte_label(line["bytes"]), bandwidth(line), times_as_fast(line["ratio"]))
            for line in lines]
    return ("### Several devices\n\n"
            "A column of REALs that devices alike share: copied there, and summed where it lies. A speed is how many\n"
            "times it is as fast as one device.\n\n"
            + table(("what", "devices:", "size:", "GB/s:", "speed:"), rows))


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

    if "memory" in parts:
        rows = [(row["name"], *(mebibytes(row[key]["median"])
                                for key in ("peak_bytes_before", "peak_bytes")))
                for row in parts["memory"]]
        text += ("\nPeak of a process's resident memory, before and after one query over "
                 f"{parts['memory'][0]['rows']:,} rows:\n\n"
                 + table(("", "before:", "after:"), rows))
    if "size" in parts:
        stripped = parts["size"]["stripped_bytes"]
        text += (f"\nThe extension has {parts['size']['bytes'] / 1024:,.0f} KiB"
                 + (f", stripped {stripped / 1024:,.0f} KiB" if stripped else "") + ".\n")
    return "### Memory and size\n" + text if text else None
