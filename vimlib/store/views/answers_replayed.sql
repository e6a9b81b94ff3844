-- Every answer that counts, passed or failed, with all that is needed to play it again, and what that left.
--
-- Grain: one row an attempt that counts (run_id, task_id, epoch); tasks with an erratum only if they are to
-- count (errata_counted).
-- Order: kind, name, run_id, the suite's task order, epoch.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- protocol: golf or bench
-- track: single, multi (several turns) or blind (the target withheld)
-- task_id: the task
-- title: the task's short name, may be empty
-- instruction: what the solver was told to do, may be empty
-- start: the buffer before the edit, as the suite gives it
-- target: the buffer after it, as the suite gives it
-- epoch: repetition of the task in the run, from 1
-- attempt: the attempt that counts, from 1
-- keys: the answer in the protocol's notation; NULL: nothing to replay
-- turns: the keys of each turn; NULL: there are no turns
-- passed: correct and within the rules; NULL: unscored
-- outcome: how the replay ended; NULL: nothing was replayed
-- mode: Vim's mode(1) at the end; NULL: not reported
-- final: the file afterwards, the bytes as they were; NULL: none was left, or nothing was replayed
-- buffer: the buffer in memory where it differs from the file; NULL: it does not, or not reported
SELECT
    s.run_id,
    s.kind,
    s.name,
    s.protocol,
    s.track,
    s.task_id,
    s.title,
    t.instruction,
    t.start,
    t.target,
    s.epoch,
    s.attempt,
    s.keys,
    s.turns,
    s.passed,
    s.outcome,
    s.mode,
    p.final,
    p.buffer
FROM attempts_joined AS s
JOIN tasks AS t ON t.suite_hash = s.suite_hash AND t.task_id = s.task_id
LEFT JOIN replays AS p ON p.replay_key = s.replay_key
WHERE s.counts
ORDER BY s.kind, s.name, s.run_id, s.place, s.epoch
