"""Writes random SELECTs from the grammar in selects.grammar, whose head says how that is written."""

import functools
import os
import re

HEAD = re.compile(r"(\w+) ::=(.*)")
PLACE = re.compile(r"<(?:\?|(!?)([a-z]\w*)(?:\(([^<>()]*)\))?(#\w+)?)>")
WEIGHT = re.compile(r"(\d+)\* ")
#: So often a rule may be within itself; then its shortest alternatives are taken.
DEPTH = 2


class Rule:
    """A rule's alternatives, which are text with places, how often each is taken, and how many rules it needs below."""

    def __init__(self, texts):
        self.texts, self.weights, self.costs = [], [], [0] * len(texts)
        for text in texts:
            weight = WEIGHT.match(text)
            self.weights.append(int(weight[1]) if weight else 1)
            text = text[weight.end():] if weight else text
            self.texts.append("" if text == "_" else text)

    def shortest(self):
        """The numbers of its shortest alternatives."""
        return [number for number, cost in enumerate(self.costs) if cost == min(self.costs)]


def read_grammar(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), "selects.grammar")):
    """The texts of all rules: a dictionary of sections, each a dictionary of rules."""
    sections, rule = {}, None
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                name, _, parent = line.strip("[]").partition(": ")
                section = sections[name] = dict(sections.get(parent, {}))
            elif line and not line.startswith("#"):
                head = HEAD.match(line)
                if head:
                    rule = section[head[1]] = []
                rule += [text.strip() for text in re.split(r"(?:^|(?<= ))\|(?= )", head[2] if head else line) if text.strip()]
    return sections


GRAMMAR = read_grammar()


@functools.cache
def read_rules(section):
    """The rules of a section by their names; a process reads them once."""
    rules, last = {name: Rule(texts) for name, texts in GRAMMAR[section].items()}, None

    def cost(place):
        """What a place costs: one more than the least of its rule."""
        rule = rules.get(place[2])
        return 1 + min(rule.costs) if rule else 1

    while last != (last := {name: rule.costs for name, rule in rules.items()}):  # costs settle from the bottom up
        for rule in rules.values():
            rule.costs = [max(map(cost, PLACE.finditer(text)), default=0) for text in rule.texts]
    return rules


class Writer:
    """Writes SELECTs of a section, with what a domain says beside the grammar: lists of words, and values for parameters."""

    def __init__(self, rng, section, words, parameter):
        self.rng, self.parameter, self.values = rng, parameter, []
        self.grammar, self.words = read_rules(section), words

    def expand(self, name, known, within):
        """Some text of a rule. known: what places with a mark have become; within: the rules that this is in."""
        if name in self.words:
            return self.rng.choice(self.words[name])
        rule = self.grammar[name]
        numbers = range(len(rule.texts)) if within.count(name) < DEPTH else rule.shortest()
        text = rule.texts[self.rng.choices(numbers, [rule.weights[number] for number in numbers])[0]]
        return PLACE.sub(lambda place: self.fill(place, known, (*within, name)), text)

    def fill(self, place, known, within):
        """What comes into a place."""
        is_own, name, argument, mark = place.groups()
        if name is None:
            return self.write_parameter()
        key = mark and place[0]
        if key in known:
            return known[key]
        text = self.expand(name, {} if is_own else known, within)
        if argument is not None and "@" in text:
            called = PLACE.fullmatch(f"<{argument}>")
            if called and (called[2] in self.grammar or called[2] in self.words):
                argument = self.fill(called, known, within)
            text = text.replace("@", argument)
        if key:
            known[key] = text
        return text

    def write_parameter(self):
        """A parameter, now and then one that was used already."""
        if self.values and self.rng.random() < 0.2:
            return f"?{self.rng.randint(1, len(self.values))}"
        self.values.append(self.parameter(self.rng))
        return f"?{len(self.values)}"

    def select(self):
        """A SELECT and the values of its parameters, which are written in one of the ways that there are."""
        self.values = []
        text = self.expand("select", {}, ())
        style, values = self.rng.randrange(4), self.values
        found = [int(number) for number in re.findall(r"\?(\d+)", text)]
        if style == 0:
            return text, tuple(values[: max(found, default=0)])
        if style == 1:
            return re.sub(r"\?\d+", "?", text), tuple(values[number - 1] for number in found)
        mark, order = self.rng.choice(":@$"), list(dict.fromkeys(found))
        text = re.sub(r"\?(\d+)", lambda match: f"{mark}p{match[1]}", text)
        return text, tuple(values[number - 1] for number in order)
