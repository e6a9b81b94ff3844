-- Where the source's own verdict differs from ours.
--
-- Grain: one row a scored sample (run_id, task_id, epoch) whose source says passed and we say not, or the reverse.
-- Order: kind, name, run_id, the suite's task order, epoch.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- protocol: golf or bench
-- task_id: the task
-- title: the task's short name, may be empty
-- epoch: repetition of the task in the run, from 1
-- attempt: the attempt that counts, from 1
-- source_correct: the source's verdict
-- passed: ours
-- correct: ours on the buffer alone, without the key cap
-- over_cap: golf only: over the key cap; NULL: no cap
-- outcome: how our replay ended; NULL: nothing was replayed
-- detail: one line on how it ended; NULL: nothing was replayed
-- keys: the answer in the protocol's notation; NULL: nothing to replay
-- source_sha256: sha256 (hex) of the source file; NULL for solvers
SELECT
    run_id,
    kind,
    name,
    suite_name,
    suite_version,
    protocol,
    task_id,
    title,
    epoch,
    attempt,
    source_correct,
    passed,
    correct,
    over_cap,
    outcome,
    detail,
    keys,
    source_sha256
FROM attempts_joined
WHERE scored AND source_correct <> passed
ORDER BY kind, name, run_id, place, epoch
