-- Every further judgement of an attempt beside the verdict that counts.
--
-- Grain: one row a further judgement and attempt (judgement_id, run_id, task_id, epoch, attempt) of the
-- attempts that count; tasks with an erratum only if they are to count.
-- Order: judgement_id, kind, name, run_id, the suite's task order, epoch.
--
-- judgement_id: what it was judged by: Vim, rules, extraction
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- protocol: golf or bench
-- task_id: the task
-- title: the task's short name, may be empty
-- epoch: repetition of the task in the run, from 1
-- attempt: the attempt that counts, from 1
-- vim_version: Vim that replayed for the verdict that counts; NULL: nothing was replayed
-- new_vim_version: Vim of the further judgement
-- extraction: rule that took the keys for the verdict that counts; empty for solvers
-- new_extraction: rule of the further judgement
-- rules_differ: it was judged by another version of the rules, of which Vim is a part
-- keys: the answer in the protocol's notation; NULL: nothing to replay
-- new_keys: the keys of the further judgement; NULL: nothing to replay
-- outcome: how the replay ended; NULL: nothing was replayed
-- new_outcome: how the replay of the further judgement ended; NULL: nothing was replayed
-- passed: the verdict that counts; NULL: unscored
-- new_passed: the further verdict; NULL: unscored
-- partial: likeness of final to target, 0 to 1; NULL: unscored
-- new_partial: likeness of the further judgement; NULL: unscored
-- same_file: both replays left the same file; NULL: one of them was not replayed
SELECT
    j.judgement_id,
    j.run_id,
    a.kind,
    a.name,
    a.suite_name,
    a.protocol,
    j.task_id,
    a.title,
    j.epoch,
    j.attempt,
    a.vim_version,
    j.vim_version AS new_vim_version,
    r.extraction,
    j.extraction AS new_extraction,
    a.protocol_fingerprint IS DISTINCT FROM j.protocol_fingerprint AS rules_differ,
    a.keys,
    j.keys AS new_keys,
    a.outcome,
    p.outcome AS new_outcome,
    a.passed,
    j.passed AS new_passed,
    a.partial,
    j.partial AS new_partial,
    CASE WHEN o.replay_key IS NOT NULL AND p.replay_key IS NOT NULL
        THEN o.final IS NOT DISTINCT FROM p.final END AS same_file
FROM rejudgements AS j
JOIN attempts_scored AS a
    ON a.run_id = j.run_id AND a.task_id = j.task_id AND a.epoch = j.epoch AND a.attempt = j.attempt
JOIN runs AS r ON r.run_id = j.run_id
LEFT JOIN replays AS o ON o.replay_key = a.replay_key
LEFT JOIN replays AS p ON p.replay_key = j.replay_key
WHERE a.counts
ORDER BY j.judgement_id, a.kind, a.name, j.run_id, a.place, j.epoch
