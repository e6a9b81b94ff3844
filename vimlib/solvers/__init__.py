"""Programs that answer tasks without a model: the floor that a model has to beat.

A pass rate means little without knowing what no intelligence at all would reach. Four
solvers answer every suite: `reference` says the task's own solution, `noop` saves what is
there, `retype` deletes everything and types the target, and `diff` computes the edit and
writes it as few keys. None of them starts Vim or sees anything but the task; `diff` and
`retype` know what their keys do from `model`, a small model of Vim that the tests compare
with the real one. `diff` is no golf search: it looks for a cheap edit, not the cheapest.

A solver returns None where it cannot answer: `reference` where there is no solution or the
protocol's notation cannot say it; `retype` and `diff` where start or target cannot be a file
in UTF-8 (lone surrogates) or the keys would be more than Vim can be given (128 KB).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from vimlib import keys as notation
from vimlib.records import Attempt, AttemptStatus, Protocol, Run, RunKind, Suite, Task, VimlibError
from vimlib.solvers.diff import solve_diff, solve_retype

__all__ = ["SOLVERS", "SOLVER_SETTINGS", "VERSION", "Solver", "UnknownSolver", "solver_run", "solver_run_id"]

VERSION = "1"
"""Of the solvers' output: raised whenever any solver may answer a task otherwise than before."""

Solver = Callable[[Task, Protocol], str | None]
"""(task, protocol) -> keys in the protocol's notation, None: cannot answer this task."""


class UnknownSolver(VimlibError):
    """There is no solver of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no solver is called {name!r}; there are {', '.join(sorted(SOLVERS))}")


def _reference(task: Task, protocol: Protocol) -> str | None:
    """The task's own solution, translated; None where there is none or it cannot be said."""
    if task.reference is None:
        return None
    if task.reference_notation is protocol:
        return task.reference
    try:
        return notation.translate(task.reference, task.reference_notation, protocol)
    except VimlibError:
        return None


def _noop(task: Task, protocol: Protocol) -> str | None:
    """Save and quit: what doing nothing scores."""
    return "ZZ"


SOLVERS: Mapping[str, Solver] = MappingProxyType(
    {"reference": _reference, "noop": _noop, "retype": solve_retype, "diff": solve_diff}
)
"""The solvers by name. All are deterministic and run without Vim."""


SOLVER_SETTINGS: Mapping[str, str] = MappingProxyType({"solver_version": VERSION})
"""The settings of every solver's run."""


def solver_run_id(name: str, suite: Suite, protocol: Protocol) -> str:
    """The id of a solver's run: the same for the same solver, suite content and protocol."""
    return f"solver-{name}-{suite.hash[:12]}-{protocol}"


def solver_run(name: str, suite: Suite, protocol: Protocol) -> Run:
    """The run of one solver on one suite: one attempt a task, in the suite's order.

    A task that the solver cannot answer has an attempt all the same, with no keys, the status
    `NOT_REPLAYABLE` and an error text that says so: it was asked, and nothing can be replayed.

    The run's id is the same for the same solver, suite content and protocol; the solver's
    version stands in the settings.

    Raises:
        UnknownSolver: `name` is not in SOLVERS.
    """
    if name not in SOLVERS:
        raise UnknownSolver(name)
    solver = SOLVERS[name]
    attempts = []
    for task in suite.tasks:
        keys = solver(task, protocol)
        if keys is None:
            attempts.append(
                Attempt(task.id, 1, 1, AttemptStatus.NOT_REPLAYABLE, error=f"solver {name} has no answer")
            )
        else:
            attempts.append(Attempt(task.id, 1, 1, AttemptStatus.ANSWERED, completion=keys, keys=keys))
    return Run(
        id=solver_run_id(name, suite, protocol),
        kind=RunKind.SOLVER,
        name=name,
        suite_hash=suite.hash,
        protocol=protocol,
        attempts=tuple(attempts),
        settings=SOLVER_SETTINGS,
    )
