"""Every regular expression of the apps, and long texts on which a pattern that backtracks takes long."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import signal
import time
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]  # the standard library's own, without stubs
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, cast

from django import forms
from django.core.validators import EmailValidator, RegexValidator, URLValidator
from django.db import models
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework import serializers

from tests.support.environment import APPS

_CALLS = {"compile", "fullmatch", "match", "search", "finditer", "findall", "sub", "subn", "split"}
_REPEATS = {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}


@dataclass(frozen=True)
class Found:
    """A pattern, where it is, and whether it is searched for in a text or has to match at its beginning.

    `place` begins with the module; numbers in it may differ from process to process, as the order of sets does.
    """

    module: str
    place: str
    pattern: re.Pattern[Any]  # of text or of bytes
    methods: frozenset[str]


def modules() -> list[types.ModuleType]:
    """Import every module of the apps, without migrations."""
    names = []
    for app in APPS:
        package = importlib.import_module(app)
        names += [app, *(found.name for found in pkgutil.walk_packages(package.__path__, f"{app}."))]
    return [importlib.import_module(name) for name in names if ".migrations" not in name and "__main__" not in name]


def fields_of_forms() -> dict[str, forms.Field]:
    """Return the fields of the forms that the modules of the apps define, by module, form and field."""
    found: dict[str, forms.Field] = {}
    waiting = [forms.BaseForm]
    while waiting:
        form = waiting.pop()
        waiting += form.__subclasses__()
        if form.__module__.partition(".")[0] in APPS:
            fields = getattr(form, "base_fields", {})
            found |= {f"{form.__module__}.{form.__name__}.{name}": field for name, field in fields.items()}
    return found


def collected() -> list[Found]:
    """Return each pattern of the modules, of their validators and of all URLs once."""
    found: dict[tuple[str | bytes, int, frozenset[str]], Found] = {}
    for one in itertools.chain(*(_of_module(module) for module in modules()), _of_urls(get_resolver())):
        found.setdefault((one.pattern.pattern, one.pattern.flags, one.methods), one)
    return list(found.values())


def _of_module(module: types.ModuleType) -> Iterator[Found]:
    source = Path(cast("str", module.__file__)).read_text()
    walk = _Walk(module.__name__)
    for name, value in list(vars(module).items()):
        for place, pattern in walk.of(value, f"{module.__name__}.{name}"):
            yield Found(module.__name__, place, pattern, _methods(name, source) if value is pattern else _ANY)
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and (given := _inline(call)):
            yield Found(module.__name__, f"{module.__name__}:{call.lineno}", re.compile(given[1]), _used_as(given[0]))


_ANY = frozenset({"fullmatch", "search"})


def _methods(name: str, source: str) -> frozenset[str]:
    """Return how a module uses a pattern of its own. A public name may be used in any way."""
    used = set(re.findall(rf"\b{name}\.({'|'.join(_CALLS)})\b", source)) if name.startswith("_") else set()
    return _used_as(*used) or _ANY


def _used_as(*calls: str) -> frozenset[str]:
    return frozenset("fullmatch" if one in {"fullmatch", "match"} else "search" for one in calls)


def _inline(call: ast.Call) -> tuple[str, str | bytes] | None:
    """Return the function and the constant pattern of a call such as `re.sub(r"…", …)`; None: it is another call."""
    match call.func, call.args:
        case ast.Attribute(value=ast.Name(id="re"), attr=name), [ast.Constant(value=str() | bytes() as pattern), *_]:
            return (name, pattern) if name in _CALLS - {"compile"} else None
    return None


def _of_urls(resolver: URLResolver | URLPattern) -> Iterator[Found]:
    regex = cast("Any", resolver.pattern).regex
    is_whole = isinstance(resolver, URLPattern) and regex.pattern.endswith("$")  # as `RegexPattern.match` decides
    yield Found("URLs", f"the URL {resolver.pattern}", regex, _used_as("fullmatch" if is_whole else "search"))
    for inner in getattr(resolver, "url_patterns", ()):
        yield from _of_urls(inner)


class _Walk:
    """The patterns that a value of a module holds, at any depth."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.seen: dict[int, Any] = {}  # kept, so that no other object gets the id

    def of(self, value: Any, place: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
        if isinstance(value, re.Pattern):
            yield place, getattr(value, "_wrapped", value)
            return
        if id(value) in self.seen or isinstance(value, (str, bytes, int, float, types.ModuleType)):
            return
        self.seen[id(value)] = value
        for name, inner in self._inside(value):
            yield from self.of(inner, f"{place}.{name}")

    def _inside(self, value: Any) -> Iterable[tuple[Any, Any]]:
        if isinstance(value, dict):
            return list(value.items())
        if isinstance(value, (list, tuple, set, frozenset)):
            return enumerate(value)
        if isinstance(value, (types.BuiltinMethodType, types.MethodType)):
            return [("__self__", value.__self__)]
        if isinstance(value, functools.partial):
            return [("func", value.func), ("args", value.args), ("keywords", value.keywords)]
        if isinstance(value, (RegexValidator, EmailValidator, URLValidator)):
            return [(name, member) for name, member in inspect.getmembers(value) if isinstance(member, re.Pattern)]
        if isinstance(value, (models.Field, forms.Field, serializers.Field)):
            names = ("validators", "fields", "child", "base_field")
            return [(name, getattr(value, name, None)) for name in names]
        return self._inside_our_own(value)

    def _inside_our_own(self, value: Any) -> Iterable[tuple[Any, Any]]:
        """Return what a function, class or object holds that this module defines."""
        if isinstance(value, types.FunctionType) and value.__module__ == self.module:
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            return [("closure", cells), ("defaults", value.__defaults__), ("wrapped", vars(value))]
        if isinstance(value, type) and value.__module__ == self.module:
            columns = value._meta.get_fields() if issubclass(value, models.Model) else ()
            fields = getattr(value, "base_fields", None) or getattr(value, "_declared_fields", None)
            return [*vars(value).items(), ("columns", columns), ("fields", fields)]
        if type(value).__module__.partition(".")[0] in APPS and hasattr(value, "__dict__"):
            return list(vars(value).items())
        return ()


class TooSlow(Exception):
    """A pattern takes longer than its bound."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise TooSlow after so many seconds of the processor: a busy machine makes no difference."""

    def stop(number: int, frame: types.FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


SHORT, MIDDLE, LONG = 2 * 1024, 8 * 1024, 64 * 1024  # characters
_SUSPICIOUS = 0.0003  # seconds of the processor for a short text; most linear patterns take a tenth of it
_AT_ONCE = 0.05  # so slow for a short text that no others are tried first
BOUND = 1.0  # seconds for a long one; a linear pattern takes some milliseconds
# Times as long for the next length, four and eight times the one before: between linear and the square.
_GROWTH, _LONG_GROWTH, _NOTICEABLE = 8, 24, 0.1


def slow_text(found: Found) -> str | None:
    """Return the beginning of a text for which the pattern needs longer than a time that grows with the length.

    Each family meets the pattern with a short text. The slowest three, and the first twenty that are suspicious, come
    again with a long one.
    """
    timed = []
    for make in _families(found.pattern):
        taken = _seconds(found, make(SHORT))
        if taken > _AT_ONCE and _is_slow(found, make):
            return make(100)
        timed.append((taken, make))
    timed.sort(key=lambda one: -one[0])
    suspicious = [make for taken, make in timed if taken > _SUSPICIOUS and _grows(found, make, taken)]
    again = [*(make for _, make in timed[:3]), *suspicious[:20]]
    return next((make(100) for make in again if _is_slow(found, make)), None)


def _grows(found: Found, make: Callable[[int], str], taken: float) -> bool:
    return _seconds(found, make(MIDDLE)) > taken * _GROWTH


def _is_slow(found: Found, make: Callable[[int], str]) -> bool:
    taken = _seconds(found, make(LONG))
    return taken > BOUND or (taken > _NOTICEABLE and taken > _seconds(found, make(MIDDLE)) * _LONG_GROWTH)


def _seconds(found: Found, text: str) -> float:
    """Return the seconds of the processor that the pattern needs for a text; twice the bound where it was stopped."""
    given = text.encode("latin-1", "replace") if isinstance(found.pattern.pattern, bytes) else text
    before = time.thread_time()
    try:
        with bounded(BOUND * 2):
            if "fullmatch" in found.methods:
                found.pattern.match(given)
                found.pattern.fullmatch(given)
            if "search" in found.methods:
                for _ in found.pattern.finditer(given):
                    pass
    except TooSlow:
        return BOUND * 2
    return time.thread_time() - before


def _families(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Yield functions that make a text of a length: a beginning, what is repeated, an end that fails."""
    given: str | bytes = pattern.pattern
    text = given.decode("latin-1") if isinstance(given, bytes) else given
    tree = parser.parse(text, pattern.flags)
    literals, of_sets = (list(dict.fromkeys(_letters(tree, of_sets=of_sets))) for of_sets in (False, True))
    letters = list(dict.fromkeys([*literals[:5], *of_sets[:: -(-len(of_sets) // 6) or 1]])) or ["a"]
    repeats = _repeats(tree)
    pairs = ["".join(pair) for pair in itertools.product(letters, repeat=2)] if repeats else []
    examples = dict.fromkeys(_example(tree, turn) for turn in range(6))
    beginnings, every = _beginnings(examples, 6), _beginnings(examples, 40)
    apart = ["".join(pair) for pair in itertools.product(every, ("", " ", "-", "\n"))]
    for part in dict.fromkeys([*letters, *pairs, *apart]):
        yield from (functools.partial(_text, "", part, end) for end in ("", "\0\n"))
    for beginning, part in itertools.product(beginnings if repeats > 1 else (), [*letters, *pairs]):
        yield functools.partial(_text, beginning, part, "\0\n")


def _text(beginning: str, repeated: str, end: str, length: int) -> str:
    return beginning + repeated * (length // len(repeated)) + end


def _beginnings(examples: Iterable[str], most: int) -> list[str]:
    """Return beginnings of the examples, about `most` of each."""
    cuts = ((example, range(1, len(example) + 1, len(example) // most + 1)) for example in examples)
    return list(dict.fromkeys(example[:cut] for example, places in cuts for cut in places))


def _repeats(tree: Any) -> int:
    """Return the number of parts that a text may repeat: one has no other to share characters with."""
    return sum((operation in _REPEATS) + sum(map(_repeats, _inner(operation, given))) for operation, given in tree)


def _letters(tree: Any, *, of_sets: bool) -> Iterator[str]:
    """Yield the characters that the pattern names by themselves, or some inside and outside its sets."""
    for operation, given in tree:
        if operation is code.LITERAL and not of_sets:
            yield chr(given)
        elif operation in {code.ANY, code.NOT_LITERAL, code.IN} and of_sets:
            yield from _of_set(operation, given)
        for inner in _inner(operation, given):
            yield from _letters(inner, of_sets=of_sets)


_CATEGORIES = {"DIGIT": "7", "SPACE": " ", "WORD": "a"}


def _of_set(operation: Any, given: Any) -> list[str]:
    if operation is code.ANY:
        return ["a", "\n"]
    items = [(code.NEGATE, None), (code.LITERAL, given)] if operation is code.NOT_LITERAL else given
    named = [_of_item(kind, value) for kind, value in items if kind is not code.NEGATE]
    if items[0][0] is code.NEGATE:
        within = [item for item in items if item[0] is not code.NEGATE]
        free = [letter for letter in "az9-. \né" if not any(_holds(kind, value, letter) for kind, value in within)]
        return [*free[:3], *named]
    return named


def _of_item(kind: Any, value: Any) -> str:
    if kind is code.CATEGORY:
        name = str(value).removeprefix("CATEGORY_").removeprefix("UNI_")
        return _CATEGORIES.get(name, "!")
    return chr(value if kind is code.LITERAL else value[0])


def _holds(kind: Any, value: Any, letter: str) -> bool:
    if kind is code.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if kind is code.CATEGORY:
        return _of_item(kind, value).isspace() == letter.isspace()
    return letter == chr(value)


def _inner(operation: Any, given: Any) -> list[Any]:
    """Return the trees inside an operation of a parsed pattern."""
    if operation in _REPEATS:
        return [given[2]]
    if operation is code.SUBPATTERN:
        return [given[3]]
    if operation is code.BRANCH:
        return list(given[1])
    if operation in {code.ASSERT, code.ASSERT_NOT}:
        return [given[1]]
    return [given] if operation is code.ATOMIC_GROUP else []


def _example(tree: Any, turn: int) -> str:
    """Return a text that the pattern roughly matches. `turn` chooses among branches and characters."""
    parts = []
    for operation, given in tree:
        inner = _inner(operation, given)
        if operation is code.LITERAL:
            parts.append(chr(given))
        elif operation in {code.ANY, code.NOT_LITERAL, code.IN}:
            letters = _of_set(operation, given)
            parts.append(letters[turn % len(letters)] if letters else "")
        elif operation in _REPEATS:
            parts.append(_example(inner[0], turn) * min(max(given[0], min(1, given[1])), 64))
        elif inner and operation is not code.ASSERT_NOT:
            parts.append(_example(inner[turn % len(inner)], turn))
    return "".join(parts)
