"""The drawing in `vimlib/__init__.py` and the code say the same.

The drawing gives the modules and their order, the table below it what each may import. Both are read
here and held against the imports that the code really has, wherever they stand: at the top, in a
function, for type hints, or as a name given to `import_module`.
"""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "vimlib"


# --- reading the docstring


@dataclass(frozen=True)
class House:
    """What the docstring promises."""

    drawn: tuple[str, ...]
    """Modules in the order of the drawing."""
    rows: tuple[str, ...]
    """Modules in the order of the table."""
    allowed: dict[str, dict[str, str | None]]
    """Module -> what it may import -> in which of its parts alone, or None for all of it."""


def literal_blocks(docstring: str) -> list[list[str]]:
    """The indented blocks that follow a paragraph ending in `::`."""
    blocks: list[list[str]] = []
    lines = inspect.cleandoc(docstring).splitlines()
    inside = False
    for before, line in zip(["", "", *lines], ["", *lines], strict=False):
        if inside and line and not line.startswith(" "):
            inside = False
        if not inside and not line and before.endswith("::"):
            inside = True
            blocks.append([])
        elif inside and line:
            blocks[-1].append(line)
    return blocks


def read_house(docstring: str) -> House:
    """The drawing and the table of a package's docstring; a row without a module goes on with the last."""
    drawing, table = literal_blocks(docstring)
    drawn = tuple(re.findall(r"[a-z][a-z_]*", "\n".join(drawing)))

    rule = next(number for number, line in enumerate(table) if set(line.split()[0]) == {"-"})
    starts = [column.start() for column in re.finditer("-+", table[rule])]
    rows: list[str] = []
    allowed: dict[str, dict[str, str | None]] = {}
    for line in table[rule + 1 :]:
        if module := line[starts[0] : starts[1]].strip():
            above = dict.fromkeys(rows)
            rows.append(module)
            allowed[module] = {}
        for item in filter(None, line[starts[2] :].strip().split(",")):
            name, _, part = item.strip().partition(" in ")
            if name == "all above":
                allowed[rows[-1]] |= above
            elif name != "nothing":
                allowed[rows[-1]][name] = part or None
    return House(drawn, tuple(rows), allowed)


# --- reading the code


def imports_of(
    tree: ast.AST, package: tuple[str, ...], *, when_imported: bool = False
) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that a module imports; `package` is the package it lies in.

    With `when_imported`, only what runs when the module is imported: no functions, no type hints.
    """
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                base = package[: len(package) - node.level + 1] if node.level else ()
                stem = [*base, *([node.module] if node.module else [])]
                yield from ((node.lineno, ".".join([*stem, alias.name])) for alias in node.names)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[ast.Constant(value=str(name)), *_],
            ):
                if called in ("import_module", "__import__"):
                    yield node.lineno, name
                yield from imports_of(node, package, when_imported=when_imported)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if when_imported:
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")) if (
                when_imported
            ):
                pass
            case _:
                yield from imports_of(node, package, when_imported=when_imported)


@dataclass(frozen=True)
class Import:
    """One import in the code."""

    where: str
    """File and line."""
    module: str
    """The importing module of the house, `__init__` for the package's own face."""
    parts: frozenset[str]
    """Names of the file and folders inside the module."""
    name: str
    """What it imports: a module of the house as `vimlib.keys`, or a library's top name."""


def code_imports(package: Path) -> Iterator[Import]:
    """Every import of every file of the package that is not of the standard library or its own module."""
    top = package.name
    for file in sorted(package.rglob("*.py")):
        inner = file.relative_to(package).with_suffix("").parts
        module = inner[0]
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        folder = (top, *inner[:-1])
        for line, dotted in imports_of(tree, folder, when_imported=inner == ("__init__",)):
            first, *rest = dotted.split(".")
            if first == top:
                if not rest or rest[0] == module or re.fullmatch("__.*__", rest[0]):
                    continue
                name = f"{top}.{rest[0]}"
            elif first in sys.stdlib_module_names:
                continue
            else:
                name = first
            where = f"{file.relative_to(package.parent)}:{line}"
            yield Import(where, module, frozenset(inner[1:]), name)


def modules_of(package: Path) -> set[str]:
    """Names of the modules and packages of a package. Folders without code are data, not modules."""
    files = {file.stem for file in package.glob("*.py")}
    folders = {folder.name for folder in package.iterdir() if any(folder.glob("*.py"))}
    return {name for name in files | folders if not name.startswith("__")}


def complaints(package: Path) -> list[str]:
    """Where drawing, table and code differ; empty if they agree."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    assert docstring, f"{package.name}/__init__.py has no docstring"
    house = read_house(docstring)
    found = modules_of(package)
    said = [
        *(f"{name}: not in the drawing" for name in sorted(found - set(house.drawn))),
        *(f"{name}: drawn, but there is no such module" for name in sorted(set(house.drawn) - found)),
    ]
    if house.rows != house.drawn:
        said.append(f"the table's order {house.rows} is not the drawing's {house.drawn}")
    order = {name: place for place, name in enumerate(house.drawn)}
    for module, may in house.allowed.items():
        against = [name for name in may if name in order and order[name] >= order.get(module, -1)]
        said += [f"{module}: the table lets it import {name}, against the drawing" for name in against]

    for one in code_imports(package):
        name = one.name.removeprefix(f"{package.name}.")
        if one.module == "__main__" and name == "cli":
            continue
        may = house.allowed.get(one.module, {})
        if one.name == name and name in order:
            said.append(f"{one.where}: the library {name} has the name of a module")
        elif name not in may:
            said.append(f"{one.where}: {one.module} may not import {name}")
        elif (part := may[name]) and part not in one.parts:
            said.append(f"{one.where}: {one.module} may import {name} in {part} alone")
    return list(dict.fromkeys(said))


# --- the house as it stands


def test_drawing_table_and_code_agree() -> None:
    assert complaints(PACKAGE) == []


def test_every_imported_library_is_a_declared_dependency() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [kind for kind in project["optional-dependencies"] if kind != "dev"]
    lines = [
        *project["dependencies"],
        *(one for kind in extras for one in project["optional-dependencies"][kind]),
    ]
    declared = {re.split(r"[\s<>=!~;\[]", line)[0].lower() for line in lines}
    sources = importlib.metadata.packages_distributions()
    for one in code_imports(PACKAGE):
        if not one.name.startswith("vimlib."):
            # What an extra would bring need not be installed; such packages are named as they are imported.
            given_by = {name.lower().replace("_", "-") for name in sources.get(one.name, [one.name])}
            assert given_by & declared, f"{one.where}: no dependency of pyproject.toml gives {one.name}"


def test_importing_vimlib_imports_nothing_else_of_ours_or_theirs() -> None:
    code = (
        "import sys; before = set(sys.modules); import vimlib;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["vimlib"]


def test_version_is_said_once() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    face = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (version,) = (
        ast.literal_eval(node.value)
        for node in face.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"
    )
    assert importlib.metadata.version("vimlib") == version


# --- a small house that can be broken, to see that each break is noticed

SMALL_HOUSE = '''"""A house.

It goes down::

    words ─> sums
              │
             shop ─> TILL

By these rules::

    module  owns     may import
    ------  -------  ----------
    words   the say  nothing
    sums    numbers  words, numpy in arrays
    shop    sales    all above,
                     duckdb
"""
'''


@pytest.fixture
def small_house(tmp_path: Path) -> Path:
    """A package of three modules, one of them a package, that keeps its own rules."""
    package = tmp_path / "house"
    files = {
        "__init__.py": SMALL_HOUSE,
        "words.py": "from __future__ import annotations\nimport re\n",
        "sums/__init__.py": "from house.words import say\nfrom .arrays import add\n",
        "sums/arrays.py": "import numpy.linalg as la\nfrom .. import words\nfrom house.sums import deep\n",
        "sums/deep/__init__.py": "from ...words import say\nfrom ..arrays import add\n",
        "sums/notes/readme.txt": "data, not a module\n",
        "shop.py": "import duckdb\nfrom house import __version__, sums, words\n",
        "__main__.py": "import house\n",
    }
    for name, text in files.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return package


def test_a_house_that_keeps_its_rules_passes(small_house: Path) -> None:
    assert complaints(small_house) == []


@pytest.mark.parametrize(
    ("file", "line", "code", "complaint"),
    [
        ("words.py", 1, "from house import shop", "words may not import shop"),
        ("words.py", 1, "import house.sums", "words may not import sums"),
        ("words.py", 2, "def say():\n    from .sums import add", "words may not import sums"),
        ("words.py", 2, "if TYPE_CHECKING:\n    import pandas", "words may not import pandas"),
        ("words.py", 1, "import_module('house.shop')", "words may not import shop"),
        ("shop.py", 1, "importlib.import_module('pandas.io')", "shop may not import pandas"),
        ("sums/deep/__init__.py", 1, "import duckdb", "sums may not import duckdb"),
        ("sums/deep/__init__.py", 1, "from ... import shop", "sums may not import shop"),
        ("sums/__init__.py", 1, "import numpy", "sums may import numpy in arrays alone"),
        ("__main__.py", 1, "from house import shop", "__main__ may not import shop"),
        ("__init__.py", 18, SMALL_HOUSE + "import numpy", "__init__ may not import numpy"),
        ("__init__.py", 18, SMALL_HOUSE + "from .words import say", "__init__ may not import words"),
    ],
)
def test_a_break_in_the_code_is_noticed(
    small_house: Path, file: str, line: int, code: str, complaint: str
) -> None:
    (small_house / file).write_text(code, encoding="utf-8")
    assert complaints(small_house) == [f"house/{file}:{line}: {complaint}"]


@pytest.mark.parametrize("file", ["attic.py", "attic/box.py"])
def test_a_module_that_is_not_drawn_is_noticed(small_house: Path, file: str) -> None:
    (small_house / file).parent.mkdir(exist_ok=True)
    (small_house / file).touch()
    assert complaints(small_house) == ["attic: not in the drawing"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("─> TILL", "─> till", "till: drawn, but there is no such module"),
        ("words ─> sums", "words", "sums: not in the drawing"),
        ("words ─> sums", "sums ─> words", "is not the drawing's"),
        ("the say  nothing", "the say  shop", "words: the table lets it import shop, against the drawing"),
        ("words, numpy in arrays", "numpy", "house/sums/__init__.py:1: sums may not import words"),
        ("duckdb", "numpy", "house/shop.py:1: shop may not import duckdb"),
    ],
)
def test_a_break_in_the_docstring_is_noticed(small_house: Path, old: str, new: str, complaint: str) -> None:
    assert old in SMALL_HOUSE
    (small_house / "__init__.py").write_text(SMALL_HOUSE.replace(old, new), encoding="utf-8")
    assert any(complaint in said for said in complaints(small_house))


def test_the_face_may_import_late_and_for_type_hints(small_house: Path) -> None:
    late = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from house.shop import sell\n"
        "def __getattr__(name):\n    from house import shop\n    return getattr(shop, name)\n"
    )
    (small_house / "__init__.py").write_text(SMALL_HOUSE + late, encoding="utf-8")
    assert complaints(small_house) == []
