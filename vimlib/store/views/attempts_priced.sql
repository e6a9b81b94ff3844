-- Every attempt of a model with its tokens, its time, its verdict and what it cost at the prices of then.
--
-- Grain: one row an attempt of a run of kind model; tasks with an erratum only if they are to count.
-- Order: suite name, protocol, run name, run_id, the suite's task order, epoch, attempt.
--
-- run_id: the run
-- name: model as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- track: single, multi (several turns) or blind (the target withheld)
-- created_utc: when the run was made, UTC; NULL: not known
-- settings: generation settings, a JSON object
-- source: name of the source file
-- task_id: the task
-- place: the task's place in its suite, from 1
-- epoch: repetition of the task in the run, from 1
-- attempt: number of the attempt in its task and epoch, from 1
-- status: answered, provider_error, cancelled or not_replayable
-- counts: this attempt stands for its task and epoch
-- scored: it counts, was answered and has a verdict
-- passed: correct and within the rules; NULL: unscored
-- failure_mode: why it failed, the first rule that applies; NULL: it passed, or is not classified
-- stop_reason: why the model stopped; NULL: not known
-- input_tokens: all input tokens, cached or not; NULL: not reported
-- cache_read_tokens: of the input, read from a cache; NULL: not reported
-- cache_write_tokens: of the input, written to a cache; NULL: not reported
-- output_tokens: all output tokens; NULL: not reported
-- reasoning_tokens: of the output, spent on reasoning; NULL: not reported
-- total_tokens: input and output tokens; NULL: not reported
-- token_convention: how the source's input tokens were brought into this form; NULL: no tokens reported, or never in another
-- billed_usd: billed by the provider, US dollars; NULL: not reported
-- seconds: time to the answer, seconds; NULL: not known
-- request_seconds: multi-turn: time of each request, seconds; NULL: there was one, which took seconds, or not known
-- waiting_seconds: time that the attempt waited besides, seconds; NULL: not known
-- cost_kind: billed, estimated or unavailable; NULL: not priced yet
-- cost_usd: the amount, US dollars; NULL: unavailable, or only the range is known
-- cost_low_usd: the least that it can have been, US dollars; NULL: unavailable
-- cost_high_usd: the most, US dollars; NULL: unavailable
-- cost_gap: why the cost is unavailable; NULL: it is not
-- price_source: billed, the package with the price list, or the name of the price file; NULL: unavailable
-- price_version: version of the package or of the file; NULL: billed, or unavailable
-- price_model: the list's own entry; NULL: billed, or unavailable
-- price_date: day whose prices were taken; NULL: billed, unavailable, or not dated
SELECT
    a.run_id,
    a.name,
    a.suite_name,
    a.suite_version,
    a.suite_hash,
    a.protocol,
    a.track,
    r.created_utc,
    r.settings,
    r.source,
    a.task_id,
    a.place,
    a.epoch,
    a.attempt,
    a.status,
    a.counts,
    a.scored,
    a.passed,
    a.failure_mode,
    a.stop_reason,
    a.input_tokens,
    a.cache_read_tokens,
    a.cache_write_tokens,
    a.output_tokens,
    a.reasoning_tokens,
    a.total_tokens,
    t.token_convention,
    a.billed_usd,
    a.seconds,
    t.request_seconds,
    t.waiting_seconds,
    c.kind AS cost_kind,
    c.usd AS cost_usd,
    c.low_usd AS cost_low_usd,
    c.high_usd AS cost_high_usd,
    c.gap AS cost_gap,
    c.price_source,
    c.price_version,
    c.price_model,
    c.price_date
FROM attempts_joined AS a
JOIN runs AS r USING (run_id)
JOIN attempts AS t
    ON t.run_id = a.run_id AND t.task_id = a.task_id AND t.epoch = a.epoch AND t.attempt = a.attempt
LEFT JOIN attempt_costs AS c
    ON c.run_id = a.run_id AND c.task_id = a.task_id AND c.epoch = a.epoch AND c.attempt = a.attempt
WHERE a.kind = 'model'
ORDER BY a.suite_name, a.protocol, a.name, a.run_id, a.place, a.epoch, a.attempt
