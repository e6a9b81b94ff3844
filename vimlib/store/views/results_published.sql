-- Results as others published them. Nothing in them was replayed, and they are ranked with nothing.
--
-- Grain: one row a file and place in it.
-- Order: benchmark, track, task_set, passed descending, model.
--
-- benchmark: vimbench or vimgolf
-- protocol: golf or bench
-- track: track of the benchmark; NULL: not said
-- task_set: set of tasks; NULL: not said
-- model: as published
-- tasks: tasks attempted; NULL: not published
-- passed: tasks passed; NULL: not published
-- pass_rate: as published, 0 to 1; NULL: not published
-- mean_efficiency: over passes, 0 to 1; NULL: not published
-- mean_partial: 0 to 1; NULL: not published
-- mean_turns: turns a task; NULL: not published
-- wall_seconds: for the whole run, seconds; NULL: not published
-- mean_latency_seconds: seconds to an answer; NULL: not published
-- p95_latency_seconds: 95th percentile of the seconds to an answer; NULL: not published
-- total_tokens: input and output tokens; NULL: not published
-- tokens_per_pass: total tokens over passes; NULL: not published
-- cost_per_pass_usd: US dollars over passes, the publisher's estimate; NULL: not published
-- error: why there is no result; NULL: there is one
-- replayable: always false: there are no answers
-- source: name of the file
-- source_sha256: its sha256 (hex)
SELECT
    benchmark,
    protocol,
    track,
    task_set,
    model,
    tasks,
    passed,
    pass_rate,
    mean_efficiency,
    mean_partial,
    mean_turns,
    wall_seconds,
    mean_latency_seconds,
    p95_latency_seconds,
    total_tokens,
    tokens_per_pass,
    cost_per_pass_usd,
    error,
    false AS replayable,
    source,
    source_sha256
FROM published_results
ORDER BY benchmark, track NULLS LAST, task_set NULLS LAST, passed DESC NULLS LAST, model, source_sha256, place
