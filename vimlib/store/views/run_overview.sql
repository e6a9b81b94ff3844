-- Each run in one line: what was asked, what became of it, what passed, what it used.
--
-- Grain: one row a run, also one without attempts.
-- Order: kind, suite_name, protocol, name, run_id.
-- A sample is a (task, epoch); of its attempts one counts (attempts_scored.counts). Samples are
-- answered, provider_errors, cancelled or not_replayable; answered samples are scored or unscored.
--
-- run_id: the run
-- kind: model or solver; the two are never ranked together
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- track: single, multi (several turns) or blind (the target withheld)
-- turn_state: fresh or session; NULL: there are no turns
-- protocol_fingerprint: exact version of the rules, several joined by a comma; NULL: nothing judged, or not known
-- vim_version: Vim that replayed, several joined by a comma; NULL: nothing replayed
-- confinement: what the kernel enforced, several joined by a comma; NULL: nothing replayed
-- source: name of the source file; empty for solvers
-- source_sha256: its sha256 (hex); NULL for solvers
-- created_utc: when the run was made, UTC; NULL: not known
-- tasks_in_suite: tasks of the suite
-- errata: of them, those that cannot be judged fairly
-- errata_counted: they are in the numbers of this row; else left out of all but tasks_in_suite
-- tasks_attempted: tasks with at least one attempt
-- epochs: highest epoch; 0: no attempts
-- samples: (task, epoch) pairs attempted
-- attempts: attempts, retries included
-- answered: samples with an answer
-- provider_errors: samples where the provider or its harness failed
-- cancelled: samples that were stopped
-- not_replayable: samples with a verdict of the source but no keys
-- harness_errors: answered samples on which our replay failed: unscored
-- unscored: answered samples without a verdict, harness errors included
-- scored: answered samples with a verdict: the n of the rates
-- errors: provider_errors and unscored together: no failures of the model, and in no rate but the second
-- pass_rate: passed / scored, errors left out, 0 to 1; NULL: nothing scored
-- pass_rate_with_errors: passed / (scored + errors), errors as failures, 0 to 1; NULL: neither
-- samples_planned: (task, epoch) pairs that the run set out to answer; NULL: not known
-- samples_missing: of them, those that it has no attempt at; NULL: not known
-- correct: scored samples whose final buffer is the target
-- passed: scored samples correct and within the rules
-- passed_beats_diff: passed samples with fewer keys than the diff solver
-- beats_diff_n: scored samples of which it is known whether they passed and beat diff: all but passes without a comparison; 0: no pass was compared
-- over_cap: scored samples over the key cap; NULL: no cap in this protocol
-- correct_over_cap: of them, correct ones; NULL: no cap in this protocol
-- finished: answered samples whose replay finished
-- unfinished: answered samples whose keys ran out while Vim waited
-- timeouts: answered samples whose replay met the limit of time or output
-- crashed: answered samples whose Vim died
-- bad_keys: answered samples in broken notation
-- blocked: answered samples that tried what confinement forbids
-- not_replayed: answered samples without a replay: no keys, or not judged yet
-- mean_efficiency: efficiency, 0 to 1, averaged over passes that have a reference; NULL: none
-- efficiency_n: passes it is averaged over
-- mean_partial: likeness of final to target, 0 to 1, averaged over scored samples; NULL: none
-- partial_n: samples it is averaged over
-- input_tokens: input tokens summed over all attempts that report them; NULL: none does
-- input_tokens_n: attempts that report them
-- output_tokens: output tokens summed likewise; NULL: none reports them
-- output_tokens_n: attempts that report them
-- total_tokens: input and output tokens summed likewise; NULL: none reports them
-- total_tokens_n: attempts that report them
-- billed_usd: US dollars billed, summed likewise; NULL: none reports them
-- billed_usd_n: attempts that report them
-- seconds: time to the answers, summed over all attempts that report it; NULL: none does
-- seconds_n: attempts that report it
-- source_verdicts: scored samples for which the source has its own verdict
-- disagreements: of them, those where it differs from ours (passed)
WITH
per_run AS (
    SELECT
        run_id,
        string_agg(DISTINCT protocol_fingerprint, ', ' ORDER BY protocol_fingerprint) AS protocol_fingerprint,
        string_agg(DISTINCT vim_version, ', ' ORDER BY vim_version) AS vim_version,
        string_agg(DISTINCT confinement, ', ' ORDER BY confinement) AS confinement,
        count(DISTINCT task_id) AS tasks_attempted,
        max(epoch) AS epochs,
        count(*) FILTER (counts) AS samples,
        count(*) AS attempts,
        count(*) FILTER (counts AND status = 'answered') AS answered,
        count(*) FILTER (counts AND status = 'provider_error') AS provider_errors,
        count(*) FILTER (counts AND status = 'cancelled') AS cancelled,
        count(*) FILTER (counts AND status = 'not_replayable') AS not_replayable,
        count(*) FILTER (counts AND status = 'answered' AND NOT scored AND outcome = 'harness_error')
            AS harness_errors,
        count(*) FILTER (counts AND status = 'answered' AND NOT scored) AS unscored,
        count(*) FILTER (scored) AS scored,
        count(*) FILTER (scored AND correct) AS correct,
        count(*) FILTER (scored AND passed) AS passed,
        count(*) FILTER (scored AND passed AND beats_diff) AS passed_beats_diff,
        CASE
            WHEN count(*) FILTER (scored AND passed) > 0
                AND count(beats_diff) FILTER (scored AND passed) = 0 THEN 0
            ELSE count(*) FILTER (scored AND (beats_diff IS NOT NULL OR NOT passed))
        END AS beats_diff_n,
        count(*) FILTER (scored AND over_cap) AS over_cap,
        count(*) FILTER (scored AND over_cap AND correct) AS correct_over_cap,
        count(*) FILTER (counts AND status = 'answered' AND outcome = 'finished') AS finished,
        count(*) FILTER (counts AND status = 'answered' AND outcome = 'unfinished') AS unfinished,
        count(*) FILTER (counts AND status = 'answered' AND outcome = 'timeout') AS timeouts,
        count(*) FILTER (counts AND status = 'answered' AND outcome = 'crashed') AS crashed,
        count(*) FILTER (counts AND status = 'answered' AND outcome = 'bad_keys') AS bad_keys,
        count(*) FILTER (counts AND status = 'answered' AND outcome = 'blocked') AS blocked,
        count(*) FILTER (counts AND status = 'answered' AND outcome IS NULL) AS not_replayed,
        avg(efficiency) FILTER (scored AND passed) AS mean_efficiency,
        count(efficiency) FILTER (scored AND passed) AS efficiency_n,
        avg(partial) FILTER (scored) AS mean_partial,
        count(partial) FILTER (scored) AS partial_n,
        CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
        count(input_tokens) AS input_tokens_n,
        CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
        count(output_tokens) AS output_tokens_n,
        CAST(sum(total_tokens) AS BIGINT) AS total_tokens,
        count(total_tokens) AS total_tokens_n,
        sum(billed_usd) AS billed_usd,
        count(billed_usd) AS billed_usd_n,
        sum(seconds) AS seconds,
        count(seconds) AS seconds_n,
        count(*) FILTER (scored AND source_correct IS NOT NULL) AS source_verdicts,
        count(*) FILTER (scored AND source_correct <> passed) AS disagreements
    FROM attempts_joined
    GROUP BY run_id
),
sizes AS (
    SELECT suite_hash, count(*) AS tasks_in_suite, count(erratum) AS errata FROM tasks GROUP BY suite_hash
)
SELECT
    r.run_id,
    r.kind,
    r.name,
    u.name AS suite_name,
    u.version AS suite_version,
    r.suite_hash,
    r.protocol,
    r.track,
    r.turn_state,
    p.protocol_fingerprint,
    p.vim_version,
    p.confinement,
    r.source,
    r.source_sha256,
    r.created_utc,
    coalesce(z.tasks_in_suite, 0) AS tasks_in_suite,
    coalesce(z.errata, 0) AS errata,
    (SELECT counted FROM errata_counted) AS errata_counted,
    coalesce(p.tasks_attempted, 0) AS tasks_attempted,
    coalesce(p.epochs, 0) AS epochs,
    coalesce(p.samples, 0) AS samples,
    coalesce(p.attempts, 0) AS attempts,
    coalesce(p.answered, 0) AS answered,
    coalesce(p.provider_errors, 0) AS provider_errors,
    coalesce(p.cancelled, 0) AS cancelled,
    coalesce(p.not_replayable, 0) AS not_replayable,
    coalesce(p.harness_errors, 0) AS harness_errors,
    coalesce(p.unscored, 0) AS unscored,
    coalesce(p.scored, 0) AS scored,
    coalesce(p.provider_errors + p.unscored, 0) AS errors,
    p.passed / nullif(p.scored, 0) AS pass_rate,
    p.passed / nullif(p.scored + p.provider_errors + p.unscored, 0) AS pass_rate_with_errors,
    r.samples_planned,
    CASE WHEN NOT (SELECT counted FROM errata_counted) AND z.errata > 0 THEN NULL
        ELSE greatest(r.samples_planned - coalesce(p.samples, 0), 0) END AS samples_missing,
    coalesce(p.correct, 0) AS correct,
    coalesce(p.passed, 0) AS passed,
    coalesce(p.passed_beats_diff, 0) AS passed_beats_diff,
    coalesce(p.beats_diff_n, 0) AS beats_diff_n,
    CASE WHEN r.protocol = 'golf' THEN coalesce(p.over_cap, 0) END AS over_cap,
    CASE WHEN r.protocol = 'golf' THEN coalesce(p.correct_over_cap, 0) END AS correct_over_cap,
    coalesce(p.finished, 0) AS finished,
    coalesce(p.unfinished, 0) AS unfinished,
    coalesce(p.timeouts, 0) AS timeouts,
    coalesce(p.crashed, 0) AS crashed,
    coalesce(p.bad_keys, 0) AS bad_keys,
    coalesce(p.blocked, 0) AS blocked,
    coalesce(p.not_replayed, 0) AS not_replayed,
    p.mean_efficiency,
    coalesce(p.efficiency_n, 0) AS efficiency_n,
    p.mean_partial,
    coalesce(p.partial_n, 0) AS partial_n,
    p.input_tokens,
    coalesce(p.input_tokens_n, 0) AS input_tokens_n,
    p.output_tokens,
    coalesce(p.output_tokens_n, 0) AS output_tokens_n,
    p.total_tokens,
    coalesce(p.total_tokens_n, 0) AS total_tokens_n,
    p.billed_usd,
    coalesce(p.billed_usd_n, 0) AS billed_usd_n,
    p.seconds,
    coalesce(p.seconds_n, 0) AS seconds_n,
    coalesce(p.source_verdicts, 0) AS source_verdicts,
    coalesce(p.disagreements, 0) AS disagreements
FROM runs AS r
JOIN suites AS u USING (suite_hash)
LEFT JOIN sizes AS z ON z.suite_hash = r.suite_hash
LEFT JOIN per_run AS p ON p.run_id = r.run_id
ORDER BY r.kind, u.name, r.protocol, r.name, r.run_id
