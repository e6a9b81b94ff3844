-- Each task of each run with how its samples came out: what intervals that cluster by task are made of.
--
-- Grain: one row a run and task that it attempted; over epochs the attempt that counts.
-- Order: run_id, the suite's task order.
--
-- run_id: the run
-- task_id: the task
-- tier: 1 to 4; NULL: the suite has none
-- scored: samples with a verdict
-- errors: samples where the provider, its harness or our replay failed
-- passed: scored samples correct and within the rules
-- compared: scored samples of which it is known whether they passed with fewer keys than diff: all but passes without a comparison
-- beats_diff: passed samples with fewer keys than the diff solver
-- passes_compared: passed samples with a comparison
SELECT
    run_id,
    task_id,
    tier,
    count(*) FILTER (scored) AS scored,
    count(*) FILTER (status IN ('provider_error', 'answered') AND NOT scored) AS errors,
    count(*) FILTER (scored AND passed) AS passed,
    count(*) FILTER (scored AND (beats_diff IS NOT NULL OR NOT passed)) AS compared,
    count(*) FILTER (scored AND passed AND beats_diff) AS beats_diff,
    count(*) FILTER (scored AND passed AND beats_diff IS NOT NULL) AS passes_compared
FROM attempts_joined
WHERE counts
GROUP BY run_id, task_id, tier, place
ORDER BY run_id, place
