-- What was loaded, from which file.
--
-- Grain: one row a source file and use of it (suite or runs).
-- Order: kind (suites last), name, source_sha256.
--
-- source: name of the file or its origin
-- source_sha256: sha256 (hex) of the file
-- kind: what was read from it: suite or runs
-- loaded_utc: when it was first loaded, UTC
-- suites: suite versions read from it
-- tasks: tasks in them
-- runs: runs read from it
-- attempts: attempts in them
SELECT
    s.name AS source,
    s.source_sha256,
    s.kind,
    s.loaded_utc,
    (SELECT count(*) FROM suites AS u WHERE s.kind = 'suite' AND u.source_sha256 = s.source_sha256) AS suites,
    (SELECT count(*) FROM tasks AS t WHERE s.kind = 'suite' AND t.source_sha256 = s.source_sha256) AS tasks,
    (SELECT count(*) FROM runs AS r WHERE s.kind = 'runs' AND r.source_sha256 = s.source_sha256) AS runs,
    (SELECT count(*) FROM attempts AS a WHERE s.kind = 'runs' AND a.source_sha256 = s.source_sha256) AS attempts
FROM sources AS s
ORDER BY s.kind, s.name, s.source_sha256
