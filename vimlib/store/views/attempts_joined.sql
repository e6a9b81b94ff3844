-- What attempts_scored is made of, without its order: sums over many runs need none.
--
-- Grain: that of attempts_scored.
-- Order: none.
-- Columns: those of attempts_scored.
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
    a.counts,
    a.counts AND a.status = 'answered' AND s.passed IS NOT NULL AS scored,
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
    length(t.target) AS target_length,
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
