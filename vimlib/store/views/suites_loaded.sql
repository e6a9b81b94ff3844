-- Each version of a suite: what it is, how large, and where it came from.
--
-- Grain: one row a version of a suite.
-- Order: name, version, suite_hash.
--
-- suite_hash: sha256 (hex) over its content; results belong to it
-- name: name of the suite
-- version: its own version, or the first 12 digits of its hash
-- protocols: protocols under which it is meant to be judged; the first is the default
-- tasks: tasks in it
-- errata: of them, those that cannot be judged fairly
-- with_reference: of them, those with keys known to solve them
-- dated: of them, those whose day of publication is known
-- published: solutions that people published for them
-- origin: URL or file name it came from; empty: none given
-- revision: commit it was fetched at; NULL: not fetched, or the origin has none
-- licence: licence of the tasks; NULL: not known
-- fetched_utc: when it was fetched, UTC; NULL: it was not
-- source_sha256: sha256 (hex) of the file it was read from; NULL: no file
SELECT
    u.suite_hash,
    u.name,
    u.version,
    u.protocols,
    (SELECT count(*) FROM tasks AS t WHERE t.suite_hash = u.suite_hash) AS tasks,
    (SELECT count(t.erratum) FROM tasks AS t WHERE t.suite_hash = u.suite_hash) AS errata,
    (SELECT count(t.reference) FROM tasks AS t WHERE t.suite_hash = u.suite_hash) AS with_reference,
    (SELECT count(t.created) FROM tasks AS t WHERE t.suite_hash = u.suite_hash) AS dated,
    (SELECT count(*) FROM published_solutions AS p WHERE p.suite_hash = u.suite_hash) AS published,
    u.origin,
    u.revision,
    u.licence,
    u.fetched_utc,
    u.source_sha256
FROM suites AS u
ORDER BY u.name, u.version, u.suite_hash
