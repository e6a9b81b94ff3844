-- Each run per tier of its suite.
--
-- Grain: one row a run and tier that it attempted; tasks without a tier are a row with tier NULL.
-- Order: kind, suite_name, protocol, name, run_id, tier (NULL last).
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- tier: 1 to 4; NULL: tasks without one
-- tasks_in_tier: tasks of the suite in this tier
-- tasks_attempted: of them, tasks with at least one attempt
-- samples: (task, epoch) pairs attempted
-- provider_errors: samples where the provider or its harness failed
-- unscored: answered samples without a verdict
-- scored: samples with a verdict: the n of the rates
-- errors: provider_errors and unscored together
-- pass_rate: passed / scored, errors left out, 0 to 1; NULL: nothing scored
-- pass_rate_with_errors: passed / (scored + errors), errors as failures, 0 to 1; NULL: neither
-- correct: scored samples whose final buffer is the target
-- passed: scored samples correct and within the rules
-- passed_beats_diff: passed samples with fewer keys than the diff solver
-- beats_diff_n: scored samples of which it is known whether they passed and beat diff: all but passes without a comparison; 0: no pass was compared
-- mean_efficiency: efficiency, 0 to 1, averaged over passes that have a reference; NULL: none
-- efficiency_n: passes it is averaged over
-- mean_partial: likeness of final to target, 0 to 1, over scored samples; NULL: none
-- partial_n: samples it is averaged over
WITH sizes AS (
    SELECT suite_hash, tier, count(*) AS tasks_in_tier
    FROM tasks
    WHERE erratum IS NULL OR (SELECT counted FROM errata_counted)
    GROUP BY suite_hash, tier
)
SELECT
    a.run_id,
    a.kind,
    a.name,
    a.suite_name,
    a.suite_version,
    a.suite_hash,
    a.protocol,
    a.tier,
    any_value(z.tasks_in_tier) AS tasks_in_tier,
    count(DISTINCT a.task_id) AS tasks_attempted,
    count(*) FILTER (counts) AS samples,
    count(*) FILTER (counts AND status = 'provider_error') AS provider_errors,
    count(*) FILTER (counts AND status = 'answered' AND NOT scored) AS unscored,
    count(*) FILTER (scored) AS scored,
    provider_errors + unscored AS errors,
    count(*) FILTER (scored AND passed) / nullif(count(*) FILTER (scored), 0) AS pass_rate,
    count(*) FILTER (scored AND passed) / nullif(count(*) FILTER (scored) + provider_errors + unscored, 0)
        AS pass_rate_with_errors,
    count(*) FILTER (scored AND correct) AS correct,
    count(*) FILTER (scored AND passed) AS passed,
    count(*) FILTER (scored AND passed AND beats_diff) AS passed_beats_diff,
    CASE
        WHEN count(*) FILTER (scored AND passed) > 0
            AND count(beats_diff) FILTER (scored AND passed) = 0 THEN 0
        ELSE count(*) FILTER (scored AND (beats_diff IS NOT NULL OR NOT passed))
    END AS beats_diff_n,
    avg(efficiency) FILTER (scored AND passed) AS mean_efficiency,
    count(efficiency) FILTER (scored AND passed) AS efficiency_n,
    avg(partial) FILTER (scored) AS mean_partial,
    count(partial) FILTER (scored) AS partial_n
FROM attempts_joined AS a
JOIN sizes AS z ON z.suite_hash = a.suite_hash AND z.tier IS NOT DISTINCT FROM a.tier
GROUP BY ALL
ORDER BY a.kind, a.suite_name, a.protocol, a.name, a.run_id, a.tier NULLS LAST
