-- Each run with the conditions that it was made and judged under.
--
-- Grain: one row a run.
-- Order: kind, suite_name, protocol, created_utc (latest first, NULL last), name, run_id.
--
-- run_id: the run
-- kind: model or solver
-- name: model or solver as the source names it
-- suite_name: suite of the run
-- suite_version: its version
-- suite_hash: its hash
-- protocol: golf or bench
-- track: how it was asked: single, multi (several turns) or blind (the target withheld)
-- turn_state: what a turn hands on to the next: fresh or session; NULL: there are no turns
-- created_utc: when the run was made, UTC; NULL: not known
-- source: name of the source file; empty for solvers
-- status: the harness's own word on how it ended; NULL: none
-- prompt_version: version of the prompt; NULL: not known
-- extraction: rule that took the keys from the completion; empty for solvers
-- task_name: the harness's task; NULL: not known
-- task_version: its version; NULL: not known
-- settings: generation settings, a JSON object
-- packages: versions of the packages that made the run, a JSON object
-- protocol_fingerprint: exact version of the rules, several joined by a comma; NULL: nothing judged, or not known
-- vim_version: Vim that replayed, with the first digits of its hash, several joined by a comma; NULL: nothing replayed
-- confinement: what the kernel enforced, several joined by a comma; NULL: nothing replayed
-- verdicts: attempts with a verdict, also of tasks with an erratum
WITH judged AS (
    SELECT
        s.run_id,
        string_agg(DISTINCT s.protocol_fingerprint, ', ' ORDER BY s.protocol_fingerprint) AS protocol_fingerprint,
        string_agg(DISTINCT v.version || ' (' || p.vim_sha256[:8] || ')', ', ' ORDER BY v.version || ' (' || p.vim_sha256[:8] || ')')
            AS vim_version,
        string_agg(DISTINCT p.confinement, ', ' ORDER BY p.confinement) AS confinement,
        count(s.passed) AS verdicts
    FROM scores AS s
    LEFT JOIN replays AS p USING (replay_key)
    LEFT JOIN vims AS v USING (vim_sha256)
    GROUP BY s.run_id
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
    r.created_utc,
    r.source,
    r.status,
    r.prompt_version,
    r.extraction,
    r.task_name,
    r.task_version,
    r.settings,
    r.packages,
    j.protocol_fingerprint,
    j.vim_version,
    j.confinement,
    coalesce(j.verdicts, 0) AS verdicts
FROM runs AS r
JOIN suites AS u USING (suite_hash)
LEFT JOIN judged AS j USING (run_id)
ORDER BY r.kind, u.name, r.protocol, r.created_utc DESC NULLS LAST, r.name, r.run_id
