-- Every failed sample with why it failed and what would have mended it.
--
-- Grain: one row a failed sample (run_id, task_id, epoch), by the attempt that counts; requests lost to
-- the provider are among them (failure_mode provider_error) and are no failures of the model.
-- Order: kind, name, run_id, the suite's task order, epoch.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- task_id: the task
-- place: the task's place in its suite, from 1
-- title: the task's short name, may be empty
-- tier: 1 to 4; NULL: the suite has none
-- category: finer kind than the tier; NULL: none
-- instruction: what the model was told to do; empty: nothing
-- start: the buffer before the edit, as the suite gives it
-- target: the buffer after it, as the suite gives it
-- reference: keys known to solve the task, in reference_notation; NULL: none known
-- reference_notation: golf or bench
-- epoch: repetition of the task in the run, from 1
-- attempt: the attempt that counts, from 1
-- completion: the model's whole text; NULL: there was none
-- keys: the answer in the protocol's notation; NULL: nothing to replay
-- turns: the keys of each turn; NULL: there are no turns
-- keystrokes: length of the answer (golf: keys; bench: bytes); NULL: not counted
-- target_length: characters of the target
-- failure_mode: why it failed
-- flags: what else is true of it
-- evidence: what decided it and how near it was: a JSON object
-- repairable_by: the cheapest repair that turns it into a pass; NULL: none does
-- correct: the final buffer is the target; NULL: unscored
-- outcome: how the replay ended; NULL: nothing was replayed
-- mode: Vim's mode(1) at the end; NULL: not reported
-- first_error_number: number of Vim's first error; NULL: none
-- first_error: text of Vim's first error; NULL: none
-- final: the file afterwards, the bytes as they were; NULL: none was left, or nothing was replayed
-- buffer: the buffer in memory where it differs from the file; NULL: it does not, or not reported
SELECT
    s.run_id,
    s.kind,
    s.name,
    s.suite_name,
    s.suite_version,
    s.suite_hash,
    s.protocol,
    s.task_id,
    s.place,
    s.title,
    s.tier,
    s.category,
    t.instruction,
    t.start,
    t.target,
    s.reference,
    s.reference_notation,
    s.epoch,
    s.attempt,
    a.completion,
    s.keys,
    s.turns,
    s.keystrokes,
    length(t.target) AS target_length,
    f.mode AS failure_mode,
    f.flags,
    f.evidence,
    f.repairable_by,
    s.correct,
    s.outcome,
    s.mode,
    s.first_error_number,
    s.first_error,
    p.final,
    p.buffer
FROM attempts_joined AS s
JOIN failures AS f USING (run_id, task_id, epoch, attempt)
JOIN attempts AS a USING (run_id, task_id, epoch, attempt)
JOIN tasks AS t ON t.suite_hash = s.suite_hash AND t.task_id = s.task_id
LEFT JOIN replays AS p ON p.replay_key = s.replay_key
WHERE s.counts
ORDER BY s.kind, s.name, s.run_id, s.place, s.epoch
