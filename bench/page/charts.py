"""Charts: series of points between two axes, which are logarithmic or have named places."""

import math
from dataclasses import dataclass, field

from page import plots

LEFT, TOP, RIGHT, BOTTOM = 86, 48, 540, 400


@dataclass
class Axis:
    """One axis: its label with the unit, the values at its ends, and what is written beside it.

    Ticks are pairs of a value and a text. A value of 0 or less is drawn at the low end.
    """

    label: str
    low: float
    high: float
    ticks: list
    logarithmic: bool = True

    def share(self, value):
        """How far a value is along the axis, from 0 to 1."""
        if self.logarithmic:
            value = max(value, self.low)
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass
class Series:
    """Points (x, y) with a name in the legend, or "" for none."""

    name: str
    points: list
    colour: int = 0
    marker: str = "circle"     # circle, square, diamond, triangle, or "" for none
    dash: str = ""             # SVG's stroke-dasharray
    joined: bool = True
    ranges: list = field(default_factory=list)  # (x, low, high), drawn as thin lines


DASHED, DOTTED = "6 4", "2 4"


def logarithmic(label, values, form, factor=1.25, ticks=None):
    """A logarithmic axis around values, with powers of ten beside it or what is to stand there."""
    low, high = min(values) / factor, max(values) * factor
    return Axis(label, low, high, [(tick, form(tick)) for tick in ticks
                                   or plots.decades(low, high)])


def places(label, names):
    """An axis with a place for each name; their values are 0, 1 and so on."""
    return Axis(label, -0.3, len(names) - 0.7, list(enumerate(names)), logarithmic=False)


def marker(kind, x, y, colour):
    """A point."""
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    corners = {"square": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
               "diamond": ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
               "triangle": ((0, -5), (5, 4), (-5, 4))}.get(kind)
    if corners is None:
        return ""
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def path(points, colour, dash):
    """A line through points."""
    places_of = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    pattern = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<polyline points="{places_of}" fill="none" stroke="{colour}" stroke-width="2"'
            f'{pattern}/>')


def grid(x_axis, y_axis):
    """The lines, numbers and labels of the axes."""
    shapes = []
    for value, name in y_axis.ticks:
        y = BOTTOM - (BOTTOM - TOP) * y_axis.share(value)
        shapes += [plots.line(LEFT, y, RIGHT, y), plots.text(LEFT - 6, y + 4, name, "end")]
    for value, name in x_axis.ticks:
        x = LEFT + (RIGHT - LEFT) * x_axis.share(value)
        shapes += [plots.line(x, TOP, x, BOTTOM), plots.text(x, BOTTOM + 18, name, "middle")]
    middle = (TOP + BOTTOM) / 2
    shapes.append(plots.text((LEFT + RIGHT) / 2, BOTTOM + 40, x_axis.label, "middle"))
    shapes.append(f'<g transform="translate(16 {middle}) rotate(-90)">'
                  + plots.text(0, 0, y_axis.label, "middle") + "</g>")
    return shapes


def draw(title, x_axis, y_axis, series, note=""):
    """A chart with its legend on the right, and a note below."""
    def place(x, y):
        return (LEFT + (RIGHT - LEFT) * x_axis.share(x),
                BOTTOM - (BOTTOM - TOP) * y_axis.share(y))

    shapes = grid(x_axis, y_axis)
    row = TOP + 8
    for one in series:
        colour = plots.COLOURS[one.colour]
        points = [place(x, y) for x, y in one.points]
        for x, low, high in one.ranges:
            shapes.append(plots.line(*place(x, low), *place(x, high), colour, 1.5))
        if one.joined:
            shapes.append(path(points, colour, one.dash))
        shapes += [marker(one.marker, x, y, colour) for x, y in points]
        if one.name:
            if one.joined:
                shapes.append(path([(RIGHT + 14, row), (RIGHT + 40, row)], colour, one.dash))
            shapes += [marker(one.marker, RIGHT + 27, row, colour),
                       plots.text(RIGHT + 48, row + 4, one.name)]
            row += 22
    if note:
        shapes.append(plots.text(20, BOTTOM + 62, note, "note"))
    return plots.document(BOTTOM + (74 if note else 52), title, shapes)
