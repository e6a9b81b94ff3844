-- Everything that must be equal for two runs to be compared.
--
-- Grain: one row a run and Vim build and confinement that replayed it (one row with vim_version NULL where nothing was replayed).
-- Order: kind, suite_name, protocol, name, run_id, vim_version.
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
-- protocol_fingerprint: exact version of the rules; NULL: nothing judged, or not known
-- extraction: rule that took the keys from the completion
-- prompt_version: version of the prompt; NULL: not known
-- task_name: the harness's task; NULL: not known
-- task_version: its version; NULL: not known
-- vim_version: Vim that replayed; NULL: nothing replayed
-- vim_sha256: sha256 (hex) of its executable; NULL: nothing replayed
-- confinement: what the kernel enforced; NULL: nothing replayed
-- replayed: attempts replayed so
-- settings: generation settings, a JSON object
-- packages: versions of the packages that made the run, a JSON object
-- source: name of the source file; empty for solvers
-- source_sha256: its sha256 (hex); NULL for solvers
WITH used AS (
    SELECT s.run_id, s.protocol_fingerprint, v.version AS vim_version, p.vim_sha256, p.confinement, count(*) AS replayed
    FROM scores AS s
    JOIN replays AS p USING (replay_key)
    JOIN vims AS v USING (vim_sha256)
    GROUP BY ALL
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
    w.protocol_fingerprint,
    r.extraction,
    r.prompt_version,
    r.task_name,
    r.task_version,
    w.vim_version,
    w.vim_sha256,
    w.confinement,
    coalesce(w.replayed, 0) AS replayed,
    r.settings,
    r.packages,
    r.source,
    r.source_sha256
FROM runs AS r
JOIN suites AS u USING (suite_hash)
LEFT JOIN used AS w ON w.run_id = r.run_id
ORDER BY r.kind, u.name, r.protocol, r.name, r.run_id, w.vim_version
