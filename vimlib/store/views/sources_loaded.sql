-- What was loaded, from which file.
--
-- Grain: one row a source file and use of it (suite, runs or published).
-- Order: kind, name, source_sha256.
--
-- source: name of the file or its origin
-- source_sha256: sha256 (hex) of the file
-- kind: what was read from it: suite, runs or published
-- loaded_utc: when it was first loaded, UTC
-- suites: suite versions read from it
-- tasks: tasks in them
-- runs: runs that it is a part of
-- attempts: attempts that come from it
-- published: published results in it
SELECT
    s.name AS source,
    s.source_sha256,
    s.kind,
    s.loaded_utc,
    (SELECT count(*) FROM suites AS u WHERE s.kind = 'suite' AND u.source_sha256 = s.source_sha256) AS suites,
    (SELECT count(*) FROM tasks AS t WHERE s.kind = 'suite' AND t.source_sha256 = s.source_sha256) AS tasks,
    (SELECT count(*) FROM run_sources AS r WHERE s.kind = 'runs' AND r.source_sha256 = s.source_sha256) AS runs,
    (SELECT count(*) FROM attempts AS a WHERE s.kind = 'runs' AND a.source_sha256 = s.source_sha256) AS attempts,
    (SELECT count(*) FROM published_results AS p WHERE s.kind = 'published' AND p.source_sha256 = s.source_sha256) AS published
FROM sources AS s
ORDER BY s.kind, s.name, s.source_sha256
