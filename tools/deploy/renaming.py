"""Rename the package's identifiers to names that a board's firmware already has.

MicroPython keeps each name of an argument, a global or an attribute for ever, in some 20 bytes of
the heap; a name that the firmware itself has takes none. So code for a board is renamed as a
whole. Names of attributes, and names that modules import from each other, become the same in all
modules; names of a module's own globals, and of arguments that no call names, are chosen for each
module by itself. A global that is a constant integer is replaced by its value.

These keep their names: what people use (public_names.txt), words in strings, modules, and what
MicroPython itself calls by name. The names depend on the package alone, not on the board or the
model; a new name that some firmware lacks costs no more than the old one did.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from operator import attrgetter
from pathlib import Path

from mpconnxr.build.load import LOADING
from tools.mpy import firmware

from .core import Use, modules
from .errors import DeployError
from .folding import assigned, integers
from .scopes import Place, Scope, is_for_cpython, scopes

_PACKAGE = "mpconnxr"
_PUBLIC = Path(__file__).with_name("public_names.txt")
_WORD = re.compile(r"[^\W\d]\w*")
# If a module compiles source on the board, all words in its strings may be names.
# (mpconnxr.forms compiles none if its own code was compiled.)
_COMPILES = re.compile(r"\bglobals\(\)|\bfrom \._(?:inline|float_math) import|\bexec\(source")
_LET_GO = "LET_GO"  # see mpconnxr.build.load: a tuple of a module's own names
# Names of builtin functions and types, in Python and in viper.
_BUILT_IN = {*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "const", "micropython"}
_BUILT_IN |= {"ptr", "ptr8", "ptr16", "ptr32", "uint"}
_SAYING = ("fail", "require")  # functions that take the text of an error
# Attributes that MicroPython, or a user's program, looks up in any object.
_LOOKED_UP = {"args", "close", "errno", "path", "send", "throw", "value"}
_ALWAYS = 1000  # weight of a name in a module that every model holds in memory
_CORE = Use.LOADED | Use.PROGRAM | Use.LOOPS
_LOADING = frozenset(LOADING.split())


class Source:
    """One module's source: its tree, its scopes, and the names that connect it to others.

    Args:
        text: the source.
        module: name of the module.
        is_package: True for an __init__.
    """

    def __init__(self, text: str, module: str, is_package: bool = False):
        self.text, self.module = text, module
        self.tree = ast.parse(text)
        self.nodes = [*ast.walk(self.tree)]
        self.scope = scopes(text, self.tree)
        self.scopes = [*self.scope.walk()]
        parts = module.split(".")
        self._parts = parts if is_package else parts[:-1]

    def origin(self, node: ast.ImportFrom) -> str | None:
        """Return the module of the package that a statement imports from; None for others."""
        if node.level:
            base = self._parts[: len(self._parts) - (node.level - 1)]
            return ".".join([*base, *filter(None, [node.module])])
        return node.module if (node.module or "").partition(".")[0] == _PACKAGE else None

    def nearest(self, node: ast.ImportFrom) -> str:
        """Return the relative name of a statement's module.

        A board would store the words of a dotted name.
        """
        origin = self.origin(node)
        if origin is None:
            return node.module or ""
        target, own = origin.split("."), self._parts
        same = 0
        while same < min(len(target), len(own)) and target[same] == own[same]:
            same += 1
        return "." * (len(own) - same + 1) + ".".join(target[same:])

    @cached_property
    def imports(self) -> list[tuple[Scope, ast.alias, str]]:
        """(scope, alias, module) of each name that it imports from modules of the package."""
        result = []
        for scope in self.scopes:
            for alias, node in scope.imports:
                if isinstance(node, ast.ImportFrom) and self.origin(node) is not None:
                    result.append((scope, alias, self.origin(node)))
        return result

    @cached_property
    def attributes(self) -> list[ast.Attribute]:
        """Its attribute accesses, without decorators for the compiler and machine code."""
        result: list[ast.Attribute] = []
        queue: list[ast.AST] = [self.tree]
        while queue:
            node = queue.pop()
            marks = [d for d in getattr(node, "decorator_list", ()) if _is_mark(d)]
            if any(ast.unparse(mark).startswith("micropython.asm_") for mark in marks):
                continue
            if isinstance(node, ast.Attribute):
                result.append(node)
            queue += [n for n in ast.iter_child_nodes(node) if n not in marks]
        return result

    @cached_property
    def keywords(self) -> set[str]:
        """Names of keyword arguments in its calls."""
        nodes = (n for n in self.nodes if isinstance(n, ast.keyword))
        return {node.arg for node in nodes if node.arg}

    @cached_property
    def strings(self) -> set[str]:
        """Names in strings: one-word strings, and all words of strings that are globals."""
        documents = {n.value for n in self.nodes if isinstance(n, ast.Expr)}
        texts = documents | {part for node in self.nodes for part in _texts(node)}
        lists = {value for statement in self.tree.body for _, value in assigned(statement)}
        compiles = bool(_COMPILES.search(self.text))
        words: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_one = len(node.value.split()) == 1 and node not in texts
                is_code = compiles and node not in documents
                if is_one or is_code or node in lists:
                    words |= {*_WORD.findall(node.value)}
        return words

    @cached_property
    def foreign(self) -> set[str]:
        """Names of modules outside of the package, and of their members."""
        names, modules = set(), set()
        for scope in self.scopes:
            for alias, node in scope.imports:
                if isinstance(node, ast.Import):
                    names |= {*alias.name.split(".")}
                    modules.add(alias.asname or alias.name.partition(".")[0])
                elif self.origin(node) is None:
                    names |= {alias.name, *(node.module or "").split(".")}
                    modules.add(alias.asname or alias.name)
        for node in self.attributes:
            if isinstance(node.value, ast.Name) and node.value.id in modules:
                names.add(node.attr)
        return names

    @cached_property
    def defined(self) -> set[str]:
        """Names of its globals, of attributes that it sets, and of arguments."""
        names = {name for scope in self.scopes for name in scope.arguments}
        for scope in self.scopes:
            if scope is self.scope or scope.is_class:
                names |= {name for name, _, is_store in scope.uses if is_store}
        stores = (n for n in self.attributes if not isinstance(n.ctx, ast.Load))
        return names | self.scope.bound | {node.attr for node in stores}

    @cached_property
    def shared(self) -> set[str]:
        """Names that other modules may use as well."""
        return {alias.name for _, alias, _ in self.imports} | self.attributed

    @cached_property
    def attributed(self) -> set[str]:
        """Names of attributes and of keyword arguments."""
        names = self.keywords | {node.attr for node in self.attributes}
        return names | {name for scope in self.scopes if scope.is_class for name in scope.bound}

    @cached_property
    def globals(self) -> set[str]:
        """Names of globals (its own, imported, built in), and of arguments that calls name."""
        result = {*self.scope.bound} | {alias.name for _, alias, _ in self.imports}
        for scope in self.scopes:
            result |= {*scope.arguments} & (self.keywords | public_names())
            names = {name for name, _, _ in scope.uses}
            result |= {n for n in names if scope.owner(n) in (None, self.scope)}
        return result

    @cached_property
    def stored(self) -> set[str]:
        """Names in it that a board may store; names local to one function are not stored."""
        return self.globals | self.attributed

    @cached_property
    def constant_names(self) -> set[str]:
        """Globals that the compiler replaces by their values: `_NAME = const(...)`."""
        pairs = [pair for statement in self.tree.body for pair in assigned(statement)]
        return {name for name, value in pairs if ast.unparse(value).startswith("const(")}

    def imported_integers(self, constants: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
        """Return the globals that are integers imported from other modules.

        Args:
            constants: integers by module and name.
        """
        values = {}
        for scope, alias, origin in self.imports:
            if scope is self.scope and alias.name in constants.get(origin, {}):
                values[alias.asname or alias.name] = constants[origin][alias.name]
        return values

    def modules(self) -> dict[str, str]:
        """Return the globals that are modules of the package: {global: module}."""
        result = {}
        for scope, alias, origin in self.imports:
            if scope is self.scope:
                result[alias.asname or alias.name] = f"{origin}.{alias.name}"
        return result


@dataclass(frozen=True)
class Renamed:
    """A renamed module.

    Attributes:
        text: the source.
        functions: original names of its functions, by new name.
    """

    text: str
    functions: dict[str, set[str]]


@dataclass(frozen=True)
class Renaming:
    """New names for a package.

    Attributes:
        attributes: {old: new} of attributes, equal in all modules.
        globals: {old: new} of shared globals, equal in all modules.
        keywords: names of keyword arguments in calls.
        shared: names that more than one module may use.
        kept: names that stay.
        constants: integers by module and name.
        unfolded: constants whose names are needed nevertheless.
    """

    attributes: dict[str, str]
    globals: dict[str, str]
    keywords: frozenset[str]
    shared: frozenset[str]
    kept: frozenset[str]
    constants: dict[str, dict[str, int]]
    unfolded: frozenset[str]

    @staticmethod
    def of(sources: Collection[Source], machine_code: Collection[str] = ()) -> Renaming:
        """Choose names for the modules of a package.

        Args:
            sources: all its modules.
            machine_code: names of functions in modules of machine code.
        """
        keywords, shared = (_all(map(attrgetter(a), sources)) for a in ("keywords", "shared"))
        constants = _constants(sources)
        kept = {*public_names(), *firmware_names(), *_BUILT_IN, _LET_GO}
        kept |= {name for name in shared if name.startswith("__")}
        for source in sources:
            kept |= source.strings | source.foreign | {*source.module.split(".")}
            # other constants, which the compiler knows by name
            kept |= source.constant_names - constants[source.module].keys()
        parts = [*map(frozenset, (keywords, shared, kept))]
        unnamed = Renaming({}, {}, *parts, constants, frozenset(kept))
        unfolded = kept | _all(_Module(unnamed, source).unfolded() for source in sources)
        ours = {*machine_code} | _all(s.defined for s in sources)
        weights: Counter[str] = Counter()
        for source in sources:
            weight = _ALWAYS if _is_always_there(source.module) else 1
            folded = constants[source.module].keys() - unfolded
            for name in source.stored & ours & shared - kept - folded:
                weights[name] += weight
        ordered = sorted(weights, key=lambda name: (-weights[name], name))
        as_global = _all(s.globals for s in sources) | {*machine_code}
        as_attribute = _all(s.attributed for s in sources)
        taken = _all(s.strings | s.foreign for s in sources) | _LOOKED_UP | _BUILT_IN
        spaces = (as_attribute, taken | as_attribute & kept), (as_global, taken | as_global & kept)
        attributes, globals_ = _chosen(ordered, spaces)
        return Renaming(attributes, globals_, *parts, constants, frozenset(unfolded))

    def renamed(self, text: str, module: str, is_package: bool = False) -> Renamed:
        """Return a module's source with the new names, line by line.

        A module that belongs neither to the package nor to a program keeps its own names.

        Raises:
            DeployError: if the module imports a name that another module keeps to itself.
        """
        made = _Module(self, Source(text, module, is_package))
        return Renamed(made.text(), made.functions())

    def has(self, module: str) -> bool:
        """Return True if a module belongs to the package, or to a program."""
        return module in self.constants or module.startswith(f"{_PACKAGE}.programs.")


class _Module:
    """Rename one module: choose its new names, and edit its text."""

    def __init__(self, renaming: Renaming, source: Source):
        self._all, self._source = renaming, source
        self._is_ours = renaming.has(source.module)
        self._modules = source.modules()
        self._of_modules = {
            place
            for scope in source.scopes
            for name, place, _ in scope.uses
            if name in self._modules and scope.owner(name) is source.scope
        }
        imported = source.imported_integers(renaming.constants)
        self._folded = imported | integers(source.tree, source.scope, imported)
        self._new: dict[Scope, dict[str, str]] = {scope: {} for scope in source.scopes}
        self._edits: dict[int, list[tuple[int, int, str]]] = {}
        self._statements: list[tuple[ast.stmt, str]] = []

    def unfolded(self) -> set[str]:
        """Return the constant integers, its own and imported ones, whose names it needs."""
        source = self._source
        names = {node.attr for node in source.attributes if self._value(node) is None}
        names |= self._needed & self._folded.keys()
        for scope, alias, _ in source.imports:
            if scope is not source.scope or (alias.asname or alias.name) in self._needed:
                names.add(alias.name)
        return names

    def text(self) -> str:
        """Return the module's source with the new names, line by line."""
        self._choose()
        names = self._all.attributes
        for scope, name, place in self._uses(False):
            owner = scope.owner(name)
            if owner is not None:
                self._edit(place, name, self._new[owner].get(name, name))
        for _, name, place in self._uses(True):
            self._edit(place, name, _literal(self._folded[name]))
        for node in self._source.attributes:
            value, end = self._value(node), node.end_col_offset
            if value is not None:
                self._statements.append((node, _literal(value)))
            elif node.attr in names:
                start = end - len(node.attr.encode())
                self._edit((node.end_lineno, start, end), node.attr, names[node.attr])
        for node in self._source.nodes:
            if isinstance(node, ast.keyword) and node.arg in names:
                end = node.col_offset + len(node.arg.encode())
                self._edit((node.lineno, node.col_offset, end), node.arg, names[node.arg])
        self._write_imports()
        self._write_constants()
        self._omit_cpython()
        self._write_let_go()
        return self._edited()

    def functions(self) -> dict[str, set[str]]:
        """Return the original names of its functions, by new name."""
        result: dict[str, set[str]] = {}
        for scope in self._source.scopes:
            for function in scope.functions:
                new = self._new[scope].get(function, function)
                result.setdefault(new, set()).add(function)
        return result

    def _uses(self, is_folded: bool) -> Iterator[tuple[Scope, str, Place]]:
        """Yield (scope, name, place) of uses: those replaced by integers, or all others."""
        source = self._source
        for scope in source.scopes:
            for name, place, is_store in scope.uses:
                is_ours = name in self._folded and scope.owner(name) is source.scope
                if is_ours and is_store and name not in self._all.unfolded:
                    continue  # see _write_constants
                can_be = not scope.is_in_viper or name in source.constant_names
                if (is_ours and not is_store and can_be) == is_folded:
                    yield scope, name, place

    def _value(self, node: ast.Attribute) -> int | None:
        """Return the value of `module.NAME` if that is a constant of the package, else None."""
        if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load):
            return None
        module = node.value
        place = Place(module.lineno, module.col_offset, module.end_col_offset)
        if node.lineno != node.end_lineno or place not in self._of_modules:
            return None
        return self._all.constants.get(self._modules[node.value.id], {}).get(node.attr)

    def _choose(self) -> None:
        """Choose the new names in all scopes."""
        source, every = self._source, self._all
        for scope in source.scopes:
            if scope is source.scope or scope.is_class:
                names = every.attributes if scope.is_class else every.globals
                self._new[scope] = {name: names.get(name, name) for name in scope.bound}
        if self._is_ours:
            self._choose_globals()
        for scope in source.scopes:
            if scope is not source.scope and not scope.is_class:
                self._choose_locals(scope)

    def _choose_globals(self) -> None:
        """Give the module's own globals any free names of the firmware, frequent ones first."""
        source, every, new = self._source, self._all, self._new[self._source.scope]
        private = source.scope.bound - every.kept - every.shared
        private -= self._folded.keys() - every.unfolded - self._needed
        private = {name for name in private if not name.startswith("__")}
        taken = {n for scope in source.scopes for n, _, _ in scope.uses if not scope.owner(n)}
        taken |= {new[name] for name in source.scope.bound - private} | _BUILT_IN
        arguments = {name for scope in source.scopes for name in scope.arguments}
        taken |= {every.attributes.get(name, name) for name in arguments}
        often = Counter(n for scope in source.scopes for n, _, _ in scope.uses if n in private)
        free = (name for name in firmware_names() if name not in taken)
        order = sorted(private, key=lambda name: (-often[name], name))
        new.update(zip(order, free, strict=False))

    def _choose_locals(self, scope: Scope) -> None:
        """Give arguments and inner functions names of the firmware.

        A local name that clashes with a new name gets one that a board does not store.
        """
        every, new = self._all, self._new[scope]
        inner = [*scope.walk()]
        outer = set()
        for each in inner:
            for name in {name for name, _, _ in each.uses}:
                owner = each.owner(name)
                if owner not in inner:
                    outer.add(self._new[owner].get(name, name) if owner else name)
        stored = [*scope.arguments, *scope.functions] if self._is_ours else []
        stored = [] if scope.is_viper else [*dict.fromkeys(stored)]
        for name in [n for n in scope.arguments if n in every.keywords | public_names()]:
            new[name] = every.attributes.get(name, name) if name in every.keywords else name
        stays = scope.bound - {*stored} - new.keys()
        taken = outer | {*new.values()} | stays | _BUILT_IN
        taken |= _all(each.bound for each in inner if each is not scope)
        free = (name for name in firmware_names() if name not in taken)
        new.update({name: next(free, name) for name in stored if name not in new})
        for name in stays & (outer | {*new.values()}):
            made = f"{name}_"
            while made in taken:
                made += "_"
            new[name] = made
            taken.add(made)

    def _edit(self, place: tuple[int, int, int], old: str, new: str) -> None:
        line, start, end = place
        if old != new:
            self._edits.setdefault(line, []).append((start, end, new))

    def _write_imports(self) -> None:
        source = self._source
        for scope in source.scopes:
            for node in dict.fromkeys(node for _, node in scope.imports):
                origin = source.origin(node) if isinstance(node, ast.ImportFrom) else None
                parts = [self._imported(scope, alias, origin) for alias in node.names]
                text = ", ".join(filter(None, parts))
                if isinstance(node, ast.ImportFrom):
                    text = text and f"from {source.nearest(node)} import {text}"
                else:
                    text = f"import {text}"
                if text != ast.unparse(node):
                    self._statements.append((node, text or "pass"))

    def _imported(self, scope: Scope, alias: ast.alias, origin: str | None) -> str:
        """Return the text of one imported name in an import statement; "" if it is not needed.

        Args:
            scope: scope of the statement.
            alias: the imported name.
            origin: module that the name is imported from; None in `import name`.

        Raises:
            DeployError: if the name is one that its module keeps for itself.
        """
        source, every = self._source, self._all
        local = alias.asname or alias.name
        new = self._new[scope].get(local, local)
        name = alias.name
        if origin is not None:
            is_constant = name in every.constants.get(origin, {})
            if is_constant and scope is source.scope and local not in self._needed:
                return ""  # only its value is used
            is_known = f"{origin}.{name}" in every.constants or name in every.shared | every.kept
            if not self._is_ours and origin in every.constants and not (is_constant or is_known):
                raise DeployError(f"{source.module} imports {name}, which is {origin}'s own")
            name = every.globals.get(name, name)
        return name if name == new else f"{name} as {new}"

    @cached_property
    def _needed(self) -> set[str]:
        """Globals that the module uses by name."""
        scope = self._source.scope
        stores = {
            place for each in self._source.scopes for _, place, is_store in each.uses if is_store
        }
        uses = [use for use in self._uses(False) if use[2] not in stores]
        return {name for each, name, _ in uses if each.owner(name) is scope}

    def _write_constants(self) -> None:
        """Remove assignments of integers that no module needs by name."""
        for statement in self._source.tree.body:
            targets = [name for name, _ in assigned(statement)]
            gone = [n for n in targets if n in self._folded and n not in self._all.unfolded]
            if targets and gone == targets and self._is_ours:
                self._statements.append((statement, "pass"))

    def _omit_cpython(self) -> None:
        """Remove statements for CPython alone."""
        for node in self._source.tree.body:
            if is_for_cpython(node):
                self._statements.append((node, "pass"))

    def _write_let_go(self) -> None:
        new = self._new[self._source.scope]
        for statement in self._source.tree.body:
            for name, value in assigned(statement):
                if name == _LET_GO:
                    own = [new.get(each, each) for each in ast.literal_eval(value)]
                    self._statements.append((statement, f"{_LET_GO} = {tuple(own)!r}"))

    def _edited(self) -> str:
        """Return the text with all edits, each line at its original number."""
        lines = self._source.text.encode().split(b"\n")
        for node, text in self._statements:
            first, last = node.lineno, node.end_lineno
            for line in range(first, last + 1):
                start = node.col_offset if line == first else 0
                end = node.end_col_offset if line == last else len(lines[line - 1])
                kept = [e for e in self._edits.get(line, ()) if e[1] <= start or e[0] >= end]
                self._edits[line] = [*kept, (start, end, text if line == first else "")]
        for line, edits in self._edits.items():
            data = lines[line - 1]
            for start, end, new in sorted({*edits}, reverse=True):
                data = data[:start] + new.encode() + data[end:]
            lines[line - 1] = data
        return b"\n".join(lines).decode()


def _chosen(
    ordered: Iterable[str], spaces: Iterable[tuple[Collection[str], Collection[str]]]
) -> list[dict[str, str]]:
    """Choose names of the firmware to replace names in several namespaces.

    Args:
        ordered: the names to replace, the most frequent first.
        spaces: (names, taken) of each namespace; the namespaces are independent. A name that is in
            several gets one new name.
    """
    every = []
    for names, taken in spaces:
        every.append((names, dict.fromkeys(n for n in firmware_names() if n not in taken), {}))
    for old in ordered:
        mine = [space for space in every if old in space[0]]
        new = next((n for n in mine[0][1] if all(n in free for _, free, _ in mine)), None)
        for _, free, chosen in mine if new else ():
            del free[new]
            chosen[old] = new
    return [chosen for _, _, chosen in every]


def _constants(sources: Collection[Source]) -> dict[str, dict[str, int]]:
    """Return the constant integers of each module, including imported ones."""
    result: dict[str, dict[str, int]] = {source.module: {} for source in sources}
    before = None
    while before != (before := sum(map(len, result.values()))):
        for source in sources:
            imported = source.imported_integers(result)
            result[source.module] = imported | integers(source.tree, source.scope, imported)
        if before == sum(map(len, result.values())):
            break
    return result


def _all(sets: Iterable[Iterable[str]]) -> set[str]:
    """Return the union of sets."""
    return set().union(*sets)


def _literal(value: int) -> str:
    return str(value) if value >= 0 else f"({value})"


def _is_always_there(module: str) -> bool:
    """Return True if a module is in memory for every model, at least while it is loaded."""
    name = module.removeprefix(_PACKAGE).removeprefix(".") or "__init__"
    return bool(modules().get(name, _CORE & ~_CORE) & _CORE) or name in _LOADING


def _is_mark(decorator: ast.expr) -> bool:
    """Return True if a decorator is one for MicroPython's compiler."""
    return ast.unparse(decorator).startswith("micropython.")


def _texts(node: ast.AST) -> list[ast.expr]:
    """Return the arguments of a call that raises an error, which hold its message."""
    if not isinstance(node, ast.Call):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    return node.args if name in _SAYING or name.endswith("Error") else []


@cache
def firmware_names() -> tuple[str, ...]:
    """Return the names to choose from, those that all firmware has first."""
    return tuple(name for name in firmware.names() if name[0] != "_")


@cache
def public_names() -> frozenset[str]:
    """Return the names that users' programs, and programs on boards, rely on."""
    lines = _PUBLIC.read_text().splitlines()
    return frozenset(w for line in lines if not line.startswith("#") for w in line.split())
