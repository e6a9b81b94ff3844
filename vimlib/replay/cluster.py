"""Replays on the workers of a Dask cluster: where one machine is no longer enough.

A cluster is one more `concurrent.futures.Executor`. Its workers need vimlib, Vim and the parts of
confinement as this machine does; each confines itself, and one that cannot refuses. What a replay is
kept under depends on the Vim that played it, so by default all workers must have this machine's
own. Where the user allows others, each of their replays carries its own Vim and key: nothing is
mistaken for what it is not, but nothing is found again in this machine's cache either.

A worker that is lost in mid-run costs time alone: Dask gives its requests to another. A request
that has lost several workers in a row is the harness's error, and the batch goes on.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from vimlib.records import Protocol, Replay, VimBuild, VimlibError
from vimlib.sandbox import Confinement, ConfinementUnavailable, unavailable

from .playing import lost
from .protocols import ReplayRequest, fingerprint
from .vim import NoVim, Vim, find_vim

_CONNECT_SECONDS = 10
"""For the scheduler to answer, and for a first worker to be there."""


class ClusterUnusable(VimlibError):
    """The cluster cannot be reached, has no workers, or has some that follow other rules."""

    exit_code = 7


class MixedVim(VimlibError):
    """Workers replay with another Vim than this machine has, and the user has not allowed that."""

    exit_code = 7


class ClusterExecutor(Executor):
    """The workers of one cluster, for `replay_each` and all that take an executor."""

    def __init__(
        self, client: Any, vims: Mapping[str, VimBuild], allowed: frozenset[VimBuild] | None
    ) -> None:
        self.vims = vims
        """The Vim of each worker at the start, by the worker's address."""
        self._executor = client.get_executor(pure=False)
        self._allowed = allowed

    @property
    def note(self) -> str | None:
        """One line where the workers do not all have this machine's Vim."""
        here = find_vim().build
        return None if set(self.vims.values()) == {here} else _said(here, self.vims)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run `play(request, confinement)` on a worker.

        The future raises ConfinementUnavailable or NoVim with the worker's name, MixedVim where a
        worker that joined later has another Vim, ClusterUnusable where the cluster is lost.
        """
        ours: Future[Any] = Future()

        def ask(again: int) -> None:
            theirs = self._executor.submit(_on_worker, fn, *args, **kwargs)
            theirs.add_done_callback(lambda done: settle(done, again))

        def settle(done: Future[Any], again: int) -> None:
            if again and not done.cancelled() and _tripped(done.exception()):
                ask(again - 1)
            elif ours.set_running_or_notify_cancel():
                self._settle(ours, done, *args)

        ask(again=3)
        return ours

    def _settle(
        self, ours: Future[Any], theirs: Future[Any], request: ReplayRequest, confinement: Confinement
    ) -> None:
        from distributed.scheduler import KilledWorker

        if theirs.cancelled():
            ours.set_exception(
                ClusterUnusable("the cluster's scheduler was lost; replays done so far are kept")
            )
        elif isinstance(error := theirs.exception(), KilledWorker):
            ours.set_result(lost(request, confinement, f"lost with each worker that tried it: {error}"))
        elif error is not None:
            ours.set_exception(error)
        elif self._allowed is not None and (vim := theirs.result().vim) not in self._allowed:
            ours.set_exception(
                MixedVim(_refused(_said(find_vim().build, {"a worker that joined later": vim})))
            )
        else:
            ours.set_result(theirs.result())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Without `wait`, what the workers have not begun is called off."""
        self._executor.shutdown(wait=wait and not cancel_futures)


def _tripped(error: BaseException | None) -> bool:
    """Whether Dask's own executor failed, not what it ran.

    A result that arrives while its worker is lost may be marked as lost before the executor looks at it,
    which then takes the result for an exception in parts.
    """
    if not isinstance(error, TypeError) or error.__traceback__ is None:
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__") == "distributed.cfexecutor"


@contextmanager
def connected(
    scheduler: str, *, confinement: Confinement = Confinement.FULL, mixed_vim: bool = False
) -> Iterator[ClusterExecutor | None]:
    """The cluster whose scheduler has this address (`tcp://host:8786`), left as it was at the end.

    '' is no cluster: yields None, for which `replay_each` takes this machine's cores.
    `mixed_vim`: workers with another Vim than this machine's may replay too.

    Every worker is asked first. Raises ClusterUnusable, MixedVim, NoVim (here or, named, on a
    worker), ConfinementUnavailable (on a worker, named).
    """
    if not scheduler:
        yield None
        return
    if importlib.util.find_spec("distributed") is None:
        raise ClusterUnusable(
            "--scheduler needs the package distributed; install it, here and on the workers, "
            "with: pip install 'vimlib[cluster]'"
        )
    import distributed

    here = find_vim()
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterUnusable(
            f"{scheduler}: no scheduler answers there ({error}); expected an address such as "
            "tcp://host:8786, where `dask scheduler` runs"
        ) from error
    try:
        executor = ClusterExecutor(
            client,
            _asked(client, scheduler, here, confinement),
            None if mixed_vim else frozenset({here.build}),
        )
        if executor.note and not mixed_vim:
            raise MixedVim(_refused(executor.note))
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)
    finally:
        client.close()


def _asked(client: Any, scheduler: str, here: Vim, confinement: Confinement) -> dict[str, VimBuild]:
    """The Vim of each worker, once it has said that it can replay by the same rules."""
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
    except TimeoutError as error:
        raise ClusterUnusable(f"{scheduler}: has no workers; start some: dask worker {scheduler}") from error
    rules = _rules(here, confinement)
    vims = {}
    for address, said in sorted(client.run(_look, here, confinement, on_error="return").items()):
        if isinstance(said, ConfinementUnavailable | NoVim):
            raise type(said)(f"worker {address}: {said}") from said
        if isinstance(said, Exception):
            raise ClusterUnusable(
                f"worker {address}: cannot replay ({type(said).__name__}: {said}); expected the same "
                "vimlib, with all that it needs, as here"
            ) from said
        vims[address], theirs = said
        if theirs != rules:
            raise ClusterUnusable(
                f"worker {address}: its vimlib or vimgolf follows other rules or limits than this "
                "machine's; install the same versions on both"
            )
    return vims


def _rules(vim: Vim, confinement: Confinement) -> list[str]:
    """All that a replay depends on beside start, keys and the Vim: here, or where a worker runs it."""
    return [fingerprint(protocol, vim, confinement) for protocol in Protocol]


def _look(asker: Vim, confinement: Confinement) -> tuple[VimBuild, list[str]]:
    """Run by each worker: its Vim, and the rules that it would follow if that were the asker's."""
    if confinement is Confinement.FULL and (why := unavailable()):
        raise ConfinementUnavailable(why)
    return find_vim().build, _rules(asker, confinement)


def _on_worker(play: Callable[..., Replay], request: ReplayRequest, confinement: Confinement) -> Replay:
    import distributed

    try:
        return play(request, confinement)
    except (ConfinementUnavailable, NoVim) as error:
        raise type(error)(f"worker {distributed.get_worker().address}: {error}") from error


def _said(here: VimBuild, vims: Mapping[str, VimBuild]) -> str:
    workers: dict[VimBuild, list[str]] = {}
    for address, vim in vims.items():
        workers.setdefault(vim, []).append(address)
    there = "; ".join(
        f"Vim {vim.version} ({vim.sha256[:12]}) on {', '.join(who)}"
        for vim, who in workers.items()
        if vim != here
    )
    return f"workers replay with another Vim than this machine's {here.version} ({here.sha256[:12]}): {there}"


def _refused(what: str) -> str:
    return f"{what}; install one Vim everywhere, or allow it with --mixed-vim"
