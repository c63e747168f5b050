#!/usr/bin/env python3
"""Turns results of bench/run.py into one report: Markdown, and plots as SVG beside it.

    bench/report.py [--output FOLDER] RESULTS.json...

Results of several machines make a section each; those of one machine are put together, the later
ones in place of the earlier ones.
"""

import argparse
import copy
import json
import os

import figures
import sections
import stats_section

HEAD = """# Benchmarks

Each figure is the median of several runs, in which the candidates took turns; a ratio is the median
of the ratios of the two times of each round, with the least and the greatest in parentheses.
`make bench` measures all of it anew.
"""

TAIL = """## What was tried and lost

On the H200, 1, 2 and 8 loads in flight a work-item lost against 4, and other numbers of work-groups a
compute unit against the 6, 8 or 16 that each kernel has. On PoCL, a grid-stride loop reached a seventh of
the bandwidth of a contiguous run, blocks of plain TwoSum 14 GB/s where the biased FastTwoSum blocks
reach 54, and blocks of 16 vectors lost against 32. On the host, a sum that leaves looking ahead to the processor
stood at 44% of one thread's plain read; prefetching 128 values ahead made that 62%, 256 made it 75%, and 512,
which is kept, 84%; 1,024 and 2,048 won no more.

Views on the H200: results that came back in two reads, to pageable memory, cost 60 µs more than one read to pinned
memory, and an event for each kernel 6 µs each. Bundles of steps with 1 or 4 rows in flight lost against 2, and 6, 8 or 16
work-groups a compute unit against 4. The five sums of gpu_corr take 0.9 times as long in one pass as in five: they
are limited by arithmetic. Threads that populate a load's memory while others still start made a load 1.4 times as long.
"""

#: What a machine's part of the report consists of: a section, and the plot that goes with it.
PARTS = ((sections.machine, None), (sections.goals, None), (sections.feed, "feed"),
         (sections.views, "views"), (stats_section.section, "statistics"),
         (sections.first, None), (sections.peers, None), (sections.bandwidth, "bandwidth"),
         (sections.ladder, "ladder"), (sections.transfer, None), (sections.startup, None),
         (sections.memory, None))


def merge(all_results):
    """One set of results for each machine and scale, in the order in which they came."""
    merged = {}
    for results in all_results:
        key = json.dumps([results["machine"], results["rows"]], sort_keys=True)
        if key not in merged:
            merged[key] = copy.deepcopy(results)
            continue
        whole = merged[key]
        for name in ("parts", "seconds"):
            whole[name].update(results[name])
        whole["missing"] = list(dict.fromkeys(whole["missing"] + results["missing"]))
        if results["command"] not in whole["command"]:
            whole["command"] += f"; {results['command']}"
    return list(merged.values())


def draw(results, plot, folder):
    """Draws a plot into the folder; returns the Markdown that shows it, or an empty text."""
    drawing = figures.draw(results, plot)
    if drawing is None:
        return ""
    file_name = f"{plot}-{figures.slug(results)}.svg"
    with open(os.path.join(folder, file_name), "w", encoding="utf-8") as file:
        file.write(drawing)
    return f"\n![{plot}]({file_name})\n"


def write(all_results, folder):
    """Writes REPORT.md and its plots."""
    texts = [HEAD]
    for results in merge(all_results):
        for section, plot in PARTS:
            text = section(results)
            if text:
                texts.append(text + (draw(results, plot, folder) if plot else ""))
    texts.append(TAIL)
    with open(os.path.join(folder, "REPORT.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(texts))


def main():
    """Reads the results that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", default=".", help="the folder for REPORT.md and its plots")
    parser.add_argument("results", nargs="+", help="files that bench/run.py wrote")
    options = parser.parse_args()
    found = []
    for path in options.results:
        with open(path, encoding="utf-8") as file:
            found.append(json.load(file))
    os.makedirs(options.output, exist_ok=True)
    write(found, options.output)
    print(os.path.join(options.output, "REPORT.md"))


if __name__ == "__main__":
    main()
