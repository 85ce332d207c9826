"""Do the parts of the project keep the promises that hold for all of them?

Layers import only what lies above them, `import causalfairness` stays light, every public name
explains itself by a sentence and an example, and the built wheel runs on its own.
"""

import ast
import inspect
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from tools import release

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "causalfairness"
HEAVY = ("pandas", "polars", "matplotlib", "sklearn", "duckdb", "torch", "numba", "scipy.stats")

# The layers from top to bottom, and what each may use beyond numpy and scipy.
LAYERS = {
    "errors": set(),
    "settings": {"pydantic"},
    "progress": {"rich"},
    "writing": set(),
    "graph": {"networkx"},
    "fairness_model": set(),
    "tables": {"narwhals", "pyarrow", "duckdb"},
    "inference": {"joblib", "threadpoolctl"},
    "effects": set(),
    "scm": {"sklearn", "joblib"},
    "estimators": {"sklearn"},
    "adaptation": {"sklearn"},
    "individuals": {"numba"},
    "parity": {"pydantic"},
    "sensitivity": set(),
    "invariance": {"sklearn"},
    "neural": {"torch"},
    "imaging": {"torch", "monai", "einops", "PIL", "pydicom"},
    "datasets": {"pyarrow"},
    "decomposition": set(),
    "audit": {"pydantic", "joblib"},
    "plots": {"matplotlib"},
    "report": {"jinja2", "markupsafe"},
    "cli": {"typer", "rich"},
}
ORDER = list(LAYERS)
EVERYWHERE = {"numpy", "scipy", *sys.stdlib_module_names}
CONVERSIONS = {"effects/table.py": {"pandas", "polars"}}  # inside functions only
BY_NAME = {  # may call import_module
    "__init__.py",
    "datasets/__init__.py",
    "datasets/bundled.py",
    "imaging/__init__.py",
}
DISTRIBUTION = {"sklearn": "scikit-learn", "PIL": "pillow"}

SMALL_DEMO = """
import json, pathlib
import causalfairness as cf
asked = cf.Audit.from_file("compas").to_dict()
asked["questions"], asked["sensitivity"]["benchmarks"] = asked["questions"][:1], False
pathlib.Path("small.json").write_text(json.dumps(asked), "utf-8")
from causalfairness.cli import app
app(["audit", "small.json", "--record", "record.json", "--report", "report.html"])
"""

INSTALLED = """
from importlib.metadata import distributions
import causalfairness
print(causalfairness.__file__)
print(*sorted(each.name for each in distributions()))
"""
MOST_INSTALLED = 24  # distributions without extras, the package among them

SOURCES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


class Import(NamedTuple):
    """One imported module, and whether `import` of its module runs it at once."""

    module: str
    at_once: bool


@cache
def tree_of(source):
    return ast.parse(SOURCES[source].read_text("utf-8"))


@cache
def imports_of(source):
    """Every import statement of a module, also inside functions and for type checkers only."""
    found = []

    def visit(node, at_once):
        if isinstance(node, ast.Import):
            found.extend(Import(name.name, at_once) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: relative import; name the whole path"
            found.extend(
                Import(f"{node.module}.{name.name}", at_once)
                if node.module == "causalfairness"
                else Import(node.module, at_once)
                for name in node.names
            )
        for child in ast.iter_child_nodes(node):
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            visit(child, at_once and not later and not is_for_type_checkers(node, child))

    visit(tree_of(source), True)
    return found


def nothing_wrong(check, names):
    """One test that lists all that is wrong: a test for each file costs more than its look."""
    found = [each for name in names for each in check(name)]
    assert not found, "\n".join(found)


def is_for_type_checkers(node, child):
    """Is this the body of `if TYPE_CHECKING:`?"""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        and child in node.body
    )


def layer_of(source):
    return source.split("/")[0].removesuffix(".py")


# --- layers -----------------------------------------------------------------------------------


def imports_from_below(source):
    layer = layer_of(source)
    if layer == "__init__":
        return  # the door to all layers; how it opens them is another test's business
    if layer not in ORDER:
        yield f"{layer} has no place in the order of layers"
        return
    for module, _ in imports_of(source):
        top, _, rest = module.partition(".")
        if top != "causalfairness":
            continue
        other = rest.split(".")[0]
        if other not in ORDER:
            yield f"{source} imports {module}: name the layer it comes from"
        elif other != layer and ORDER.index(other) > ORDER.index(layer):
            yield f"{source} imports {module}, but {other} does not lie above {layer}"


def test_a_layer_imports_only_from_layers_above_it():
    nothing_wrong(imports_from_below, SOURCES)


def foreign_libraries(source):
    layer = layer_of(source)
    allowed = EVERYWHERE | LAYERS.get(layer, set())
    for module, at_once in imports_of(source):
        library = module.partition(".")[0]
        converts = library in CONVERSIONS.get(source, set()) and not at_once
        if not (library == "causalfairness" or library in allowed or converts):
            yield f"{source} imports {library}, which is not for {layer}"


def test_a_layer_uses_only_its_own_libraries():
    nothing_wrong(foreign_libraries, SOURCES)


def hidden_imports(source):
    calls = (node.func for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call))
    for called in calls:
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name in {"import_module", "__import__", "exec", "eval"} and source not in BY_NAME:
            yield f"{source} calls {name}, which hides what it imports"


def test_what_is_imported_by_name_is_visible_to_the_tests_above():
    nothing_wrong(hidden_imports, SOURCES)


def test_every_library_in_use_is_a_declared_dependency():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.match(r"[\w-]+", line)[0] for lines in listed for line in lines}
    used = {module.partition(".")[0] for source in SOURCES for module, _ in imports_of(source)}
    used -= {"causalfairness", *sys.stdlib_module_names}
    assert {DISTRIBUTION.get(library, library) for library in used} <= declared


def test_nothing_reachable_from_the_package_imports_a_heavy_library_at_once():
    waiting, seen = ["__init__.py"], set()
    while waiting:
        source = waiting.pop()
        seen.add(source)
        for module, at_once in imports_of(source):
            if not at_once:
                continue
            heavy = any(module == name or module.startswith(f"{name}.") for name in HEAVY)
            assert not heavy, f"{source} imports {module} at module level"
            waiting += [path for path in files_of(module) if path not in seen]


def files_of(module):
    """The files that run when a module of the package is imported: its own and its parents'."""
    if not module.startswith("causalfairness."):
        return []
    parts = module.split(".")[1:]
    paths = ["/".join([*parts[:depth], "__init__.py"]) for depth in range(1, len(parts) + 1)]
    return [path for path in [*paths, "/".join(parts) + ".py"] if path in SOURCES]


def test_import_is_light():
    report = f"import sys, causalfairness; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", report], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# --- names ------------------------------------------------------------------------------------


def public_names():
    homes = ["", ".estimators", ".datasets", ".datasets.worlds"]
    homes += [".effects", ".tables", ".inference", ".parity", ".graph", ".plots", ".report"]
    homes += [".scm", ".individuals", ".adaptation", ".parity.screens", ".invariance", ".neural"]
    homes += [".audit", ".sensitivity", ".imaging"]
    for home in homes:
        module = import_module(f"causalfairness{home}")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{module.__name__}.{name}"


def docstring_of(path):
    home, _, name = path.rpartition(".")
    return inspect.getdoc(getattr(import_module(home), name)) or ""


def name_without_summary(path):
    first = re.split(r"(?<=[.?!])\s", docstring_of(path), maxsplit=1)[0]
    if not first.endswith((".", "?")):
        yield f"{path} opens with {first!r}, which is no sentence"


def test_a_public_name_opens_with_a_sentence():
    nothing_wrong(name_without_summary, public_names())


def name_without_example(path):
    if ">>>" not in docstring_of(path):
        yield f"{path} has no example"


def test_a_public_name_shows_an_example():
    nothing_wrong(name_without_example, public_names())


def module_without_sentence(source):
    text = ast.get_docstring(tree_of(source)) or ""
    if not re.search(r"[.?](\s|$)", text.split("\n\n")[0]):
        yield f"{source} opens without a sentence that says what it holds"


def test_a_module_opens_with_what_it_holds():
    nothing_wrong(module_without_sentence, SOURCES)


# --- the wheel --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    run(build, str(PROJECT), cwd=folder)
    (built,) = folder.glob("causalfairness-*.whl")
    return built


def run(command, *more, cwd):
    """Run outside the checkout, with nothing of this environment but the settings of pip."""
    hidden = ("PYTHON", "VIRTUAL_ENV", "COVERAGE", "PYTEST")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run([*command, *more], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.args} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_the_data_and_the_types_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = {f"causalfairness/{source}" for source in SOURCES} | {"causalfairness/py.typed"}
    for data in ("adult", "compas", "german_credit", "law_school"):
        expected |= {f"causalfairness/datasets/files/{data}.{kind}" for kind in ("json", "parquet")}
    pages = ("page.html", "page.css", "pieces.html")
    for part in (*pages, "study.html", "study.css", "study.js", "blocks.html"):
        expected.add(f"causalfairness/report/templates/{part}")
    for rule in ("four_fifths", "nyc_local_law_144"):
        expected.add(f"causalfairness/parity/screens/rules/{rule}.toml")
    expected.add("causalfairness/audit/files/compas.toml")
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == expected
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_runs_the_demo_in_an_empty_environment(wheel, tmp_path):
    python = release.empty_environment(tmp_path / "env")
    pip = release.pip_of(python)
    run([*pip, "install", "--quiet", "--no-compile"], str(wheel), cwd=tmp_path)
    run([*pip, "check"], cwd=tmp_path)
    where, names = run([python, "-c", INSTALLED], cwd=tmp_path).splitlines()
    assert Path(where).is_relative_to(tmp_path / "env")
    assert not {"pandas", "polars", "matplotlib", "networkx", "numba", "torch"} & {*names.split()}
    assert len(names.split()) <= MOST_INSTALLED, names
    alone = str(PROJECT / "tests" / "without_extras.py")
    assert run([python, "-W", "error", alone], cwd=tmp_path) == "without extras: as promised\n"
    printed = run([python, "-W", "error", "-c", SMALL_DEMO], cwd=tmp_path)
    assert "disparity of two_year_recid" in printed
    assert (tmp_path / "record.json").is_file()
    (tmp_path / "report.html").unlink()
    for check in release.CHECKS:
        run([python, *check], cwd=tmp_path)
    assert (tmp_path / "report.html").is_file()


# --- the rest of the project --------------------------------------------------------------------


def test_the_makefile_has_the_promised_targets():
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, flags=re.MULTILINE))
    assert {"demo", "test", "test-all", "lowest", "bench", "lint", "docs", "release"} <= targets
    assert re.search(r"^test-all:.* lowest$", makefile, flags=re.MULTILINE)


BOUND = re.compile(r"([\w-]+)(?:>=|==)([\d.]+)")


def bounds(lines):
    """The lowest version of each distribution, as a tuple of numbers without zeros at the end."""
    found = [BOUND.match(line) for line in lines]
    versions = {each[1]: [*map(int, each[2].split("."))] for each in found if each}
    return {name: tuple(trimmed(version)) for name, version in versions.items()}


def trimmed(version):
    while version and not version[-1]:
        version = version[:-1]
    return version


def test_the_lowest_versions_that_are_tried_are_those_that_are_allowed():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    tried = bounds((PROJECT / "tests" / "lowest.txt").read_text("utf-8").splitlines())
    extras = project["optional-dependencies"]
    must = [*project["dependencies"], *extras["fast"], *extras["graphs"], *extras["plots"]]
    assert bounds(must).items() <= tried.items()
    assert tried.items() <= bounds([*must, *extras["test"]]).items()


def test_the_check_of_a_commit_is_make_test_and_nothing_else():
    script = PROJECT / ".ci" / "run"
    commands = [
        line for line in script.read_text("utf-8").splitlines() if line[:1] not in ("#", "")
    ]
    assert commands == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make test"]
    assert os.access(script, os.X_OK)


def test_no_file_depends_on_the_machine_it_was_written_on():
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, cwd=PROJECT, capture_output=True, text=True, check=True)
    machine = re.compile(r"(?<![\w.])/(?:tmp|work|home|root|Users)/")
    for name in filter(None, files.stdout.split("\0")):
        path = PROJECT / name
        if (
            path == Path(__file__).resolve()
            or path.suffix in (".parquet", ".png")
            or not path.is_file()
        ):
            continue
        found = machine.search(path.read_text("utf-8"))
        assert found is None, f"{name} names {found[0]}"
