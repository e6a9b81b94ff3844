-- Each run with the files that it comes from: a retried or resumed run has several.
--
-- Grain: one row a run and file.
-- Order: kind, name, run_id, place.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- place: place of the file in the lineage, from 1, oldest first
-- source: name of the file
-- source_sha256: sha256 (hex) of the file
-- created_utc: when its part of the run began, UTC; NULL: not known
-- status: the harness's own word; NULL: none
-- harness_version: version of the harness that wrote it; NULL: not known
-- samples_planned: samples (task, epoch) that the run set out to answer; NULL: not known
-- samples_in_file: samples in the file, copies of earlier files included; NULL: not known
-- attempts: attempts that are counted as this file's: copies are the earlier file's
-- tokens: their total tokens; NULL: none reports them
-- header_tokens: total tokens as the file's header sums them, which no count is taken from; NULL: not reported
-- damage: what is wrong with the file; NULL: it is whole
SELECT
    s.run_id,
    r.kind,
    r.name,
    s.place,
    s.source,
    s.source_sha256,
    s.created_utc,
    s.status,
    s.harness_version,
    r.samples_planned,
    s.samples AS samples_in_file,
    count(a.run_id) AS attempts,
    CAST(sum(a.total_tokens) AS BIGINT) AS tokens,
    s.header_tokens,
    s.damage
FROM run_sources AS s
JOIN runs AS r USING (run_id)
LEFT JOIN attempts AS a ON a.run_id = s.run_id AND a.source_sha256 = s.source_sha256
GROUP BY ALL
ORDER BY r.kind, r.name, s.run_id, s.place
