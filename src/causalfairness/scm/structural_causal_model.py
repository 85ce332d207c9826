"""What would have happened to each person, had something been different?

A structural causal model (methods §7) has a graph and one mechanism per node. Counterfactuals are
abduction, action, prediction, for all rows at once: the noise of every node is read off the row,
the nodes in `do` are set, and their descendants follow with the same noise. Cost grows with rows
times nodes; rows are handled in blocks, so memory is what the frames take, and little more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Effect
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.scm import saving
from causalfairness.scm.categorical import CategoricalEquation
from causalfairness.scm.counts import CountEquation
from causalfairness.scm.evaluation import (
    Edge,
    Equations,
    Streams,
    Values,
    abduct,
    carry,
    in_order,
    propagate,
)
from causalfairness.scm.fitting import Background, districts, fit_model
from causalfairness.scm.goodness import NodeFit
from causalfairness.scm.intervention import (
    Intervention,
    check_count,
    check_nodes,
    read_intervention,
)
from causalfairness.scm.paths import ask_along
from causalfairness.scm.reading import assumptions_of, summary_of
from causalfairness.tables import Of
from causalfairness.tables.frames import FrameRows, New, Template, frame_rows

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
BLOCK = 2**16  # rows
DRAWN = CategoricalEquation | CountEquation  # noise that the data cannot fix


@dataclass(frozen=True, eq=False, repr=False)
class StructuralCausalModel:
    """What would have happened to each person, had something been different?

    Made by `fit` or `load`. Frames go in and come out in the library they are in: pandas, polars
    or pyarrow.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(1_000, seed=0)
    >>> graph = cf.CausalGraph.parse(
    ...     "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> scm = cf.StructuralCausalModel.fit(graph, data)
    >>> otherwise = scm.counterfactual(data, do={"group": "blue"})
    >>> otherwise["c1"].equals(data["c1"]), otherwise.column_names == data.column_names
    (True, True)
    """

    equations: Equations
    background: Background
    template: Template

    @classmethod
    def fit(
        cls,
        graph: CausalGraph,
        data: Any,
        mechanisms: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
    ) -> StructuralCausalModel:
        """Which mechanisms made this data, if the graph is right?

        `mechanisms` maps nodes to mechanisms (`causalfairness.scm`) or to unfitted scikit-learn
        models; nodes that it leaves out get one by their type and by cross-validation, which
        `summary` reports. The same seed gives the same model.

        >>> import pyarrow as pa
        >>> data = pa.table({"rank": [1, 2, 3, 4] * 5, "pay": [1.0, 2.5, 3.0, 4.5] * 5})
        >>> graph = CausalGraph.parse("rank -> pay")
        >>> scm = StructuralCausalModel.fit(graph, data)
        >>> [fit.mechanism for fit in scm.fits]
        ['as observed', 'linear']
        """
        return cls(*fit_model(CausalGraph.of(graph), data, mechanisms, seed))

    @property
    def graph(self) -> CausalGraph:
        """Which graph is assumed?"""
        return self.equations.graph

    @property
    def fits(self) -> tuple[NodeFit, ...]:
        """How well does the mechanism of each node fit? Worked out when first asked for."""
        return self.background.fits

    @cached_property
    def assumptions(self) -> tuple[str, ...]:
        """What do counterfactuals of this model rest on, beyond the data?

        >>> import pyarrow as pa
        >>> data = pa.table({"rank": [1, 2, 3, 4] * 5, "pay": [1.0, 2.5, 3.0, 4.5] * 5})
        >>> scm = StructuralCausalModel.fit(CausalGraph.parse("rank -> pay"), data)
        >>> scm.assumptions[1]
        'pay: noise is added to a linear prediction and is the same in every world'
        """
        return assumptions_of(self.equations)

    def said_of_weights(self) -> str:
        """Where do weights count, in answers about rows that have them?

        >>> import pyarrow as pa
        >>> data = pa.table({"rank": [1, 2, 3, 4] * 5, "pay": [1.0, 2.5, 3.0, 4.5] * 5})
        >>> StructuralCausalModel.fit(CausalGraph.parse("rank -> pay"), data).said_of_weights()
        'rows count by their weights; the mechanisms were fitted without them'
        """
        if getattr(self.background, "weights", None) is not None:
            return "rows count by their weights, where mechanisms are fitted too"
        return "rows count by their weights; the mechanisms were fitted without them"

    def summary(self) -> str:
        """Which mechanism does each node have, how well does it fit, and what is assumed?"""
        return summary_of(self.fits, self.assumptions)

    def counterfactual(self, data: Any, *, do: Any, draws: int = 1, seed: int = 0) -> Any:
        """What would each row be, had the nodes in `do` had these values?

        `do` gives for each node a value, a mapping from old to new values, or one value per row.
        Only descendants change; all other columns, and columns that are not in the graph, come
        back as they are. Where the noise of a row is drawn (categories, counts), `draws` repeats
        the whole frame, one draw below the other; the first is the same whatever their number.

        >>> import pyarrow as pa
        >>> from causalfairness.scm import Linear
        >>> data = pa.table({"rank": [1, 2, 3, 4] * 5, "pay": [1.0, 2.0, 3.0, 4.0] * 5})
        >>> scm = StructuralCausalModel.fit(
        ...     CausalGraph.parse("rank -> pay"), data, {"pay": Linear()})
        >>> raised = scm.counterfactual(data, do={"rank": {1: 4}})
        >>> [round(pay, 9) for pay in raised["pay"].to_pylist()[:4]]
        [4.0, 2.0, 3.0, 4.0]
        """
        check_count(draws, "draws")
        reached = self._reached(do)
        rows, values = self._read(data, reached, do)
        intervention = read_intervention(do, self.graph, self.equations.domains, len(rows))
        n = len(rows)
        order = None
        if any(isinstance(self.equations.fitted[node], DRAWN) for node in reached):
            order, values = self._in_order(rows, values, intervention)
            intervention = intervention.take(order)
        new = dict(zip(reached, np.empty((len(reached), n * draws)), strict=True))
        for draw in range(draws):
            luck = Streams(self.graph.nodes, seed, draw)
            for part in blocks(n):
                observed = self._block(values, part)
                settled = intervention.settle(observed, part)
                there = slice(draw * n + part.start, draw * n + part.stop)
                into = {node: column[there] for node, column in new.items()}
                carry(self.equations, observed, settled, luck, into)
            if order is not None:
                for column in new.values():
                    column[draw * n + order] = column[draw * n : (draw + 1) * n].copy()
        return rows.replaced(self._written(new, intervention.nodes), copies=draws)

    def intervene(self, data: Any, *, do: Any, seed: int = 0) -> Any:
        """What would people be like if the nodes in `do` were set?

        With a number, that many new people are drawn and the nodes set. With a frame, everything
        that `do` does not reach stays as it is in each row, and its descendants are drawn anew:
        unlike a counterfactual, the row's own noise is not kept.

        >>> import pyarrow as pa
        >>> data = pa.table({"rank": [1, 2, 3, 4] * 5, "pay": [1.0, 2.5, 3.0, 4.5] * 5})
        >>> scm = StructuralCausalModel.fit(CausalGraph.parse("rank -> pay"), data)
        >>> set(scm.intervene(3, do={"rank": 4})["rank"].to_pylist())
        {4}
        """
        if isinstance(data, int | np.integer):
            return self._drawn(int(data), do, seed)
        reached = self._reached(do)
        rows, values = self._read(data, reached, do)
        intervention = read_intervention(do, self.graph, self.equations.domains, len(rows))
        order, values = self._in_order(rows, values, intervention)
        intervention = intervention.take(order)
        drawn = [node for node in reached if node not in intervention.nodes]
        new = {node: np.empty(len(rows)) for node in reached}
        luck = Streams(self.graph.nodes, seed)
        for part in blocks(len(rows)):
            observed = self._block(values, part)
            noise = self._draw_noise(luck, part.stop - part.start)
            settled = {node: observed[node] for node in observed if node not in drawn}
            settled |= intervention.settle(observed, part)
            world = propagate(self.equations, {node: noise[node] for node in drawn}, settled)
            for node in reached:
                new[node][order[part]] = world[node]
        return rows.replaced(self._written(new, intervention.nodes))

    def sample(self, n: int, *, seed: int = 0) -> Any:
        """Which new people does the model make up? A frame of the nodes, in the data's library.

        >>> import pyarrow as pa
        >>> data = pa.table({"rank": [1, 2, 3, 4] * 5, "pay": [1.0, 2.5, 3.0, 4.5] * 5})
        >>> scm = StructuralCausalModel.fit(CausalGraph.parse("rank -> pay"), data)
        >>> scm.sample(3, seed=0).schema == data.schema
        True
        """
        return self._drawn(n, None, seed)

    def encode(self, data: Any) -> dict[str, Array]:
        """What are the nodes of these rows, as arrays? For questions asked on arrays.

        Numbers stand for themselves, labels for their position in `equations.domains`.

        >>> import pyarrow as pa
        >>> data = pa.table({"sex": ["F", "M"] * 10, "pay": [1.0, 2.5] * 10})
        >>> scm = StructuralCausalModel.fit(CausalGraph.parse("sex -> pay"), data)
        >>> values = scm.encode(data)
        >>> values["sex"].tolist()[:2], bool(np.abs(scm.abduct(values)["pay"]).max() < 1e-12)
        ([0.0, 1.0], True)
        """
        _, values = self._read(data, self.graph.nodes, self.graph.nodes)
        return self._block(values, slice(0, None))

    def abduct(self, values: Values, *, seed: int = 0, draw: int = 0) -> dict[str, Array]:
        """Which noise made these rows? `values` as from `encode`."""
        nodes = tuple(node for node in self.graph.nodes if node in values)
        found, ordered = in_order(values)
        noise = abduct(self.equations, ordered, Streams(self.graph.nodes, seed, draw), nodes)
        return {node: column[found.places] for node, column in noise.items()}

    def propagate(
        self, noise: Values, values: Values, told: Mapping[Edge, Array] | None = None
    ) -> dict[str, Array]:
        """What is every node in a world with this noise?

        Nodes in `values` are settled there; `told` gives what an edge (cause, effect) carries in
        place of the cause's own value. The rest follows: see `causalfairness.scm.evaluation`.

        >>> import pyarrow as pa
        >>> data = pa.table({"sex": ["F", "M"] * 10, "pay": [1.0, 2.5] * 10})
        >>> scm = StructuralCausalModel.fit(CausalGraph.parse("sex -> pay"), data)
        >>> noise = {"pay": np.array([0.25])}
        >>> scm.propagate(noise, {"sex": np.array([1.0])})["pay"].round(9).tolist()
        [2.75]
        """
        return propagate(self.equations, noise, values, told)

    def path_effect(
        self,
        data: Any,
        model: StandardFairnessModel,
        *,
        of: Of = "outcome",
        edges: Any = None,
        paths: Any = None,
        among: Any = None,
        draws: int = 1,
        replicates: int | None = None,
        workers: int = 1,
        seed: int = 0,
    ) -> Effect:
        """How much of a change of group reaches the outcome, and by which way?

        `model` says who is compared and what the outcome is. `edges` lists the arrows that carry
        the change ("race -> priors"), `paths` whole paths; None takes all. Where `edges` names
        arrows deeper in the graph, see `causalfairness.scm.routes`. `among` is a group of the data,
        None both groups of the model. `draws` averages over drawn noise.

        Standard errors know that mechanisms were fitted: exactly where all of them are lines, else
        by fitting them again to rows drawn anew, 100 times for up to 10,000 rows, 30 times for up
        to 50,000, or as often as `replicates` says. Where neither can be had, or with
        `replicates=0`, they are of rows alone, and say so.

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.linear_gaussian(direct=0.5, indirect=0.6)
        >>> graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
        >>> data = world.draw(2_000, seed=0)
        >>> scm = cf.StructuralCausalModel.fit(graph, data)
        >>> through_m1 = scm.path_effect(data, world.model, edges="group -> m1")
        >>> bool(abs(through_m1.value - 0.6 * 0.8) < 3 * through_m1.standard_error)
        True
        """
        asked = ask_along(
            self, data, model, of=of, edges=edges, paths=paths, draws=draws, seed=seed
        )
        return asked.effect(among=among, replicates=replicates, workers=workers)

    def individual_path_effects(
        self,
        data: Any,
        model: StandardFairnessModel,
        *,
        of: Of = "outcome",
        edges: Any = None,
        paths: Any = None,
        draws: int = 1,
        seed: int = 0,
    ) -> Array:
        """How much of such a change reaches the outcome of each row? See `path_effect`."""
        asked = ask_along(
            self, data, model, of=of, edges=edges, paths=paths, draws=draws, seed=seed, whole=True
        )
        return asked.by_row()

    def save(self, path: str | Path) -> None:
        """How is the model kept? As JSON; scikit-learn learners beside it, by joblib.

        The file holds noises of up to 32,768 observed rows, which for nodes without causes are
        their values: keep it as carefully as the data.

        >>> import tempfile
        >>> import pyarrow as pa
        >>> data = pa.table({"sex": ["F", "M"] * 10, "pay": [1.0, 2.5] * 10})
        >>> scm = StructuralCausalModel.fit(CausalGraph.parse("sex -> pay"), data)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     scm.save(f"{folder}/pay.json")
        ...     StructuralCausalModel.load(f"{folder}/pay.json")
        StructuralCausalModel('sex -> pay')
        """
        saving.save(Path(path), self.equations, self.background, self.template)

    @classmethod
    def load(
        cls, path: str | Path, *, trust: bool = False, mechanisms: Mapping[str, Any] | None = None
    ) -> StructuralCausalModel:
        """Which model was saved here?

        Learners are loaded only with `trust=True`: loading them can run any code that whoever wrote
        the file put into it. Functions of users are not saved; give them again in `mechanisms`.
        """
        return cls(*saving.load(Path(path), trust=trust, mechanisms=mechanisms))

    def _reached(self, do: Any) -> tuple[str, ...]:
        """The nodes that are set, and their descendants."""
        asked = check_nodes(do, self.graph)
        return (*asked, *self.graph.descendants(asked))

    def _read(
        self, data: Any, reached: tuple[str, ...], fixed: Collection[str]
    ) -> tuple[FrameRows, dict[str, Array]]:
        """What the reached nodes hold, and the causes of those that are not set."""
        moved = [node for node in reached if node not in fixed]
        wanted = dict.fromkeys((*reached, *self.graph.parents(moved)))
        rows = frame_rows(data, list(wanted), unweighted=None, aligned=True)
        domains = self.equations.domains
        return rows, {node: domains[node].encode(rows.read(node)) for node in wanted}

    def _in_order(
        self, rows: FrameRows, values: Values, intervention: Intervention
    ) -> tuple[Positions, dict[str, Array]]:
        """Draws fall to rows by all that they hold, not by where they stand or what is asked."""
        there = {*rows.frame.columns}
        told = [rows.read(node) for node in self.graph.nodes if node in there]
        codes = {c.name: c.codes.astype(float) if c.values is None else c.values for c in told}
        order = in_order(codes, intervention.per_row)[0].rows
        return order, {node: column[order] for node, column in values.items()}

    def _block(self, values: Values, part: slice) -> dict[str, Array]:
        block = {node: column[part] for node, column in values.items()}
        for node, column in block.items():
            self.equations.domains[node].check_present(column)
        return block

    def _written(self, new: Values, told: tuple[str, ...]) -> dict[str, New]:
        """How new values are written: whole numbers stay whole where the mechanism sees to it."""
        domains, fitted = self.equations.domains, self.equations.fitted
        return {
            node: domains[node].new(values, whole=node in told or fitted[node].whole)
            for node, values in new.items()
        }

    def _drawn(self, n: int, do: Any, seed: int) -> Any:
        check_count(n, "n")
        nodes = self.graph.nodes
        new = {node: np.empty(n) for node in nodes}
        intervention = None
        if do is not None:
            check_nodes(do, self.graph)
            intervention = read_intervention(do, self.graph, self.equations.domains, n)
        luck = Streams(self.graph.nodes, seed)
        for part in blocks(n):
            noise = self._draw_noise(luck, part.stop - part.start)
            world = propagate(self.equations, noise, {})
            if intervention is not None:
                world = propagate(self.equations, noise, intervention.settle(world, part))
            for node in nodes:
                new[node][part] = world[node]
        return self.template.filled(self._written(new, intervention.nodes if intervention else ()))

    def _draw_noise(self, luck: Streams, rows: int) -> dict[str, Array]:
        """Observed noises, each node on its own, nodes with hidden common causes together."""
        known = self.background.noise
        drawn: dict[str, Array] = {}
        for group in districts(self.graph):
            picked = (luck[group[0]].random(rows) * len(known[group[0]])).astype(np.intp)
            drawn |= {node: known[node][picked] for node in group}
        return drawn

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"StructuralCausalModel({self.graph.to_text()!r})"


def blocks(n: int) -> Iterator[slice]:
    """In which pieces are n rows handled?"""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))
