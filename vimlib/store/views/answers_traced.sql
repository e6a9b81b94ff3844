-- Every answer that stands for its task and epoch, with what is needed to ask whether the task had been seen.
--
-- Grain: one row an attempt that counts (run_id, task_id, epoch); tasks with an erratum only if they are
-- to count (errata_counted). Answers that were not scored are in it.
-- Order: kind, name, run_id, the suite's task order, epoch.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- protocol: golf or bench
-- track: single, multi or blind
-- prompt_version: version of the prompt; NULL: not known
-- settings: generation settings, a JSON object
-- suite_name: suite of the run
-- suite_hash: its hash
-- task_id: the task
-- task_key: the task by id and content, as twins name their original: id, #, 12 hex digits
-- twin_of: of a twin, the task_key of its original; NULL: it is no twin
-- title: the task's short name, may be empty
-- instruction: what the solver is told to do, may be empty
-- start: the buffer before the edit
-- target: the buffer after it
-- tier: 1 to 4; NULL: the suite has none
-- created: date the task was published; NULL: not known
-- entries: solutions entered on the public site; NULL: not known
-- golfers: people who entered one; NULL: not known
-- best_score: fewest keys entered there; NULL: not known
-- diff_keys: keys of the diff solver's right answer under the same protocol; NULL: it has none, or it did not run
-- epoch: repetition of the task in the run, from 1
-- scored: it was answered and has a verdict
-- passed: correct and within the rules; NULL: unscored
-- correct: the final buffer is the target; NULL: unscored
-- keys: the answer in the protocol's notation; NULL: nothing to replay
SELECT
    a.run_id,
    a.kind,
    a.name,
    a.protocol,
    a.track,
    r.prompt_version,
    r.settings,
    a.suite_name,
    a.suite_hash,
    a.task_id,
    a.task_id || '#' || left(sha256(length(t.start)::VARCHAR || ':' || t.start || t.target), 12) AS task_key,
    t.twin_of,
    a.title,
    t.instruction,
    t.start,
    t.target,
    a.tier,
    t.created,
    t.entries,
    t.golfers,
    t.best_score,
    d.diff_keys,
    a.epoch,
    a.scored,
    a.passed,
    a.correct,
    a.keys
FROM attempts_scored AS a
JOIN runs AS r USING (run_id)
JOIN tasks AS t ON t.suite_hash = a.suite_hash AND t.task_id = a.task_id
LEFT JOIN (
    SELECT suite_hash, protocol, task_id, min(keystrokes) AS diff_keys
    FROM attempts_scored
    WHERE kind = 'solver' AND name = 'diff' AND correct
    GROUP BY ALL
) AS d ON d.suite_hash = a.suite_hash AND d.protocol = a.protocol AND d.task_id = a.task_id
WHERE a.counts
ORDER BY a.kind, a.name, a.run_id, a.place, a.epoch
