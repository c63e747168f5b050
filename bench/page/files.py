"""The files of results and of their pages: NAME.md, NAME-tables.md, and pictures beside them."""

import json
import os
import re

from page import front
from page import pictures
from page import pictures_bars
from page import tables_device
from page import tables_pictures
from page import tables_sql
from page.tables_groups import groups
from page.tables_plain import gate, shapes
from page.tables_pool import pool
from page.tables_statistics import statistics
from page.tables_times import columnar, joins, times_of_events

#: The raw tables: sections, each with the names of the pictures that go with it.
TABLES = ((tables_sql.feed, "feed"), (tables_sql.views, "views"), (tables_sql.text,), (groups,), (pool,), (times_of_events,),
          (joins,), (columnar,), (shapes,), (gate,), (statistics, "statistics", "statistics-views"),
          (tables_pictures.scale,), (tables_pictures.queries,), (tables_pictures.accuracy,), (tables_pictures.exponents,),
          (tables_pictures.changes,), (tables_sql.first,), (tables_sql.peers,), (tables_device.bandwidths, "bandwidth"),
          (tables_device.ladder, "ladder"), (tables_device.sort,), (tables_device.transfer,), (tables_device.devices,),
          (tables_device.startup,), (tables_device.memory,))


def write_results(path, results):
    """Writes a run's results as JSON, a list of numbers on a line."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[-+\d.eE,\s]+\]", lambda match: re.sub(r"\s+", " ", match.group()), text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def read_results(path):
    """A run's results, or None where there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def write_text(folder, name, text):
    """Writes a file of text, and returns its name."""
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return name


def draw(runs, folder, chosen):
    """Draws pictures of those that are chosen; returns the names of the files that there are."""
    drawn = {}
    for name, make in chosen.items():
        drawing = make(runs.whole, front.machine_name(runs.whole))
        if drawing is not None:
            drawn[name] = write_text(folder, f"{runs.name}-{name}.svg", drawing)
    return drawn


def tables(runs, drawn):
    """The page of raw tables."""
    texts = [f"# {front.machine_name(runs.whole)}: raw tables\n",
             f"The medians of the runs of [{runs.name}.md]({runs.name}.md); a range goes from the\n"
             "least to the greatest of all their rounds.\n"]
    for section, *shown in TABLES:
        text = section(runs.whole)
        if text:
            texts.append(text + "".join(f"\n![{picture}]({drawn[picture]})\n" for picture in shown if picture in drawn))
    return "\n".join(texts)


def write_page(runs, folder):
    """Writes the page, the raw tables and the pictures; returns the path of the page."""
    os.makedirs(folder, exist_ok=True)
    write_text(folder, f"{runs.name}-tables.md",
               tables(runs, draw(runs, folder, pictures_bars.PICTURES)))
    name = write_text(folder, f"{runs.name}.md",
                      front.page(runs, draw(runs, folder, pictures.PICTURES)))
    return os.path.join(folder, name)
