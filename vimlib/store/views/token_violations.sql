-- Token counts that contradict each other, as their sources report them.
--
-- Grain: one row an attempt and identity that it breaks; an identity with an unknown part is not checked.
-- Order: kind, name, run_id, the suite's task order, epoch, attempt, violation.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- task_id: the task
-- epoch: repetition of the task in the run, from 1
-- attempt: number of the attempt in its task and epoch, from 1
-- violation: the identity that does not hold: input < cache read + cache write, output < reasoning, or total <> input + output
-- input_tokens: all input tokens, cached or not; NULL: not reported
-- cache_read_tokens: of the input, read from a cache; NULL: not reported
-- cache_write_tokens: of the input, written to a cache; NULL: not reported
-- output_tokens: all output tokens; NULL: not reported
-- reasoning_tokens: of the output, spent on reasoning; NULL: not reported
-- total_tokens: input and output tokens; NULL: not reported
-- token_convention: how the source's input was read; NULL: in the normal form already
-- source_sha256: sha256 (hex) of the source file; NULL for solvers
WITH broken AS (
    SELECT *, unnest(list_filter([
        CASE WHEN input_tokens < coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)
            THEN 'input < cache read + cache write' END,
        CASE WHEN output_tokens < reasoning_tokens THEN 'output < reasoning' END,
        CASE WHEN total_tokens <> input_tokens + output_tokens THEN 'total <> input + output' END
    ], lambda found: found IS NOT NULL)) AS violation
    FROM attempts
    WHERE input_tokens < coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)
        OR output_tokens < reasoning_tokens
        OR total_tokens <> input_tokens + output_tokens
)
SELECT
    b.run_id,
    r.kind,
    r.name,
    b.task_id,
    b.epoch,
    b.attempt,
    b.violation,
    b.input_tokens,
    b.cache_read_tokens,
    b.cache_write_tokens,
    b.output_tokens,
    b.reasoning_tokens,
    b.total_tokens,
    b.token_convention,
    b.source_sha256
FROM broken AS b
JOIN runs AS r USING (run_id)
JOIN tasks AS t ON t.suite_hash = r.suite_hash AND t.task_id = b.task_id
ORDER BY r.kind, r.name, b.run_id, t.place, b.epoch, b.attempt, b.violation
