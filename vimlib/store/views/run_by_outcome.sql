-- Each run per way that its replays ended.
--
-- Grain: one row a run, status and outcome that occurs, over the samples (task, epoch) of the run.
-- Order: kind, suite_name, protocol, name, run_id, samples descending, status, outcome.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- status: what became of the request: answered, provider_error, cancelled or not_replayable
-- outcome: how the replay ended; NULL: nothing was replayed
-- samples: (task, epoch) pairs
-- scored: of them, with a verdict
-- correct: of them, with the target as final buffer
-- passed: of them, correct and within the rules
SELECT
    run_id,
    kind,
    name,
    suite_name,
    suite_version,
    suite_hash,
    protocol,
    status,
    outcome,
    count(*) AS samples,
    count(*) FILTER (scored) AS scored,
    count(*) FILTER (scored AND correct) AS correct,
    count(*) FILTER (scored AND passed) AS passed
FROM attempts_joined
WHERE counts
GROUP BY ALL
ORDER BY kind, suite_name, protocol, name, run_id, samples DESC, status, outcome NULLS LAST
