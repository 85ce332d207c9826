"""How is long work shared between processes without changing the answer?

Each task carries everything it needs, its random generator included, so the result is the same
for any number of workers. Numerical libraries run on one thread inside a task: sums are then
formed in one order only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from causalfairness.progress import track

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    work: Callable[[Task], Result], tasks: Sequence[Task], *, workers: int, what: str
) -> list[Result]:
    """What does `work` give for each task? Results in the order of the tasks.

    >>> run_all(abs, [-1, 2, -3], workers=1, what="taking absolute values")
    [1, 2, 3]
    """
    if workers < 1:
        raise ValueError(f"workers must be 1 or more; found {workers!r}")
    if workers == 1 or len(tasks) <= 1:
        results = (on_one_thread(work, task) for task in tasks)
    else:
        from joblib import Parallel, delayed

        pool = Parallel(n_jobs=min(workers, len(tasks)), return_as="generator")
        results = pool(delayed(on_one_thread)(work, task) for task in tasks)
    return list(track(results, total=len(tasks), what=what))


def on_one_thread(work: Callable[[Task], Result], task: Task) -> Result:
    """What `work` gives for a task, while no library may use threads of its own.

    >>> on_one_thread(abs, -1)
    1
    """
    with _thread_pools(len(sys.modules)).limit(limits=1):
        return work(task)


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    """The loaded libraries that have threads: looked for again once more modules are imported.

    A look reads the memory map of the whole process and takes as long as many a task.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
