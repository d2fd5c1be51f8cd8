"""A plan's text with one change drawn at random: a line dropped, repeated or exchanged with the
next, a number made larger, a word put for another. Most still parse."""

import random
import re

NUMBER = re.compile(r'(?<![\w.%@^"-])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])')
STRING = re.compile(r'"[^"]*"')
OPERATION = re.compile(r" {4}(%\d+ = )?plan\..*[^{]\n")  # on a line of its own
WORDS = (
    ("ring", "tree"),
    ("recursive-doubling", "ring"),
    ("f32", "f64"),
    ("relu", "none"),
    ("transpose_a", "transpose_b"),
    ("reduction sum", "reduction mean"),
    ("forward", "backward"),
    ("update", "backward"),
    ("maxPool", "averagePool"),
    ("parameters", "state"),
    ("arena", "gradients"),
    (" {output}", ""),
    ("array<i64: 1, 1>", "array<i64: 1>"),
)


def larger_numbers(line):
    """The line with each of its numbers, but those in strings, made larger."""
    strings = [range(*found.span()) for found in STRING.finditer(line)]
    for found in NUMBER.finditer(line):
        if any(found.start() in string for string in strings):
            continue
        is_real = any(mark in found[0] for mark in ".eE")
        larger = repr(float(found[0]) * 1.1 + 1e-9) if is_real else str(int(found[0]) + 64)
        yield line[: found.start()] + larger + line[found.end() :]


class Mutator:
    """Draws changes of one text. The same seed draws the same."""

    def __init__(self, text, seed):
        self.lines = text.splitlines(keepends=True)
        self.random = random.Random(seed)
        self.program = next(i for i, line in enumerate(self.lines) if "plan.program" in line)
        self.operations = [
            i
            for i in range(self.program + 1, len(self.lines))
            if OPERATION.fullmatch(self.lines[i])
        ]

    def with_line(self, number, *new):
        return number, "".join(self.lines[:number] + list(new) + self.lines[number + 1 :])

    def drop(self):
        return self.with_line(self.random.choice(self.operations))

    def repeat(self):
        number = self.random.choice(self.operations)
        return self.with_line(number, self.lines[number], self.lines[number])

    def exchange(self):
        number = self.random.choice([i for i in self.operations if i + 1 in self.operations])
        lines = list(self.lines)
        lines[number : number + 2] = lines[number + 1], lines[number]
        return number, "".join(lines)

    def enlarge(self, numbers):
        number = self.random.choice(numbers)
        changed = list(larger_numbers(self.lines[number]))
        return self.with_line(number, self.random.choice(changed or [self.lines[number]]))

    def enlarge_in_program(self):
        return self.enlarge([self.program, *self.operations])

    def enlarge_in_agreement(self):
        return self.enlarge(range(1, self.program))

    def replace_word(self):
        number = self.random.choice([self.program, *self.operations])
        return self.with_line(number, self.lines[number].replace(*self.random.choice(WORDS)))

    KINDS = (drop, repeat, exchange, enlarge_in_program, enlarge_in_agreement, replace_word)


def mutations(text, seed, count):
    """`count` different changes, of each kind as many: (what is done to which line, the text)."""
    mutator, seen = Mutator(text, seed), {text}
    while len(seen) <= count:
        for kind in Mutator.KINDS:
            number, changed = kind(mutator)
            if changed not in seen and len(seen) <= count:
                seen.add(changed)
                yield f"{kind.__name__}, line {number + 1}", changed
