"""Finds the places of a C++ file where a fault can be planted, and draws some by a seed.

A file is read as tokens; there is no parser behind them. What a statement or a declaration is
follows from brackets and from clang-format's spaces. A change may fail to compile.
"""

import functools
import random
import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""(?P<gap>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
      |(?P<string>(?:u8|[uUL])?R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"
                 |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
      |(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<mark><=>|\.\.\.|::|->|\+\+|--|&&|\|\||<<|[-+*/%&|^=!<>]=|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
CLOSES = {")": "(", "]": "[", "}": "{"}
HEADERS = {"if", "while", "for", "switch"}
TYPES = set("const void bool char int long short unsigned signed float double".split())
KEYWORDS = HEADERS | TYPES
KEYWORDS |= set(
    "return catch sizeof decltype alignof noexcept requires static_assert else do case default"
    " break continue goto using typedef template typename namespace class struct enum union public"
    " private protected auto constexpr static extern inline virtual explicit friend operator new"
    " delete throw".split()
)
# Texts for people and checks of our own: a statement with such a call is left as it is.
DIAGNOSTICS = set(
    "assert static_assert llvm_unreachable report_fatal_error emitError emitOpError emitWarning"
    " emitRemark attachNote badInput note fail warn usage LLVM_DEBUG dbgs errs cerr".split()
)
WAITS = {"wait", "waits", "join", "lock", "notify", "sync", "synchronize"}
COMMUTATIVE = {"min", "max", "minimum", "maximum", "swap", "hypot", "gcd", "lcm"}
ONLY_FASTER = {"reserve", "shrink_to_fit"}  # without them a program does the same
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "++", "--"}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
ENDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
BRANCHES = {"==": "!=", "!=": "==", "&&": "||", "||": "&&"}
KINDS = ("sign", "index", "wait", "branch", "argument", "statement")


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Site(NamedTuple):
    """One change: `old`, at an offset of the file's text, becomes `new`."""

    kind: str
    file: str
    line: int
    start: int
    old: str
    new: str

    def planted(self, text):
        return text[: self.start] + self.new + text[self.start + len(self.old) :]

    def lines(self, text):
        """The whole lines that the change touches, in one, with their white space collapsed."""
        begin = text.rfind("\n", 0, self.start) + 1
        return " ".join(text[begin : text.find("\n", self.start + len(self.old))].split())

    def lines_after(self, text):
        return self._replace(old=self.new).lines(self.planted(text))


class Code:
    """The tokens of a file, the bracket that each one is in (-1: none) and each one's partner."""

    def __init__(self, text):
        self.text = text
        found = [(m.lastgroup, m) for m in TOKEN.finditer(text)]
        found = [("string" if kind == "tag" else kind, m) for kind, m in found if kind != "gap"]
        self.tokens = [Token(kind, m.group(), *m.span()) for kind, m in found]
        self.inside, self.partner, opened = [], {}, []
        for i, token in enumerate(self.tokens):
            if CLOSES.get(token.text) and opened:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i
            self.inside.append(opened[-1] if opened else -1)
            if token.text in CLOSES.values():
                opened.append(i)

    def at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def words(self, begin, end):
        return self.text[self.tokens[begin].start : self.tokens[end - 1].end] if end > begin else ""

    def is_spaced(self, i):
        """Whether there is white space on both sides: so a binary operator is written."""
        token = self.tokens[i]
        return f"{self.text[token.start - 1]}{self.text[token.end : token.end + 1]}".isspace()

    def is_header(self, opening):
        """Whether the bracket holds the condition of an if, a loop or a switch."""
        name = opening - 2 if self.at(opening - 1) == "constexpr" else opening - 1
        return self.at(opening) == "(" and self.at(name) in HEADERS

    def begins(self, i):
        """Whether a statement begins at the token: in a body, behind another statement."""
        before = self.at(i - 1)
        if self.inside[i] < 0 or self.at(self.inside[i]) != "{":
            return False
        return before in ("{", ";", "else", "do") or (
            before == ")" and self.is_header(self.partner[i - 1])
            or before == "}" and self.tokens[i].kind == "word"
        )

    def statement(self, i):
        """First and past-the-end token of the statement around a token; a condition is one."""
        while self.at(self.inside[i]) in ("(", "[") and not self.is_header(self.inside[i]):
            i = self.inside[i]
        first, holder = i, self.inside[i]
        while first - 1 > holder and self.at(first - 1) != ";" and not self.begins(first):
            first = self.partner.get(first - 1, first - 1)
        return first, self.behind(first)

    def behind(self, i):
        """The next ';' among tokens of the same bracket, or the bracket's end."""
        holder = self.inside[i]
        while i < len(self.tokens) and self.at(i) != ";" and self.partner.get(i) != holder:
            if self.at(i) == "{" and self.begins(i):
                break
            opens = self.at(i) in CLOSES.values()
            i = (self.partner.get(i, i) if opens else i) + 1
            if self.at(i - 1) == ")" and self.is_header(self.partner.get(i - 1, -1)):
                break
        return i

    @functools.cached_property
    def silent(self):
        """The tokens of statements that speak to people, or check ourselves."""
        tokens = set()
        for i, token in enumerate(self.tokens):
            is_error = token.text == "error" and self.at(i - 2) == "Status"
            if is_error or token.text in DIAGNOSTICS and self.at(i + 1) == "(":
                tokens.update(range(*self.statement(i)))
        return tokens

    def split(self, opening):
        """The arguments between brackets, as (first token, past the end)."""
        closing = self.partner[opening]
        commas = [i for i in range(opening + 1, closing) if self.at(i) == ","]
        cuts = [opening, *(i for i in commas if self.inside[i] == opening), closing]
        return [(begin + 1, end) for begin, end in zip(cuts, cuts[1:])]

    def declares(self, indices):
        """Whether tokens name a type and something of it: `int a`, `Type &a`, `List<int> a`."""
        for i, j in zip(indices, indices[1:]):
            token, follower = self.tokens[i], self.tokens[j]
            if token.kind == "word" and (follower.kind == "word" or token.text in KEYWORDS):
                return True
            is_bound = token.text in ("&", "*", "&&", ">") and not self.is_spaced(i)
            if is_bound and follower.kind == "word" and i > indices[0]:
                before = self.tokens[i - 1]
                if token.text == ">" or before.kind == "word" and before.end < token.start:
                    return True
        return self.at(indices[0]) in KEYWORDS if indices else False


def changes(code):
    """(kind, first token, past the end, new text) of every change that the code offers."""
    for i, token in enumerate(code.tokens):
        if i in code.silent:
            continue
        if token.kind == "mark" and 0 < i and code.is_spaced(i) and code.at(i - 1) != "operator":
            if token.text in SIGNS and not has_string(code, *code.statement(i)):
                yield "sign", i, i + 1, SIGNS[token.text]
            if token.text in ENDS:
                yield "index", i, i + 1, ENDS[token.text]
            if token.text in BRANCHES:
                yield "branch", i, i + 1, BRANCHES[token.text]
        if token.text == "0":
            yield "index", i, i + 1, "1"
        if token.text == "[" and i in code.partner:
            yield from subscript(code, i)
        if token.text == "(" and code.at(i - 1) in ("if", "while") and i in code.partner:
            yield from condition(code, i)
        if token.text == "(" and code.tokens[i - 1].kind == "word" and i in code.partner:
            yield from swapped(code, i)
        if code.begins(i):
            yield from dropped(code, i)


def has_string(code, begin, end):
    return any(token.kind == "string" for token in code.tokens[begin:end])


def subscript(code, opening):
    begin, end = opening + 1, code.partner[opening]
    before, name = code.tokens[opening - 1], code.tokens[opening - 2]
    is_name = before.kind == "word" and before.text not in KEYWORDS
    is_declared = is_name and name.kind == "word" and name.text not in KEYWORDS - TYPES
    is_declared |= name.text in (">", "*", "&") and not code.is_spaced(opening - 2)
    if (is_name or before.text in (")", "]")) and not is_declared and end > begin:
        if not has_string(code, begin, end) and code.words(begin, end) != "0":
            yield "index", begin, end, f"{code.words(begin, end)} + 1"


def condition(code, opening):
    """The condition behind an initialising statement; a declaration cannot be negated."""
    closing = code.partner[opening]
    own = [i for i in range(opening + 1, closing) if code.inside[i] == opening]
    begin = max((i for i in own if code.at(i) == ";"), default=opening) + 1
    if not any(code.at(i) == "=" for i in own if i >= begin):
        yield "branch", begin, closing, f"!({code.words(begin, closing)})"


def swapped(code, opening):
    name, arguments = code.at(opening - 1), code.split(opening)
    if name in KEYWORDS | COMMUTATIVE or name in DIAGNOSTICS:
        return
    for (a, b), (c, d) in zip(arguments, arguments[1:]):
        first, second = code.words(a, b), code.words(c, d)
        is_plain = not has_string(code, a, d) and "{" not in code.words(a, d)
        # A comma between angle brackets is not between arguments.
        is_plain &= all(one.count("<") == one.count(">") for one in (first, second))
        is_plain &= not code.declares(range(a, b)) and not code.declares(range(c, d))
        if is_plain and first and second and first != second:
            yield "argument", a, d, f"{second}, {first}"


def dropped(code, first):
    """A statement that is a call, an assignment or a count; nothing can need what it declares."""
    end = code.behind(first)
    if code.at(end) != ";" or code.at(first) in KEYWORDS or code.at(first) in ("(", "}", ";"):
        return
    own = [i for i in range(first, end) if code.inside[i] == code.inside[first]]
    if has_string(code, first, first + 1) or code.declares(own):
        return
    # `(void)` and names of types alone do nothing.
    is_call = code.at(end - 1) == ")" and code.tokens[code.partner[end - 1] - 1].kind == "word"
    if not is_call and not any(code.at(i) in ASSIGNS for i in own):
        return
    name = code.at(code.partner[end - 1] - 1) if is_call else ""
    parts = re.findall(r"[A-Z]?[a-z]+", name)
    kind = "wait" if WAITS & {part.lower() for part in parts[:1]} else "statement"
    if name not in ONLY_FASTER:
        yield kind, first, end + 1, "{}"


def sites(file, text):
    """Every change that a file offers."""
    code = Code(text)
    found = []
    for kind, begin, end, new in changes(code):
        start, old = code.tokens[begin].start, code.words(begin, end)
        found.append(Site(kind, file, text.count("\n", 0, start) + 1, start, old, new))
    return found


def draw(seed, folders, each=3):
    """Chooses kinds first: each as often as the others, the rarest first, and twice in a folder
    only where it must. `folders` maps names to sites. Returns for each number, from 1 on, its
    folder and its sites in the order in which they are tried; those of its kind come first."""
    chance = random.Random(f"kinds {seed}")
    offered = {name: [site.kind for site in own] for name, own in folders.items()}
    chosen = {name: [] for name in folders}
    copies = -(-len(folders) * each // len(KINDS))
    rarity = sorted(KINDS, key=lambda kind: sum(kind in kinds for kinds in offered.values()))
    for kind in [kind for kind in rarity for _ in range(copies)]:
        free = [name for name, kinds in offered.items() if len(chosen[name]) < each]
        free = [name for name in free if offered[name].count(kind) > chosen[name].count(kind)]
        if free:
            fewest = min(chosen[name].count(kind) for name in free)
            chosen[chance.choice([n for n in free if chosen[n].count(kind) == fewest])] += [kind]
    slots = []
    for name, kinds in chosen.items():
        while len(kinds) < each:  # a rare kind has left these over
            kinds.append(chance.choice(sorted(set(offered[name]))))
        all_sites = list(folders[name])
        random.Random(f"sites {seed} {name}").shuffle(all_sites)
        for place, kind in enumerate(kinds):
            first = [site for site in all_sites if site.kind == kind]
            others = [site for site in all_sites if site.kind not in kinds]
            same = [i for i, other in enumerate(kinds) if other == kind]
            share = first[same.index(place) :: len(same)]  # no site is drawn by two numbers
            slots.append((name, share + others[place::each]))
    return slots
