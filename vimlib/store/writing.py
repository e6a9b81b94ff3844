"""The way in: records as whole frames, replaced by key only where something differs."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from vimlib.records import (
    Attempt,
    AttemptStatus,
    Cost,
    Failure,
    PublishedResult,
    Repair,
    Replay,
    Run,
    RunSource,
    Score,
    Suite,
    TokenUsage,
    VimBuild,
)
from vimlib.store.errors import BadRows
from vimlib.store.reading import (
    KEYS,
    SCHEMA_VERSION,
    TABLES,
    create_views,
    one_row,
    opened,
    read_replays,
    registered,
    sql,
    views_sha256,
)
from vimlib.store.text import encode_text


class Change(StrEnum):
    """What adding something did to the store."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    """It was there, the same in everything: skipped."""
    REPLACED = "replaced"
    """It was there with other content."""


_HELD_BYTES = 32 * 2**20
"""What a load may have written and DuckDB still hold in memory; then it goes into the copy of the store."""


def _plain(value: Any) -> Any:
    """A setting as JSON can say it; what JSON has no word for becomes its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=repr)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [_plain(item) for item in value]
    return str(value)


def _json(mapping: Mapping[str, Any]) -> str:
    return json.dumps(_plain(mapping), sort_keys=True, ensure_ascii=False)


def _arrow(con: duckdb.DuckDBPyConnection, statement: str, values: Sequence[Any] = ()) -> pa.Table:
    table = con.sql(statement, params=list(values)).to_arrow_table()
    assert isinstance(table, pa.Table), "a query gives a table"
    return table


class Writer:
    """Adds to a store that nobody else sees yet. `replacing` makes one; nothing else should.

    Each call stores whole frames, not single rows. What a call says twice or refers to in vain
    raises `BadRows`, at the latest when the load ends, and then nothing of the load takes effect.
    """

    def __init__(self, path: Path, *, new: bool) -> None:
        self._con = opened(str(path))
        self.changed = new
        """Whether the store now differs from the one that the load began with."""
        # Few transactions: by themselves these are hundreds, each waiting for the disk.
        self._con.begin()
        if new:
            self._con.execute(sql("schema.sql"))
            self._con.execute("INSERT INTO schema_info VALUES (?, '')", [SCHEMA_VERSION])
        if one_row(self._con, "SELECT views_sha256 FROM schema_info") != (views_sha256(),):
            create_views(self._con, comments=True)
            self._con.execute("UPDATE schema_info SET views_sha256 = ?", [views_sha256()])
            self.changed = True
        self._con.commit()
        # What of a run is known to be nowhere in the store: it need not be looked for.
        self._fresh: set[tuple[str, str]] = set()
        self._touched: set[str] = set()
        self._suites_changed = new
        self._settled = 0
        """What was in memory after rows were let go of last."""
        self._con.begin()
        self._types: dict[str, dict[str, pa.DataType]] = {
            table: {
                field.name: field.type for field in _arrow(self._con, f"SELECT * FROM {table} LIMIT 0").schema
            }
            for table in TABLES
        }

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """For reading what has been written so far, by `query` for instance."""
        return self._con

    def add_suite(self, suite: Suite) -> Change:
        """Store a suite and its tasks; the key is its hash.

        A suite that is stored already, the same in everything but where it lies and when it was
        fetched, is left as it is; one that differs in what the hash leaves out (an instruction, a
        statistic, published solutions) is replaced.

        Raises `BadRows` where the time of the fetch has no zone.
        """
        if suite.fetched is not None and suite.fetched.tzinfo is None:
            raise BadRows(f"suite {suite.name}: the time {suite.fetched} has no time zone")
        head = {
            "suite_hash": suite.hash,
            "name": suite.name,
            "version": suite.version,
            "protocols": [str(protocol) for protocol in suite.protocols],
            "origin": suite.origin,
            "licence": suite.licence,
            "source_sha256": suite.source_sha256,
            "revision": suite.revision,
            "fetched_utc": None if suite.fetched is None else _utc(suite.fetched),
        }
        tasks = [
            {
                "suite_hash": suite.hash,
                "task_id": task.id,
                "place": place,
                "start": task.start,
                "target": task.target,
                "instruction": task.instruction,
                "title": task.title,
                "tier": task.tier,
                "category": task.category,
                "reference": task.reference,
                "reference_notation": str(task.reference_notation),
                "created": task.created,
                "entries": task.entries,
                "golfers": task.golfers,
                "best_score": task.best_score,
                "erratum": task.erratum,
                "twin_of": task.twin_of,
                "source_sha256": suite.source_sha256,
            }
            for place, task in enumerate(suite.tasks, start=1)
        ]
        published = [
            {
                "suite_hash": suite.hash,
                "place": place,
                "task_id": one.task_id,
                "keys": one.keys,
                "source": one.source,
                "claimed": one.claimed,
                "verified": one.verified,
                "source_sha256": suite.source_sha256,
            }
            for place, one in enumerate(suite.published, start=1)
        ]
        change = self._replace(
            f"suite {suite.name}",
            "suite_hash",
            suite.hash,
            {
                "suites": self._table("suites", [head]),
                "tasks": self._table("tasks", tasks),
                "published_solutions": self._table("published_solutions", published),
            },
            moves=("origin", "fetched_utc"),
        )
        if change is not Change.UNCHANGED:
            self._suites_changed = True
            if suite.source_sha256 is not None:
                self._add_source("suite", suite.source_sha256, suite.origin or suite.name)
            self._forget_sources("suite")
        return change

    def add_run(self, run: Run) -> Change:
        """Store a run and its attempts, not yet judged; the key is its id.

        A run that is stored already, the same in everything but the name of its file, is left as
        it is, with its scores, costs and failures. One that differs (another source, another rule of
        extraction) is replaced whole, and these are gone until `add_scores`, `add_costs` and
        `add_failures` bring new ones.

        Raises `BadRows` where an attempt is there twice.
        """
        if run.created is not None and run.created.tzinfo is None:
            raise BadRows(f"run {run.id}: the time {run.created} has no time zone")
        head = {
            "run_id": run.id,
            "kind": str(run.kind),
            "name": run.name,
            "suite_hash": run.suite_hash,
            "protocol": str(run.protocol),
            "track": str(run.track),
            "turn_state": None if run.turn_state is None else str(run.turn_state),
            "source": run.source,
            "source_sha256": run.source_sha256,
            "extraction": run.extraction,
            "prompt_version": run.prompt_version,
            "task_name": run.task_name,
            "task_version": run.task_version,
            "status": run.status,
            "created_utc": None if run.created is None else _utc(run.created),
            "settings": _json(run.settings),
            "packages": _json(run.packages),
            "samples_planned": run.samples_planned,
        }
        sources = [
            {
                "run_id": run.id,
                "place": place,
                "source_sha256": one.sha256,
                "source": one.name,
                "created_utc": None if one.created is None else _utc(one.created),
                "status": one.status,
                "harness_id": one.harness_id,
                "harness_version": one.harness_version,
                "samples": one.samples,
                "header_tokens": one.header_tokens,
                "damage": one.damage,
            }
            for place, one in enumerate(_lineage(run), start=1)
        ]
        counting = _counting(run.attempts)
        attempts = [
            {
                "run_id": run.id,
                "task_id": attempt.task_id,
                "epoch": attempt.epoch,
                "attempt": attempt.attempt,
                "status": str(attempt.status),
                "counts": (attempt.task_id, attempt.epoch, attempt.attempt) in counting,
                "completion": attempt.completion,
                "keys": attempt.keys,
                "turns": attempt.turns,
                "stop_reason": attempt.stop_reason,
                "error": attempt.error,
                **_tokens(attempt.usage),
                "token_convention": attempt.usage.token_convention,
                "seconds": attempt.seconds,
                "request_seconds": attempt.request_seconds,
                "waiting_seconds": attempt.waiting_seconds,
                "source_correct": attempt.source_correct,
                "source_partial": attempt.source_partial,
                "source_efficiency": attempt.source_efficiency,
                "source_keystrokes": attempt.source_keystrokes,
                "reasoning": attempt.reasoning,
                "raw_keys": attempt.raw_keys,
                "raw_keystrokes": attempt.raw_keystrokes,
                "source_id": attempt.source_id,
                "source_sha256": attempt.source_sha256 or run.source_sha256,
            }
            for attempt in run.attempts
        ]
        change = self._replace(
            f"run {run.id}",
            "run_id",
            run.id,
            {
                "runs": self._table("runs", [head]),
                "run_sources": self._table("run_sources", sources),
                "attempts": self._table("attempts", attempts),
            },
            moves=("source",),
            and_from=(*_OF_RUNS, "rejudgements"),
        )
        if change is not Change.UNCHANGED:
            self._touched.add(encode_text(run.id))
            self._fresh |= {(table, encode_text(run.id)) for table in _OF_RUNS}
            for one in _lineage(run):
                self._add_source("runs", one.sha256, one.name)
            self._forget_sources("runs")
        return change

    def add_published(self, results: Sequence[PublishedResult]) -> Change:
        """Store the published results of one file; the key is its hash.

        Raises `BadRows` where a place is taken twice or a rate is outside 0 to 1.
        """
        rows = [
            {
                "source_sha256": one.source_sha256,
                "place": one.place,
                "source": one.source,
                "benchmark": one.benchmark,
                "protocol": str(one.protocol),
                "track": one.track,
                "task_set": one.task_set,
                "model": one.model,
                "tasks": one.tasks,
                "passed": one.passed,
                "pass_rate": one.pass_rate,
                "mean_efficiency": one.mean_efficiency,
                "mean_partial": one.mean_partial,
                "mean_turns": one.mean_turns,
                "wall_seconds": one.wall_seconds,
                "mean_latency_seconds": one.mean_latency_seconds,
                "p95_latency_seconds": one.p95_latency_seconds,
                "requests": one.requests,
                **_tokens(one.usage),
                "tokens_per_pass": one.tokens_per_pass,
                "cost_per_pass_usd": one.cost_per_pass_usd,
                "error": one.error,
            }
            for one in results
        ]
        changes = set()
        for sha256, name in {one.source_sha256: one.source for one in results}.items():
            own = [row for row in rows if row["source_sha256"] == sha256]
            change = self._replace(
                f"published results {name}",
                "source_sha256",
                sha256,
                {"published_results": self._table("published_results", own)},
                moves=("source",),
            )
            if change is not Change.UNCHANGED:
                self._add_source("published", sha256, name)
            changes.add(change)
        return changes.pop() if len(changes) == 1 else Change.REPLACED

    def add_replays(self, replays: Iterable[Replay]) -> int:
        """Store replays by key and return how many were new or different.

        One that is stored already and differs in nothing but its duration is left as it is. One
        that differs (a timeout that was run again) takes the place of the old; the scores of
        runs that are judged by it should then be stored anew.
        """
        unique = {replay.key: replay for replay in replays}
        rows = [
            {
                "replay_key": replay.key,
                "outcome": str(replay.outcome),
                "final": replay.final,
                "wall_seconds": replay.wall_seconds,
                "cpu_seconds": replay.cpu_seconds,
                "confinement": replay.confinement,
                "vim_sha256": replay.vim.sha256,
                "mode": replay.mode,
                "cursor_line": None if replay.cursor is None else replay.cursor[0],
                "cursor_column": None if replay.cursor is None else replay.cursor[1],
                "buffer": replay.buffer,
                "first_error_number": None if replay.first_error is None else replay.first_error.number,
                "first_error": None if replay.first_error is None else replay.first_error.text,
                "last_error_number": None if replay.last_error is None else replay.last_error.number,
                "last_error": None if replay.last_error is None else replay.last_error.text,
                "blocked": list(replay.blocked),
                "detail": replay.detail,
            }
            for replay in unique.values()
        ]
        builds = {replay.vim.sha256: replay.vim.version for replay in unique.values()}
        vims = [{"vim_sha256": sha256, "version": version} for sha256, version in builds.items()]
        self._merge("vims", ("vim_sha256",), self._table("vims", vims))
        return self._merge(
            "replays", ("replay_key",), self._table("replays", rows), ignore=("wall_seconds", "cpu_seconds")
        )

    def add_scores(
        self,
        run: Run,
        judged: Iterable[tuple[Attempt, str | None, Score]],
        *,
        fingerprint: str | None = None,
    ) -> int:
        """Store verdicts on attempts of a run, with the key of the replay that each rests on.

        `fingerprint` names the exact version of the rules. A verdict stored earlier on the same
        attempt is replaced. Returns how many were new or different. Raises `BadRows` where an
        attempt is judged twice.
        """
        rows = [
            {
                "run_id": run.id,
                "task_id": attempt.task_id,
                "epoch": attempt.epoch,
                "attempt": attempt.attempt,
                "replay_key": replay_key,
                "protocol_fingerprint": fingerprint,
                "correct": score.correct,
                "passed": score.passed,
                "partial": score.partial,
                "efficiency": score.efficiency,
                "keystrokes": score.keystrokes,
                "over_cap": score.over_cap,
                "beats_diff": score.beats_diff,
                "source_sha256": attempt.source_sha256 or run.source_sha256,
            }
            for attempt, replay_key, score in judged
        ]
        return self._merge_of_run("scores", run, self._table("scores", rows))

    def add_costs(self, run: Run, costs: Iterable[tuple[Attempt, Cost]]) -> int:
        """Store what attempts of a run cost; returns how many rows were new or changed.

        An amount that is stored stays as it is, whatever a newer price list says: only a cost that
        was unavailable is replaced, so that adding a price changes no number of an old report.
        Raises `BadRows` where an attempt is priced twice.
        """
        rows = [
            {
                "run_id": run.id,
                "task_id": attempt.task_id,
                "epoch": attempt.epoch,
                "attempt": attempt.attempt,
                "kind": str(cost.kind),
                "usd": cost.usd,
                "low_usd": cost.low_usd,
                "high_usd": cost.high_usd,
                "gap": None if cost.gap is None else str(cost.gap),
                "price_source": cost.source,
                "price_version": cost.version,
                "price_model": cost.model,
                "price_date": cost.price_date,
            }
            for attempt, cost in costs
        ]
        table = self._table("attempt_costs", rows)
        if ("attempt_costs", encode_text(run.id)) not in self._fresh:
            with registered(self._con, table) as incoming:
                table = _arrow(
                    self._con,
                    f"FROM {incoming} ANTI JOIN (FROM attempt_costs WHERE kind <> 'unavailable'"
                    f" AND run_id = ?) USING ({', '.join(_ATTEMPT)})",
                    [encode_text(run.id)],
                )
        return self._merge_of_run("attempt_costs", run, table)

    def add_failures(self, run: Run, failed: Iterable[tuple[Attempt, Failure, Repair | None]]) -> int:
        """Store why attempts of a run failed, each with the cheapest repair that would have mended it.

        All that is stored of the run is replaced: an attempt that is not among them has not failed.
        Returns how many rows are new, different or gone. Raises `BadRows` where an attempt is there
        twice.
        """
        rows = [
            {
                "run_id": run.id,
                "task_id": attempt.task_id,
                "epoch": attempt.epoch,
                "attempt": attempt.attempt,
                "mode": str(failure.mode),
                "flags": [str(flag) for flag in failure.flags],
                "evidence": _json(failure.evidence),
                "repairable_by": None if repair is None else str(repair),
                "source_sha256": run.source_sha256,
            }
            for attempt, failure, repair in failed
        ]
        table = self._table("failures", rows)
        value = encode_text(run.id)
        gone = 0
        if ("failures", value) not in self._fresh:
            with registered(self._con, table) as incoming:
                missing = f"({', '.join(_ATTEMPT)}) NOT IN (SELECT ({', '.join(_ATTEMPT)}) FROM {incoming})"
                (gone,) = one_row(
                    self._con, f"SELECT count(*) FROM failures WHERE run_id = ? AND {missing}", [value]
                )
                if gone:
                    self._con.execute(f"DELETE FROM failures WHERE run_id = ? AND {missing}", [value])
                    self.changed = True
        return int(gone) + self._merge_of_run("failures", run, table)

    def add_rejudgements(
        self,
        judgement_id: str,
        run: Run,
        judged: Iterable[tuple[Attempt, str | None, Score]],
        *,
        vim: VimBuild,
        fingerprint: str,
    ) -> int:
        """Store a further judgement on attempts of a run, beside their scores; returns how many rows were
        new or different.

        `run` and its attempts as they were judged: with that extraction rule and those keys. Raises
        `BadRows` where an attempt is judged twice.
        """
        rows = [
            {
                "judgement_id": judgement_id,
                "run_id": run.id,
                "task_id": attempt.task_id,
                "epoch": attempt.epoch,
                "attempt": attempt.attempt,
                "vim_version": vim.version,
                "vim_sha256": vim.sha256,
                "protocol_fingerprint": fingerprint,
                "extraction": run.extraction,
                "keys": attempt.keys,
                "replay_key": replay_key,
                "correct": score.correct,
                "passed": score.passed,
                "partial": score.partial,
                "keystrokes": score.keystrokes,
            }
            for attempt, replay_key, score in judged
        ]
        value = encode_text(run.id)
        self._touched.add(value)
        key = ("judgement_id", *_ATTEMPT)
        return self._merge("rejudgements", key, self._table("rejudgements", rows), run_id=value)

    def note_run(self, run_id: str, *, suites_changed: bool) -> None:
        """Say that rows of a run, by its stored id, and maybe suites were written past these methods."""
        self.changed = True
        self._touched.add(run_id)
        self._suites_changed |= suites_changed
        self._forget_sources("runs")
        self._settle()

    def replays(self, keys: Iterable[str]) -> dict[str, Replay]:
        """The replays that the store has already, by key."""
        return read_replays(self._con, keys)

    def _table(self, table: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        def column(name: str, kind: pa.DataType) -> pa.Array:
            values = [row[name] for row in rows]
            if pa.types.is_string(kind):
                values = [None if value is None else encode_text(value) for value in values]
            elif pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
                values = [
                    None if value is None else [encode_text(item) for item in value] for value in values
                ]
            return pa.array(values, kind)

        types = self._types[table]
        return pa.table({name: column(name, kind) for name, kind in types.items()})

    def _settle(self) -> None:
        """Let go of rows that were written, once they are many: DuckDB holds those of an open transaction
        in memory, uncompressed. Nobody sees the file yet, so nothing takes effect by this."""
        if self._in_memory() - self._settled < _HELD_BYTES:
            return
        self._con.commit()
        self._con.execute("CHECKPOINT")
        self._con.begin()
        self._settled = self._in_memory()

    def _in_memory(self) -> int:
        """Bytes of rows and of long texts that are not in the file, or were read from it."""
        tags = "tag IN ('IN_MEMORY_TABLE', 'OVERFLOW_STRINGS')"
        (held,) = one_row(self._con, f"SELECT sum(memory_usage_bytes) FROM duckdb_memory() WHERE {tags}")
        return int(held)

    def _insert(self, what: str, table: str, rows: pa.Table) -> None:
        if table in KEYS:
            single = rows.group_by(list(KEYS[table])).aggregate([]).num_rows
            if single < rows.num_rows:
                raise BadRows(f"{what}: an attempt is there twice ({rows.num_rows - single} too many)")
        with registered(self._con, rows) as incoming:
            try:
                self._con.execute(f"INSERT INTO {table} BY NAME FROM {incoming}")
            except duckdb.ConstraintException as error:
                # Nothing of the load takes effect now, and an aborted transaction takes no statement.
                self._con.rollback()
                raise BadRows(f"{what}: {str(error).splitlines()[0]}") from error

    def _replace(
        self,
        what: str,
        key: str,
        value: str,
        tables: Mapping[str, pa.Table],
        *,
        moves: tuple[str, ...],
        and_from: tuple[str, ...] = (),
    ) -> Change:
        """Make the rows under one key exactly these; `moves` are columns that make no difference."""
        value = encode_text(value)
        first = next(iter(tables))
        there = one_row(self._con, f"SELECT count(*) FROM {first} WHERE {key} = ?", [value])
        known = there != (0,)
        if known and all(self._same(table, key, value, rows, ignore=moves) for table, rows in tables.items()):
            return Change.UNCHANGED
        if known:
            for table in (*tables, *and_from):
                self._con.execute(f"DELETE FROM {table} WHERE {key} = ?", [value])
        for table, rows in tables.items():
            self._insert(what, table, rows)
        self.changed = True
        self._settle()
        return Change.REPLACED if known else Change.ADDED

    def _same(self, table: str, key: str, value: str, rows: pa.Table, *, ignore: tuple[str, ...]) -> bool:
        columns = ", ".join(name for name in self._types[table] if name not in ignore)
        with registered(self._con, rows) as incoming:
            differing = one_row(
                self._con,
                f"WITH stored AS (SELECT {columns} FROM {table} WHERE {key} = ?),"
                f" given AS (SELECT {columns} FROM {incoming})"
                " SELECT (SELECT count(*) FROM (FROM stored EXCEPT ALL FROM given)),"
                " (SELECT count(*) FROM (FROM given EXCEPT ALL FROM stored))",
                [value],
            )
        return differing == (0, 0)

    def _merge_of_run(self, table: str, run: Run, rows: pa.Table) -> int:
        """`_merge` of rows that belong to one run, which need be compared with that run's alone."""
        value = encode_text(run.id)
        self._touched.add(value)
        if (table, value) not in self._fresh:
            return self._merge(table, _ATTEMPT, rows, run_id=value)
        self._fresh.discard((table, value))
        if rows.num_rows:
            self._insert(table, table, rows)
            self.changed = True
            self._settle()
        return int(rows.num_rows)

    def _merge(
        self,
        table: str,
        key: tuple[str, ...],
        rows: pa.Table,
        *,
        ignore: tuple[str, ...] = (),
        run_id: str | None = None,
    ) -> int:
        """Insert or replace by key what differs from the stored rows (of one run); how many did."""
        among, values = ("true", []) if run_id is None else ("run_id = ?", [run_id])
        columns = ", ".join(name for name in self._types[table] if name not in ignore)
        keys = ", ".join(key)
        with registered(self._con, rows) as incoming:
            self._con.execute(
                "CREATE OR REPLACE TEMP TABLE different AS"
                f" SELECT {keys} FROM (SELECT {columns} FROM {incoming}"
                f" EXCEPT SELECT {columns} FROM {table} WHERE {among})",
                values,
            )
            fresh = _arrow(self._con, f"FROM {incoming} SEMI JOIN different USING ({keys})")
        if fresh.num_rows:
            self._con.execute(
                f"DELETE FROM {table} WHERE {among} AND ({keys}) IN (SELECT ({keys}) FROM different)", values
            )
            self._insert(table, table, fresh)
            self.changed = True
        self._con.execute("DROP TABLE different")
        self._settle()
        return int(fresh.num_rows)

    def _add_source(self, kind: str, sha256: str, name: str) -> None:
        """Note the file that rows came from."""
        self._con.execute(
            "INSERT INTO sources SELECT $sha256, $kind, $name, $now WHERE NOT EXISTS"
            " (FROM sources WHERE source_sha256 = $sha256 AND kind = $kind)",
            {
                "sha256": encode_text(sha256),
                "kind": kind,
                "name": encode_text(name),
                "now": _utc(datetime.datetime.now(datetime.UTC)),
            },
        )

    def _forget_sources(self, kind: str) -> None:
        """Forget files that no row comes from any more."""
        table = {"suite": "suites", "runs": "run_sources"}[kind]
        self._con.execute(
            f"DELETE FROM sources AS s WHERE kind = ? AND NOT EXISTS"
            f" (FROM {table} AS t WHERE t.source_sha256 = s.source_sha256)",
            [kind],
        )

    def _check(self) -> None:
        """Every reference of what changed leads somewhere. Raises `BadRows` with the first that does not."""
        with registered(self._con, pa.table({"run_id": pa.array(sorted(self._touched), pa.string())})) as ids:
            every = "SELECT run_id FROM runs" if self._suites_changed else f"FROM {ids}"
            self._con.execute(f"CREATE OR REPLACE TEMP TABLE touched AS {every}")
        for meaning, missing in _REFERENCES:
            number, example = one_row(self._con, f"SELECT count(*), any_value(example) FROM ({missing})")
            if number:
                raise BadRows(f"{meaning}: {number} of them, such as {example!r}; nothing was stored")

    def _finish(self) -> None:
        self._check()
        self._con.commit()
        self._con.execute("CHECKPOINT")

    def _close(self) -> None:
        self._con.close()


_ATTEMPT = ("run_id", "task_id", "epoch", "attempt")
_OF_RUNS = ("scores", "attempt_costs", "failures")
"""Tables with rows of a run that are written after its attempts."""

_FINISHED = (AttemptStatus.ANSWERED, AttemptStatus.NOT_REPLAYABLE)


def _counting(attempts: Iterable[Attempt]) -> set[tuple[str, int, int]]:
    """Of each task and epoch the attempt that stands for it: the last finished one, else the last."""
    best: dict[tuple[str, int], tuple[bool, int]] = {}
    for one in attempts:
        place, rank = (one.task_id, one.epoch), (one.status in _FINISHED, one.attempt)
        best[place] = max(rank, best.get(place, rank))
    return {(*place, attempt) for place, (_, attempt) in best.items()}


_REFERENCES = (
    (
        "published solutions of a task that their suite does not have",
        "SELECT task_id AS example FROM published_solutions ANTI JOIN tasks USING (suite_hash, task_id)",
    ),
    (
        "runs of a suite that the store does not have",
        "SELECT run_id AS example FROM runs ANTI JOIN suites USING (suite_hash)",
    ),
    (
        "attempts at a task that the suite of their run does not have",
        "SELECT a.run_id || ' ' || a.task_id AS example"
        " FROM (FROM attempts SEMI JOIN touched USING (run_id)) AS a LEFT JOIN runs AS r USING (run_id)"
        " WHERE NOT EXISTS (FROM tasks AS t WHERE t.suite_hash = r.suite_hash AND t.task_id = a.task_id)",
    ),
    *(
        (
            f"{what} of an attempt that the store does not have",
            "SELECT run_id || ' ' || task_id AS example"
            f" FROM (FROM {table} SEMI JOIN touched USING (run_id))"
            " ANTI JOIN (FROM attempts SEMI JOIN touched USING (run_id))"
            " USING (run_id, task_id, epoch, attempt)",
        )
        for table, what in (
            ("scores", "scores"),
            ("attempt_costs", "costs"),
            ("failures", "failures"),
            ("rejudgements", "further judgements"),
        )
    ),
    (
        "scores by a replay that the store does not have",
        "SELECT run_id || ' ' || task_id AS example FROM (FROM scores SEMI JOIN touched USING (run_id))"
        " ANTI JOIN replays USING (replay_key) WHERE replay_key IS NOT NULL",
    ),
)


def _tokens(usage: TokenUsage) -> dict[str, int | float | None]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_tokens": usage.total_tokens,
        "billed_usd": usage.billed_usd,
    }


def _lineage(run: Run) -> Sequence[RunSource]:
    """The files of a run; one that does not say is of the one that it names, a solver's of none."""
    if run.sources or run.source_sha256 is None:
        return run.sources
    return (RunSource(run.source_sha256, run.source, run.created, run.status),)


def _utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)
