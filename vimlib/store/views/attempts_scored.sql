-- Every attempt with its run, task, replay and verdict, joined by key.
--
-- Grain: one row an attempt (run_id, task_id, epoch, attempt); tasks with an erratum only if they are
-- to count (errata_counted).
-- Order: kind, run name, run_id, the suite's task order, epoch, attempt.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- track: single, multi (several turns) or blind (the target withheld)
-- turn_state: fresh or session; NULL: there are no turns
-- task_id: the task
-- place: the task's place in its suite, from 1
-- title: the task's short name, may be empty
-- tier: 1 to 4; NULL: the suite has none
-- category: finer kind than the tier; NULL: none
-- task_created: date the task was published; NULL: not known
-- reference: keys known to solve the task, in reference_notation; NULL: none known
-- reference_notation: golf or bench
-- erratum: why the task cannot be judged fairly; NULL: nothing is known against it
-- epoch: repetition of the task in the run, from 1
-- attempt: number of the attempt in its task and epoch, from 1
-- status: answered, provider_error, cancelled or not_replayable
-- counts: this attempt stands for its task and epoch: the last finished one (answered or not replayable), or the last of all where none finished
-- scored: it counts, was answered and has a verdict: the rows that rates are taken over
-- keys: the answer in the protocol's notation; NULL: nothing to replay
-- turns: the keys of each turn; NULL: there are no turns
-- stop_reason: why the model stopped; NULL: not known
-- error: the provider's or harness's message; NULL: none
-- replay_key: the replay that was judged; NULL: none
-- outcome: how the replay ended; NULL: nothing was replayed
-- detail: one line on how it ended; NULL: nothing was replayed
-- mode: Vim's mode(1) at the end; NULL: not reported
-- first_error_number: number of Vim's first error; NULL: none
-- first_error: text of Vim's first error; NULL: none
-- replay_seconds: duration of the replay, seconds; NULL: nothing was replayed
-- vim_version: Vim that replayed; NULL: nothing was replayed
-- confinement: what the kernel enforced during the replay; NULL: nothing was replayed
-- correct: the final buffer is the target; NULL: unscored
-- passed: correct and within the rules; NULL: unscored
-- partial: likeness of final to target, 0 to 1; NULL: unscored
-- efficiency: 0 to 1, 0 on a failure; NULL: no reference, or unscored
-- keystrokes: length of the answer (golf: keys; bench: bytes); NULL: not counted
-- over_cap: golf only: over the key cap; NULL: no cap
-- beats_diff: fewer keys than the diff solver; NULL: no comparison
-- input_tokens: all input tokens; NULL: not reported
-- cache_read_tokens: of the input, read from a cache; NULL: not reported
-- cache_write_tokens: of the input, written to a cache; NULL: not reported
-- output_tokens: all output tokens; NULL: not reported
-- reasoning_tokens: of the output, spent on reasoning; NULL: not reported
-- total_tokens: input and output tokens; NULL: not reported
-- billed_usd: billed by the provider, US dollars; NULL: not reported
-- seconds: time to the answer, seconds; NULL: not known
-- source_correct: the source's own verdict; NULL: none
-- protocol_fingerprint: exact version of the rules; NULL: not judged, or not known
-- source_sha256: sha256 (hex) of the source file; NULL for solvers
-- failure_mode: why it failed; NULL: it did not, or is unscored
-- repairable_by: the cheapest repair that turns the failure into a pass; NULL: none does, or it did not fail
SELECT
    a.run_id,
    r.kind,
    r.name,
    u.name AS suite_name,
    u.version AS suite_version,
    r.suite_hash,
    r.protocol,
    r.track,
    r.turn_state,
    a.task_id,
    t.place,
    t.title,
    t.tier,
    t.category,
    t.created AS task_created,
    t.reference,
    t.reference_notation,
    t.erratum,
    a.epoch,
    a.attempt,
    a.status,
    row_number() OVER (
        PARTITION BY a.run_id, a.task_id, a.epoch
        ORDER BY a.status IN ('answered', 'not_replayable') DESC, a.attempt DESC
    ) = 1 AS counts,
    counts AND a.status = 'answered' AND s.passed IS NOT NULL AS scored,
    a.keys,
    a.turns,
    a.stop_reason,
    a.error,
    s.replay_key,
    p.outcome,
    p.detail,
    p.mode,
    p.first_error_number,
    p.first_error,
    p.wall_seconds AS replay_seconds,
    v.version AS vim_version,
    p.confinement,
    s.correct,
    s.passed,
    s.partial,
    s.efficiency,
    s.keystrokes,
    s.over_cap,
    s.beats_diff,
    a.input_tokens,
    a.cache_read_tokens,
    a.cache_write_tokens,
    a.output_tokens,
    a.reasoning_tokens,
    a.total_tokens,
    a.billed_usd,
    a.seconds,
    a.source_correct,
    s.protocol_fingerprint,
    a.source_sha256,
    f.mode AS failure_mode,
    f.repairable_by
FROM attempts AS a
JOIN runs AS r USING (run_id)
JOIN suites AS u ON u.suite_hash = r.suite_hash
JOIN tasks AS t ON t.suite_hash = r.suite_hash AND t.task_id = a.task_id
LEFT JOIN scores AS s
    ON s.run_id = a.run_id AND s.task_id = a.task_id AND s.epoch = a.epoch AND s.attempt = a.attempt
LEFT JOIN failures AS f
    ON f.run_id = a.run_id AND f.task_id = a.task_id AND f.epoch = a.epoch AND f.attempt = a.attempt
LEFT JOIN replays AS p ON p.replay_key = s.replay_key
LEFT JOIN vims AS v ON v.vim_sha256 = p.vim_sha256
WHERE t.erratum IS NULL OR (SELECT counted FROM errata_counted)
ORDER BY r.kind, r.name, a.run_id, t.place, a.epoch, a.attempt
