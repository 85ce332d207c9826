"""Inputs that nobody meant to write, made of a kept corpus, and the readers that must bear them.

A reader answers or raises a `CausalFairnessError`, within its time; anything else is a finding. An
input that was one is kept in `tests/corpus`, in the folder of its kind, and read by every run.
"""

from __future__ import annotations

import json
import random
import signal
import warnings
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

import causalfairness as cf
from audit_studies import PREDICTED, people, without_timings
from causalfairness.audit import diff, propose, verify
from causalfairness.audit.record import check_record, stored_record
from causalfairness.audit.study import prepare
from causalfairness.audit.units import units_of
from causalfairness.cli.asking import read_graph
from causalfairness.cli.report import write_report
from causalfairness.report.imaging import is_imaging_record

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 20.0  # of the processor, for one input
LONGEST = 200_000  # bytes of an input
WORDS = """
{ } [ ] ( " ' \\ -> <- <-> -- ; , : = # // /* dir=both NaN Infinity nan inf -0 1e999 0x1F 1_0
true null a.b.c [[a]] subgraph digraph strict group blue green y score c1 dataset:compas é
"""
TOKENS = (
    *(word.encode("utf-8") for word in WORDS.split()),
    *(b"\n", b"\r\n", b"\x00", b"\xef\xbb\xbf", b"\xff", b"\xc2", b'"\\ud800"', b"\xe2\x80\xae"),
    *(b"9" * 5_000, b"1" * 40, b"{" * 300, b"[" * 300, b"a." * 2_000, b'"' * 99, b"," * 2_000),
)
ODD = (
    *(None, True, False, 0, -1, 1, 2**53, 10**400, 1.5, float("inf"), float("nan"), -0.0, 1e300),
    *("", "x", "\x00", "\ud800", "<b>", "a" * 5_000, "group", "1e999", "../x", "dataset:compas"),
    *([], {}, [[]], {"a": []}, [None] * 40, {"": ""}, {"group": {}}),
)


def deep(levels):
    """A list within a list, and so on."""
    found = []
    for _ in range(levels):
        found = [found]
    return found


# --- readers ------------------------------------------------------------------------------------


def table(rows=60):
    data = people(rows, seed=1)
    return pa.table({name: data[name] for name in data.column_names})


class Readers:
    """What reads each kind of input; each is given a file in a folder of its own."""

    def __init__(self):
        self.data = table()
        self.audit = cf.Audit(  # with another seed than that of the kept answers in the corpus
            roles=PREDICTED,
            questions=[{"ask": "group_metrics"}],
            sensitivity={"ask": False},
            settings={"seed": 1},
        )
        self.model = cf.StandardFairnessModel(
            protected="group", reference="blue", comparison="green", mediators=["m1"], outcome="y"
        )
        self.record = json.loads((CORPUS / "record" / "seed.json").read_text("utf-8"))
        self.whole = None

    def audit_file(self, file):
        study = prepare(cf.Audit.from_file(file), self.data, trust=False, workers=1)
        units_of(study)
        cf.Audit(**study.audit.to_dict())

    def dot(self, file):
        graph = read_graph(str(file))
        assert cf.CausalGraph.from_dot(graph.to_dot()) == graph
        graph.independences() if len(graph.nodes) < 20 else None

    def graph(self, file):
        graph = read_graph(str(file))
        assert cf.CausalGraph.parse(graph.to_text()) == graph
        cf.StandardFairnessModel.from_graph(
            graph, protected="group", reference="blue", comparison="green", outcome="y"
        )

    def csv(self, file):
        propose(file)
        cf.group_metrics(file, self.model)

    def record_file(self, file):
        found = stored_record(file)
        if not is_imaging_record(found):
            check_record(found, str(file))
        write_report(found, file.with_suffix(".md"))
        write_report(found, file.with_suffix(".html"))
        diff(file, self.record)
        diff(file, file)
        verify(file, self.data)

    def kept(self, file):
        """A folder in which all kept answers are this: the record is that of an empty folder."""
        folder = file.parent / "kept"
        if self.whole is None:
            self.whole = without_timings(self.audit.run(self.data, folder=folder).record)
        found = list((folder / "answers").glob("*.json"))
        if not found:
            self.audit.run(self.data, folder=folder)
            found = list((folder / "answers").glob("*.json"))
        before = {each: each.read_bytes() for each in found}
        for each in found:
            each.write_bytes(file.read_bytes())
        again = self.audit.run(self.data, folder=folder)
        assert without_timings(again.record) == self.whole
        for each, content in before.items():
            each.write_bytes(content)


KINDS = {  # what is read, under which ending, and how much of the time it is worth
    "audit": ("audit_file", (".toml", ".json"), 4),
    "dot": ("dot", (".dot",), 3),
    "graph": ("graph", (".txt",), 3),
    "csv": ("csv", (".csv",), 2),
    "record": ("record_file", (".json",), 4),
    "kept": ("kept", (".json",), 1),
}


@contextmanager
def bounded(seconds=SECONDS):
    """What takes longer than this, by the clock of the processor, ends with a `TimeoutError`."""

    def late(*_):
        raise TimeoutError(f"took more than {seconds} seconds of the processor")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def finding(readers, kind, content, folder, ending):
    """What came out, besides an answer or an error with a name? None if nothing did."""
    file = folder / f"input{ending}"
    file.write_bytes(content)
    try:
        with warnings.catch_warnings(), bounded():
            warnings.simplefilter("ignore")
            getattr(readers, KINDS[kind][0])(file)
    except cf.errors.CausalFairnessError:
        return None
    except Exception as error:
        return error
    return None


# --- mutants ------------------------------------------------------------------------------------


def seeds(kind):
    """Every kept input of a kind, by name."""
    return {path.name: path.read_bytes() for path in sorted((CORPUS / kind).iterdir())}


def mutant(rng, contents, ending):
    """An input made of kept ones: by structure where it has one, by lines, or by bytes."""
    content = rng.choice(contents)
    if ending == ".json" and rng.random() < 0.7:
        try:
            return by_structure(rng, json.loads(content))
        except (ValueError, RecursionError):
            pass
    for _ in range(rng.choice((1, 1, 2, 4))):
        content = rng.choice((by_bytes, by_lines, by_tokens))(rng, content, contents)
    return content[:LONGEST]


def by_bytes(rng, content, contents):
    at, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    end = min(end, at + rng.choice((1, 3, 20, 400)))
    other = rng.choice(contents)
    part = rng.choice(
        (b"", bytes([rng.randrange(256)]), content[at:end] * 2, content[at:end] * 60, other[at:end])
    )
    return content[:at] + part + content[end:]


def by_tokens(rng, content, contents):
    at, token = rng.randrange(len(content) + 1), rng.choice(TOKENS)
    rest = content[at + rng.choice((0, 0, 1, 5)) :]
    return content[:at] + token * rng.choice((1, 1, 1, 3)) + rest


def by_lines(rng, content, contents):
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    other = rng.choice(rng.choice(contents).split(b"\n"))
    name, mark, _ = lines[at].partition(b"=")
    odd = json.dumps(rng.choice(ODD)).encode("utf-8")
    changed = rng.choice(([], [lines[at]] * 2, [other, lines[at]], [name + mark + odd], [other]))
    return b"\n".join([*lines[:at], *changed, *lines[at + 1 :]])


def by_structure(rng, value):
    for _ in range(rng.choice((1, 1, 2, 3))):
        *way, last = rng.choice([*places(value)] or [("",)])
        at = value
        for step in way:
            at = at[step]
        if not isinstance(at, dict | list) or (isinstance(at, dict) and last not in at):
            break
        how = rng.randrange(6)
        if how == 0:
            del at[last]
        elif how == 1:
            at[last] = [at[last]]
        elif how == 2 and isinstance(at, dict):
            at[rng.choice((*at, "x", "", "ask"))] = at.pop(last)
        elif how == 3 and isinstance(at, list):
            at.insert(last, at[last])
        elif how == 4:
            at[last] = deep(rng.choice((30, 60, 400)))
        else:
            at[last] = rng.choice(ODD)
    return json.dumps(value).encode("utf-8")


def places(value, where=(), most=8):
    """Every place in plain data; of long lists the first few."""
    inside = value.items() if isinstance(value, dict) else ()
    inside = enumerate(value[:most]) if isinstance(value, list) else inside
    for key, each in inside:
        yield (*where, key)
        yield from places(each, (*where, key))


def rounds(kind, seed):
    """Mutants of a kind without end, with their endings."""
    rng, kept = random.Random(f"{kind} {seed}"), seeds(kind)
    by_ending = {
        ending: [content for name, content in kept.items() if name.endswith(ending)]
        for ending in KINDS[kind][1]
    }
    while True:
        ending = rng.choice(KINDS[kind][1])
        yield ending, mutant(rng, by_ending[ending], ending)
