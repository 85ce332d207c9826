"""Ceilings on the size and shape of the package, which rise only by a stated budget.

They are instruments, not aims: a figure that is met by squeezing lines, or by renaming what it
counts, is a defect. `python tests/test_architecture.py` prints the figures, with `--names` what
they count.
"""

import ast
import re
import sys
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "causalfairness"
CEILINGS = {
    "code_lines": 44_650,  # neither blank, nor comment, nor docstring
    "modules": 407,
    "import_chain": 39,  # modules on the longest chain of imports that run at load
    "shared_class_names": 46,  # public classes of one name in several modules
    "prose_searches": 10,  # places that look for words in a text written for people
    "vague_modules": 35,  # names that do not say what is inside
    "function_p95": 29,  # lines that 95 of 100 functions stay within
    "longest_file": 457,
}
VAGUE = re.compile(
    r"asking|asked|told|telling|given|known|making|keeping|reading|written|otherwise|beside|words"
    r"|rows|people|plain|failing|fills|sums|parts|sections|kinds|units|lines|lettering|things|stuff"
    r"|utils|helpers|common|misc|base|core|manager|comparing|running|naming|seeing|choosing|taking"
    r"|showing|said|found|used|shown|judged|exposed|redrawn"
)
SEARCHES = re.compile(r"startswith|endswith|removeprefix|removesuffix|partition|split|replace")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module(NamedTuple):
    """One parsed file, known by its dotted name."""

    name: str
    text: str
    tree: ast.Module

    @property
    def stem(self):
        return self.name.rpartition(".")[2]


def modules_in(package):
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        text = path.read_text("utf-8")
        found.append(Module(".".join(parts).removesuffix(".__init__"), text, ast.parse(text)))
    return found


def code_lines(module):
    """The number of lines that are neither blank, nor comment, nor docstring."""
    documented = set()
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node):
            text = node.body[0]
            documented |= {*range(text.lineno, text.end_lineno + 1)}
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in documented
        for number, line in enumerate(module.text.splitlines(), 1)
    )


def function_lengths(modules):
    return sorted(
        node.end_lineno - node.lineno + 1
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, FUNCTIONS)
    )


def shared_class_names(modules):
    homes = defaultdict(set)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(module.name)
    return sorted(f"{name}: {', '.join(sorted(at))}" for name, at in homes.items() if len(at) > 1)


# --- imports ------------------------------------------------------------------------------------


def imports_at_load(module, names):
    """The modules of the package that run when this one is imported."""
    found, waiting = set(), [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{each.name}" for each in node.names} & names
            found.update(inner or {node.module})
        waiting += ast.iter_child_nodes(node)
    return (found & names) - {module.name}


def longest_chain(modules):
    """The longest way through the imports at load; a module on a cycle is counted once."""
    names = {module.name for module in modules}
    graph = {module.name: sorted(imports_at_load(module, names)) for module in modules}
    best = {}

    def chain_from(name, above):
        if name not in best:
            below = [chain_from(each, above | {name}) for each in graph[name] if each not in above]
            best[name] = [name, *max(below, key=len, default=[])]
        return best[name]

    return max((chain_from(name, frozenset()) for name in sorted(names)), key=len)


# --- prose --------------------------------------------------------------------------------------


def prose_searches(modules):
    """Where a program looks for two words or more, also through constants and loops over them."""
    constants = {module.name: constant_texts(module) for module in modules}
    found = set()
    for module in modules:
        known = constants[module.name] | imported_texts(module, constants)
        known |= looped_texts(module, known)
        for sought in chain.from_iterable(map(sought_in, ast.walk(module.tree))):
            texts = [sought.value] if isinstance(sought, ast.Constant) else []
            texts += known.get(sought.id, []) if isinstance(sought, ast.Name) else []
            prose = [each for each in texts if isinstance(each, str) and is_prose(each)]
            found |= {f"{module.name}:{sought.lineno} {each!r}" for each in prose[:1]}
    return sorted(found)


def is_prose(text):
    return " " in text.strip() and len(re.findall(r"[a-z]{2,}", text)) >= 2


def sought_in(node):
    """The expressions that this one looks for in a text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.args[:1] if SEARCHES.fullmatch(node.func.attr) else []
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return [node.left]
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return [node.left, *node.comparators]
    return []


def constant_texts(module):
    """The texts that each constant of a module holds, keys of dictionaries included."""
    found = {}
    for node in module.tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and value is not None:
            inner = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [value])
            texts = [each.value for each in inner if isinstance(each, ast.Constant)]
            found[target.id] = [text for text in texts if isinstance(text, str)]
    return found


def imported_texts(module, constants):
    return {
        each.asname or each.name: constants[node.module][each.name]
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module in constants
        for each in node.names
        if each.name in constants[node.module]
    }


def looped_texts(module, known):
    """Names that stand for the texts of a constant, one after the other."""
    found = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.For | ast.comprehension):
            over = ast.unparse(node.iter).removesuffix(".items()")
            first = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
            if over in known:
                found[ast.unparse(first)] = known[over]
    return found


# --- figures ------------------------------------------------------------------------------------


def figures(package):
    """Each figure with its number, and what it counts where that has names."""
    modules = modules_in(package)
    lengths = function_lengths(modules)
    longest = max(modules, key=lambda module: module.text.count("\n"))
    lists = {
        "import_chain": longest_chain(modules),
        "shared_class_names": shared_class_names(modules),
        "prose_searches": prose_searches(modules),
        "vague_modules": [module.name for module in modules if VAGUE.fullmatch(module.stem)],
        "longest_file": [longest.name],
    }
    numbers = {name: len(listed) for name, listed in lists.items()} | {
        "code_lines": sum(map(code_lines, modules)),
        "modules": len(modules),
        "function_p95": lengths[int(0.95 * len(lengths))],
        "longest_file": longest.text.count("\n"),
    }
    return numbers, lists


def test_figures_stay_below_their_ceilings_and_ceilings_near_their_figures():
    """Room that nobody was given would be taken: a ceiling of a size is lowered with its figure."""
    numbers, lists = figures(PACKAGE)
    for name, ceiling in CEILINGS.items():
        listed = "\n".join(lists.get(name, []))
        assert numbers[name] <= ceiling, f"{name} is {numbers[name]:,}\n{listed}"
    for name in ("code_lines", "modules"):
        assert CEILINGS[name] <= 1.005 * numbers[name], f"{name} is {numbers[name]:,}: lower it"


PLANTED = {
    "__init__.py": '"""A docstring\n\nof three lines."""\n',
    "told.py": "# a comment\nfrom planted import words\n\nclass Answer:\n    pass\n",
    "words.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import planted.told\n"
        'SAID = ("no direct effect", "x")\n'
        "class Answer:\n    pass\n"
        "class _Answer:\n    pass\n"
        "def look(text):\n"
        "    for each in SAID:\n"
        "        if each in text:\n"
        "            import planted.told\n"
        '    return text == "one" or text.startswith("so it is")\n'
    ),
}


def test_figures_count_what_they_say(tmp_path):
    folder = tmp_path / "planted"
    folder.mkdir()
    for name, text in PLANTED.items():
        (folder / name).write_text(text, "utf-8")
    numbers, lists = figures(folder)
    assert numbers == {
        "code_lines": 3 + 13,
        "modules": 3,
        "import_chain": 2,
        "shared_class_names": 1,
        "prose_searches": 2,
        "vague_modules": 2,
        "function_p95": 5,
        "longest_file": 13,
    }
    assert lists["shared_class_names"] == ["Answer: planted.told, planted.words"]
    assert lists["import_chain"] == ["planted.told", "planted.words"]
    assert [each.partition(" ")[2] for each in lists["prose_searches"]] == [
        "'no direct effect'",
        "'so it is'",
    ]


if __name__ == "__main__":
    totals, counted = figures(PACKAGE)
    for figure, number in totals.items():
        print(f"{figure:20} {number:>8,}")
        if "--names" in sys.argv:
            print(*(f"    {each}" for each in counted.get(figure, [])), sep="\n")
