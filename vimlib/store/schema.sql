-- The store's tables. Written once into a new database; vimlib/store/__init__.py refuses a
-- database of another SCHEMA_VERSION, since it can always be rebuilt from the sources.
--
-- Rules that hold in every table:
--   NULL means "not known" or "does not apply", never zero.
--   Rows are joined by natural keys; the writer checks every reference before a load takes effect
--   (DuckDB's FOREIGN KEY would forbid replacing a parent row while its children stay).
--   The tables with a row an attempt have no PRIMARY KEY: its index would cost more than the rows. The
--   writer replaces all of a run at once and checks that no attempt is there twice.
--   Text is UTF-8. A lone surrogate, which UTF-8 cannot hold, is stored as U+10FFFD followed by its
--   four hex digits, and a U+10FFFD of the text itself as U+10FFFD followed by 'FFFD': nothing is
--   lost, and store.decode_text() gives the text back.
--   Times are UTC without a zone (columns *_utc).

CREATE TABLE schema_info (
    schema_version INTEGER NOT NULL,
    views_sha256   VARCHAR NOT NULL
);
COMMENT ON TABLE schema_info IS 'One row: what the file was written as.';
COMMENT ON COLUMN schema_info.schema_version IS 'Version of these tables; another version is refused and the database rebuilt.';
COMMENT ON COLUMN schema_info.views_sha256 IS 'sha256 (hex) of the SQL of the stored views; a newer vimlib replaces them.';

CREATE TABLE sources (
    source_sha256 VARCHAR NOT NULL,
    kind          VARCHAR NOT NULL CHECK (kind IN ('suite', 'runs', 'published')),
    name          VARCHAR NOT NULL,
    loaded_utc    TIMESTAMP NOT NULL,
    PRIMARY KEY (source_sha256, kind)
);
COMMENT ON TABLE sources IS 'One row a source file and use of it: everything else in the store was built from these.';
COMMENT ON COLUMN sources.source_sha256 IS 'sha256 (hex) of the file.';
COMMENT ON COLUMN sources.kind IS 'What was read from it: suite, runs, or published (results without answers).';
COMMENT ON COLUMN sources.name IS 'Name of the file when it was first loaded: for suites their origin, else without its folder.';
COMMENT ON COLUMN sources.loaded_utc IS 'When it was first loaded, UTC.';

CREATE TABLE suites (
    suite_hash    VARCHAR PRIMARY KEY,
    name          VARCHAR NOT NULL,
    version       VARCHAR NOT NULL,
    protocols     VARCHAR[] NOT NULL,
    origin        VARCHAR NOT NULL,
    licence       VARCHAR,
    source_sha256 VARCHAR,
    revision      VARCHAR,
    fetched_utc   TIMESTAMP
);
COMMENT ON TABLE suites IS 'One row a version of a suite of tasks: the same name with another hash is another version.';
COMMENT ON COLUMN suites.suite_hash IS 'sha256 (hex) over ids, starts, targets and references of its tasks.';
COMMENT ON COLUMN suites.name IS 'Name of the suite.';
COMMENT ON COLUMN suites.version IS 'The suite''s own version, or the first 12 digits of its hash.';
COMMENT ON COLUMN suites.protocols IS 'Protocols under which it is meant to be judged; the first is the default.';
COMMENT ON COLUMN suites.origin IS 'URL or file name it came from; empty: none given.';
COMMENT ON COLUMN suites.licence IS 'Licence of the tasks; NULL: not known.';
COMMENT ON COLUMN suites.source_sha256 IS 'sha256 (hex) of the file it was read from, or of a list of their hashes where it was several; NULL: no file.';
COMMENT ON COLUMN suites.revision IS 'Commit of the repository it was fetched from; NULL: not fetched, or the origin has none.';
COMMENT ON COLUMN suites.fetched_utc IS 'When it was fetched, UTC; NULL: it was not.';

CREATE TABLE tasks (
    suite_hash         VARCHAR NOT NULL,
    task_id            VARCHAR NOT NULL,
    place              INTEGER NOT NULL,
    start              VARCHAR NOT NULL,
    target             VARCHAR NOT NULL,
    instruction        VARCHAR NOT NULL,
    title              VARCHAR NOT NULL,
    tier               INTEGER,
    category           VARCHAR,
    reference          VARCHAR,
    reference_notation VARCHAR NOT NULL CHECK (reference_notation IN ('golf', 'bench')),
    created            DATE,
    entries            BIGINT,
    golfers            BIGINT,
    best_score         BIGINT,
    erratum            VARCHAR,
    twin_of            VARCHAR,
    source_sha256      VARCHAR,
    PRIMARY KEY (suite_hash, task_id)
);
COMMENT ON TABLE tasks IS 'One row a task of a suite version.';
COMMENT ON COLUMN tasks.suite_hash IS 'The suite version: suites.suite_hash.';
COMMENT ON COLUMN tasks.task_id IS 'Unique in its suite.';
COMMENT ON COLUMN tasks.place IS 'Place in the suite''s own order, from 1.';
COMMENT ON COLUMN tasks.start IS 'The buffer before the edit, as the suite gives it.';
COMMENT ON COLUMN tasks.target IS 'The buffer after it, as the suite gives it.';
COMMENT ON COLUMN tasks.instruction IS 'What the solver is told to do; empty: nothing.';
COMMENT ON COLUMN tasks.title IS 'A short name for tables; empty: none.';
COMMENT ON COLUMN tasks.tier IS '1 mechanical, 2 motions and text objects, 3 ex commands, 4 composed; NULL: the suite has none.';
COMMENT ON COLUMN tasks.category IS 'A finer kind than the tier, in the suite''s own words; NULL: none.';
COMMENT ON COLUMN tasks.reference IS 'Keys known to solve the task; NULL: no solution is known.';
COMMENT ON COLUMN tasks.reference_notation IS 'Notation of the reference: golf or bench.';
COMMENT ON COLUMN tasks.created IS 'When the task was published; NULL: not known.';
COMMENT ON COLUMN tasks.entries IS 'Solutions entered on the public site; NULL: not known.';
COMMENT ON COLUMN tasks.golfers IS 'People who entered one; NULL: not known.';
COMMENT ON COLUMN tasks.best_score IS 'Fewest keys entered on the public site; NULL: not known.';
COMMENT ON COLUMN tasks.erratum IS 'Why the task cannot be judged fairly; NULL: nothing is known against it.';
COMMENT ON COLUMN tasks.twin_of IS 'Of a twin, its original: id, #, 12 hex digits of sha256 over start and target; NULL: it is no twin.';
COMMENT ON COLUMN tasks.source_sha256 IS 'sha256 (hex) of the file the suite was read from; NULL: no file.';

CREATE TABLE published_solutions (
    suite_hash    VARCHAR NOT NULL,
    place         INTEGER NOT NULL,
    task_id       VARCHAR NOT NULL,
    keys          VARCHAR NOT NULL,
    source        VARCHAR NOT NULL,
    claimed       BIGINT,
    verified      BOOLEAN,
    source_sha256 VARCHAR,
    PRIMARY KEY (suite_hash, place)
);
COMMENT ON TABLE published_solutions IS 'One row a solution that somebody published for a task: what a model may have read.';
COMMENT ON COLUMN published_solutions.suite_hash IS 'The suite version: suites.suite_hash.';
COMMENT ON COLUMN published_solutions.place IS 'Place in the list that it was read from, from 1.';
COMMENT ON COLUMN published_solutions.task_id IS 'The task: tasks.task_id.';
COMMENT ON COLUMN published_solutions.keys IS 'The keys, in the golf notation.';
COMMENT ON COLUMN published_solutions.source IS 'Where it was published.';
COMMENT ON COLUMN published_solutions.claimed IS 'Keys as its author counted them; NULL: not said.';
COMMENT ON COLUMN published_solutions.verified IS 'Whether it solves the task, as that list says; NULL: not said.';
COMMENT ON COLUMN published_solutions.source_sha256 IS 'sha256 (hex) of the files the suite was read from; NULL: no file.';

CREATE TABLE runs (
    run_id         VARCHAR PRIMARY KEY,
    kind           VARCHAR NOT NULL CHECK (kind IN ('model', 'solver')),
    name           VARCHAR NOT NULL,
    suite_hash     VARCHAR NOT NULL,
    protocol       VARCHAR NOT NULL CHECK (protocol IN ('golf', 'bench')),
    track          VARCHAR NOT NULL CHECK (track IN ('single', 'multi', 'blind')),
    turn_state     VARCHAR CHECK (turn_state IN ('fresh', 'session')),
    source         VARCHAR NOT NULL,
    source_sha256  VARCHAR,
    extraction     VARCHAR NOT NULL,
    prompt_version VARCHAR,
    task_name      VARCHAR,
    task_version   VARCHAR,
    status         VARCHAR,
    created_utc    TIMESTAMP,
    settings       VARCHAR NOT NULL,
    packages       VARCHAR NOT NULL,
    samples_planned BIGINT
);
COMMENT ON TABLE runs IS 'One row a run: one model or solver on one suite under one set of settings. A retried or resumed run is one run.';
COMMENT ON COLUMN runs.run_id IS 'Stable: the same source gives the same id.';
COMMENT ON COLUMN runs.kind IS 'model or solver; solvers are a floor and never ranked among models.';
COMMENT ON COLUMN runs.name IS 'Model or solver as the source names it.';
COMMENT ON COLUMN runs.suite_hash IS 'The suite version it answered: suites.suite_hash.';
COMMENT ON COLUMN runs.protocol IS 'Rules by which its answers are read, replayed and judged: golf or bench.';
COMMENT ON COLUMN runs.track IS 'How it was asked: single, multi (several turns) or blind (the target withheld).';
COMMENT ON COLUMN runs.turn_state IS 'What a turn hands on to the next: fresh (the buffer alone) or session (all of Vim); NULL: there are no turns.';
COMMENT ON COLUMN runs.source IS 'Name of the source file without its folder, the latest of several (run_sources); empty for solvers.';
COMMENT ON COLUMN runs.source_sha256 IS 'sha256 (hex) of that file: sources.source_sha256; NULL for solvers.';
COMMENT ON COLUMN runs.extraction IS 'Name and version of the rule that took the keys from the completion.';
COMMENT ON COLUMN runs.prompt_version IS 'Version of the prompt; NULL: not known.';
COMMENT ON COLUMN runs.task_name IS 'The harness''s task; NULL: not known.';
COMMENT ON COLUMN runs.task_version IS 'Version of the harness''s task; NULL: not known.';
COMMENT ON COLUMN runs.status IS 'The harness''s own word: success, error, cancelled, started; NULL: none.';
COMMENT ON COLUMN runs.created_utc IS 'When the run was made, UTC; NULL: not known.';
COMMENT ON COLUMN runs.settings IS 'Generation settings as the source records them: a JSON object with sorted names.';
COMMENT ON COLUMN runs.packages IS 'Versions of the packages that made the run: a JSON object with sorted names.';
COMMENT ON COLUMN runs.samples_planned IS 'Samples (task, epoch) that it set out to answer; NULL: not known.';

CREATE TABLE run_sources (
    run_id          VARCHAR NOT NULL,
    place           INTEGER NOT NULL,
    source_sha256   VARCHAR NOT NULL,
    source          VARCHAR NOT NULL,
    created_utc     TIMESTAMP,
    status          VARCHAR,
    harness_id      VARCHAR,
    harness_version VARCHAR,
    samples         BIGINT,
    header_tokens   BIGINT,
    damage          VARCHAR,
    PRIMARY KEY (run_id, source_sha256)
);
COMMENT ON TABLE run_sources IS 'One row a file that a run was read from: the lineage of a run that was retried or resumed. Solvers have none.';
COMMENT ON COLUMN run_sources.run_id IS 'The run: runs.run_id.';
COMMENT ON COLUMN run_sources.place IS 'Place in the lineage, from 1, oldest first.';
COMMENT ON COLUMN run_sources.source_sha256 IS 'sha256 (hex) of the file: sources.source_sha256.';
COMMENT ON COLUMN run_sources.source IS 'Name of the file without its folder.';
COMMENT ON COLUMN run_sources.created_utc IS 'When its part of the run began, UTC; NULL: not known.';
COMMENT ON COLUMN run_sources.status IS 'The harness''s own word: success, error, cancelled, started; NULL: none.';
COMMENT ON COLUMN run_sources.harness_id IS 'The harness''s id of this part (Inspect: eval_id); NULL: none.';
COMMENT ON COLUMN run_sources.harness_version IS 'Version of the harness that wrote the file; NULL: not known.';
COMMENT ON COLUMN run_sources.samples IS 'Samples in the file, copies of earlier files included; NULL: not known.';
COMMENT ON COLUMN run_sources.header_tokens IS 'Total tokens as the file''s header sums them. Evidence only: versions differ in what they sum, and counts are taken from the attempts; NULL: not reported.';
COMMENT ON COLUMN run_sources.damage IS 'What is wrong with the file; NULL: it is whole.';

CREATE TABLE attempts (
    run_id             VARCHAR NOT NULL,
    task_id            VARCHAR NOT NULL,
    epoch              INTEGER NOT NULL CHECK (epoch >= 1),
    attempt            INTEGER NOT NULL CHECK (attempt >= 1),
    status             VARCHAR NOT NULL
        CHECK (status IN ('answered', 'provider_error', 'cancelled', 'not_replayable')),
    counts             BOOLEAN NOT NULL,
    completion         VARCHAR,
    keys               VARCHAR,
    turns              VARCHAR[],
    stop_reason        VARCHAR,
    error              VARCHAR,
    input_tokens       BIGINT,
    cache_read_tokens  BIGINT,
    cache_write_tokens BIGINT,
    output_tokens      BIGINT,
    reasoning_tokens   BIGINT,
    total_tokens       BIGINT,
    billed_usd         DOUBLE,
    token_convention   VARCHAR CHECK (token_convention IN ('no_cache', 'exclusive', 'inclusive',
        'inferred_exclusive', 'inferred_inclusive', 'assumed', 'mixed')),
    seconds            DOUBLE,
    request_seconds    DOUBLE[],
    waiting_seconds    DOUBLE,
    source_correct     BOOLEAN,
    source_partial     DOUBLE CHECK (source_partial BETWEEN 0 AND 1),
    source_efficiency  DOUBLE CHECK (source_efficiency BETWEEN 0 AND 1),
    source_keystrokes  BIGINT,
    reasoning          VARCHAR,
    raw_keys           VARCHAR,
    raw_keystrokes     BIGINT,
    source_id          VARCHAR,
    source_sha256      VARCHAR
);
COMMENT ON TABLE attempts IS 'One row an attempt: one answer to one task in one run and epoch, before it is judged.';
COMMENT ON COLUMN attempts.run_id IS 'The run: runs.run_id.';
COMMENT ON COLUMN attempts.task_id IS 'The task, in the suite of the run: tasks.task_id.';
COMMENT ON COLUMN attempts.epoch IS 'Repetition of the task in the run, from 1.';
COMMENT ON COLUMN attempts.attempt IS 'From 1: a retry of the same task and epoch has a higher number.';
COMMENT ON COLUMN attempts.status IS 'What became of the request: answered, provider_error, cancelled or not_replayable.';
COMMENT ON COLUMN attempts.counts IS 'It stands for its task and epoch: the last finished attempt (answered or not replayable), or the last of all where none finished.';
COMMENT ON COLUMN attempts.completion IS 'The model''s whole text, untouched; NULL: there was none.';
COMMENT ON COLUMN attempts.keys IS 'What was taken from it, in the protocol''s notation; NULL: nothing to replay.';
COMMENT ON COLUMN attempts.turns IS 'Multi-turn: the keys of each turn, in order; together they are keys. NULL: there are no turns.';
COMMENT ON COLUMN attempts.stop_reason IS 'Why the model stopped, in the source''s word; NULL: not known.';
COMMENT ON COLUMN attempts.error IS 'The provider''s or harness''s message; NULL: none.';
COMMENT ON COLUMN attempts.input_tokens IS 'All input tokens, cached or not; NULL: not reported.';
COMMENT ON COLUMN attempts.cache_read_tokens IS 'Of the input tokens, read from a cache; NULL: not reported.';
COMMENT ON COLUMN attempts.cache_write_tokens IS 'Of the input tokens, written to a cache; NULL: not reported.';
COMMENT ON COLUMN attempts.output_tokens IS 'All output tokens, reasoning included; NULL: not reported.';
COMMENT ON COLUMN attempts.reasoning_tokens IS 'Of the output tokens, spent on reasoning; NULL: not reported.';
COMMENT ON COLUMN attempts.total_tokens IS 'Input and output tokens; NULL: not reported.';
COMMENT ON COLUMN attempts.billed_usd IS 'What the provider says it billed, in US dollars; NULL: not reported.';
COMMENT ON COLUMN attempts.token_convention IS 'How the source''s input tokens were brought into the normal form: no_cache (no cached tokens reported), exclusive (known to leave them out: they were added), inclusive (known to include them), inferred_exclusive and inferred_inclusive (told by which sum gives the total), assumed (neither known nor told: taken as left out), mixed (several); NULL: no tokens reported, or in the normal form already.';
COMMENT ON COLUMN attempts.seconds IS 'Time to the answer as the source gives it, seconds; NULL: not known.';
COMMENT ON COLUMN attempts.request_seconds IS 'Multi-turn: time of each request whose time is known, seconds; NULL: there was one, which took attempts.seconds, or not known.';
COMMENT ON COLUMN attempts.waiting_seconds IS 'Time that the attempt waited besides, for a slot, a rate limit or before a retry, seconds; NULL: not known.';
COMMENT ON COLUMN attempts.source_correct IS 'The verdict that the source itself recorded; NULL: none.';
COMMENT ON COLUMN attempts.source_partial IS 'Likeness of final to target as the source recorded it, 0 to 1; NULL: it did not.';
COMMENT ON COLUMN attempts.source_efficiency IS 'Efficiency as the source recorded it, 0 to 1; NULL: it did not.';
COMMENT ON COLUMN attempts.source_keystrokes IS 'Length of the answer as the source counted it; NULL: it did not.';
COMMENT ON COLUMN attempts.reasoning IS 'What the model thought before it answered, never part of the completion; NULL: the source does not tell.';
COMMENT ON COLUMN attempts.raw_keys IS 'The keys as recorded, with the phantom keys (<fd-6d>) that were stripped; NULL: there were none.';
COMMENT ON COLUMN attempts.raw_keystrokes IS 'Keys in raw_keys, phantoms included; the clean count is scores.keystrokes; NULL: there were none.';
COMMENT ON COLUMN attempts.source_id IS 'The source''s own id of this attempt (Inspect: the sample''s uuid), by which a copy in another file is known; NULL: none.';
COMMENT ON COLUMN attempts.source_sha256 IS 'sha256 (hex) of the file that it was read from; NULL for solvers.';

CREATE TABLE published_results (
    source_sha256        VARCHAR NOT NULL,
    place                INTEGER NOT NULL,
    source               VARCHAR NOT NULL,
    benchmark            VARCHAR NOT NULL,
    protocol             VARCHAR NOT NULL CHECK (protocol IN ('golf', 'bench')),
    track                VARCHAR,
    task_set             VARCHAR,
    model                VARCHAR NOT NULL,
    tasks                BIGINT,
    passed               BIGINT,
    pass_rate            DOUBLE CHECK (pass_rate BETWEEN 0 AND 1),
    mean_efficiency      DOUBLE CHECK (mean_efficiency BETWEEN 0 AND 1),
    mean_partial         DOUBLE CHECK (mean_partial BETWEEN 0 AND 1),
    mean_turns           DOUBLE,
    wall_seconds         DOUBLE,
    mean_latency_seconds DOUBLE,
    p95_latency_seconds  DOUBLE,
    requests             BIGINT,
    input_tokens         BIGINT,
    cache_read_tokens    BIGINT,
    cache_write_tokens   BIGINT,
    output_tokens        BIGINT,
    reasoning_tokens     BIGINT,
    total_tokens         BIGINT,
    billed_usd           DOUBLE,
    tokens_per_pass      DOUBLE,
    cost_per_pass_usd    DOUBLE,
    error                VARCHAR,
    PRIMARY KEY (source_sha256, place)
);
COMMENT ON TABLE published_results IS 'One row a result as somebody published it: a summary without answers, which cannot be replayed and is ranked with nothing.';
COMMENT ON COLUMN published_results.source_sha256 IS 'sha256 (hex) of the file: sources.source_sha256.';
COMMENT ON COLUMN published_results.place IS 'Place in the file, from 1.';
COMMENT ON COLUMN published_results.source IS 'Name of the file without its folder.';
COMMENT ON COLUMN published_results.benchmark IS 'vimbench or vimgolf.';
COMMENT ON COLUMN published_results.protocol IS 'Rules by which it was judged there: golf or bench.';
COMMENT ON COLUMN published_results.track IS 'Track of the benchmark, such as single or multi; NULL: not said.';
COMMENT ON COLUMN published_results.task_set IS 'Set of tasks, such as seed; NULL: not said.';
COMMENT ON COLUMN published_results.model IS 'Model as published.';
COMMENT ON COLUMN published_results.tasks IS 'Tasks attempted; NULL: not published.';
COMMENT ON COLUMN published_results.passed IS 'Tasks passed; NULL: not published.';
COMMENT ON COLUMN published_results.pass_rate IS 'As published, 0 to 1; NULL: not published.';
COMMENT ON COLUMN published_results.mean_efficiency IS 'Efficiency over passes as published, 0 to 1; NULL: not published.';
COMMENT ON COLUMN published_results.mean_partial IS 'Likeness of final to target as published, 0 to 1; NULL: not published.';
COMMENT ON COLUMN published_results.mean_turns IS 'Turns a task in the multi-turn track; NULL: not published.';
COMMENT ON COLUMN published_results.wall_seconds IS 'Time for the whole run, seconds; NULL: not published.';
COMMENT ON COLUMN published_results.mean_latency_seconds IS 'Time to an answer on average, seconds; NULL: not published.';
COMMENT ON COLUMN published_results.p95_latency_seconds IS '95th percentile of the time to an answer, seconds; NULL: not published.';
COMMENT ON COLUMN published_results.requests IS 'Requests to the model; NULL: not published.';
COMMENT ON COLUMN published_results.input_tokens IS 'All input tokens, cached or not; NULL: not published.';
COMMENT ON COLUMN published_results.cache_read_tokens IS 'Of the input tokens, read from a cache; NULL: not published.';
COMMENT ON COLUMN published_results.cache_write_tokens IS 'Of the input tokens, written to a cache; NULL: not published.';
COMMENT ON COLUMN published_results.output_tokens IS 'All output tokens; NULL: not published.';
COMMENT ON COLUMN published_results.reasoning_tokens IS 'Of the output tokens, spent on reasoning; NULL: not published.';
COMMENT ON COLUMN published_results.total_tokens IS 'Input and output tokens; NULL: not published.';
COMMENT ON COLUMN published_results.billed_usd IS 'Billed by the provider, US dollars; NULL: not published.';
COMMENT ON COLUMN published_results.tokens_per_pass IS 'Total tokens over passes, as published; NULL: not published.';
COMMENT ON COLUMN published_results.cost_per_pass_usd IS 'Cost over passes as published, US dollars, the publisher''s estimate; NULL: not published.';
COMMENT ON COLUMN published_results.error IS 'Why there is no result; NULL: there is one.';

CREATE TABLE vims (
    vim_sha256 VARCHAR PRIMARY KEY,
    version    VARCHAR NOT NULL
);
COMMENT ON TABLE vims IS 'One row a build of Vim that replayed something.';
COMMENT ON COLUMN vims.vim_sha256 IS 'sha256 (hex) of the executable file.';
COMMENT ON COLUMN vims.version IS 'Version with patch level, such as 9.0.1378.';

CREATE TABLE replays (
    replay_key         VARCHAR PRIMARY KEY,
    outcome            VARCHAR NOT NULL CHECK (outcome IN (
        'finished', 'unfinished', 'timeout', 'crashed', 'bad_keys', 'blocked', 'harness_error')),
    final              BLOB,
    wall_seconds       DOUBLE NOT NULL,
    cpu_seconds        DOUBLE,
    confinement        VARCHAR NOT NULL,
    vim_sha256         VARCHAR NOT NULL,
    mode               VARCHAR,
    cursor_line        BIGINT,
    cursor_column      BIGINT,
    buffer             VARCHAR,
    first_error_number INTEGER,
    first_error        VARCHAR,
    last_error_number  INTEGER,
    last_error         VARCHAR,
    blocked            VARCHAR[] NOT NULL,
    detail             VARCHAR NOT NULL
);
COMMENT ON TABLE replays IS 'One row a replay: what real Vim did with (start, keys) under a protocol, whoever gave those keys. Only outcome and final count for a verdict; the rest is evidence for diagnosis, which an answer can tamper with.';
COMMENT ON COLUMN replays.replay_key IS 'sha256 (hex) over protocol fingerprint, Vim build, start and keys.';
COMMENT ON COLUMN replays.outcome IS 'How it ended: finished, unfinished, timeout, crashed, bad_keys, blocked or harness_error.';
COMMENT ON COLUMN replays.final IS 'The file afterwards, the bytes as they were; NULL: no regular file was left, it was over the size limit, or Vim was not run.';
COMMENT ON COLUMN replays.wall_seconds IS 'Duration of the replay, seconds.';
COMMENT ON COLUMN replays.cpu_seconds IS 'Processor time that Vim used, seconds; NULL: Vim was not run.';
COMMENT ON COLUMN replays.confinement IS 'What the kernel enforced during it.';
COMMENT ON COLUMN replays.vim_sha256 IS 'The Vim that replayed: vims.vim_sha256.';
COMMENT ON COLUMN replays.mode IS 'Vim''s mode(1) at the end; NULL: not reported.';
COMMENT ON COLUMN replays.cursor_line IS 'Line of the cursor at the end, from 1; NULL: not reported.';
COMMENT ON COLUMN replays.cursor_column IS 'Byte column of the cursor at the end, from 1; NULL: not reported.';
COMMENT ON COLUMN replays.buffer IS 'The buffer in memory where it differs from the file; NULL: it does not, or not reported.';
COMMENT ON COLUMN replays.first_error_number IS 'Number of the first error Vim reported (486 for E486); NULL: no error, or one without a number.';
COMMENT ON COLUMN replays.first_error IS 'Text of the first error Vim reported; NULL: none.';
COMMENT ON COLUMN replays.last_error_number IS 'Number of the last error Vim reported; NULL: no error, or one without a number.';
COMMENT ON COLUMN replays.last_error IS 'Text of the last error Vim reported; NULL: none.';
COMMENT ON COLUMN replays.blocked IS 'What confinement stopped, as far as it could be seen: names of system calls or paths; empty: nothing seen.';
COMMENT ON COLUMN replays.detail IS 'One line on how it ended, where the outcome alone does not tell; empty: nothing to add.';

CREATE TABLE scores (
    run_id               VARCHAR NOT NULL,
    task_id              VARCHAR NOT NULL,
    epoch                INTEGER NOT NULL,
    attempt              INTEGER NOT NULL,
    replay_key           VARCHAR,
    protocol_fingerprint VARCHAR,
    correct              BOOLEAN,
    passed               BOOLEAN,
    partial              DOUBLE CHECK (partial BETWEEN 0 AND 1),
    efficiency           DOUBLE CHECK (efficiency BETWEEN 0 AND 1),
    keystrokes           BIGINT,
    over_cap             BOOLEAN,
    beats_diff           BOOLEAN,
    source_sha256        VARCHAR
);
COMMENT ON TABLE scores IS 'One row a judged attempt: the verdict. Attempts that were not judged have none.';
COMMENT ON COLUMN scores.run_id IS 'The run: runs.run_id.';
COMMENT ON COLUMN scores.task_id IS 'The task: attempts.task_id.';
COMMENT ON COLUMN scores.epoch IS 'Repetition of the task in the run, from 1.';
COMMENT ON COLUMN scores.attempt IS 'The attempt: attempts.attempt.';
COMMENT ON COLUMN scores.replay_key IS 'The replay that was judged: replays.replay_key; NULL: there was nothing to replay.';
COMMENT ON COLUMN scores.protocol_fingerprint IS 'Exact version of the rules it was judged by; NULL: not known.';
COMMENT ON COLUMN scores.correct IS 'The final buffer is the target; NULL: unscored, the harness failed.';
COMMENT ON COLUMN scores.passed IS 'Correct and within the protocol''s rules; NULL: unscored.';
COMMENT ON COLUMN scores.partial IS 'Likeness of final to target, 0 to 1; NULL: unscored.';
COMMENT ON COLUMN scores.efficiency IS 'Reference keys / answer keys, at most 1, on a pass; 0 on a failure; NULL: no reference, or unscored.';
COMMENT ON COLUMN scores.keystrokes IS 'Length of the answer as the protocol counts it (golf: keys; bench: bytes); NULL: it breaks the notation.';
COMMENT ON COLUMN scores.over_cap IS 'Golf only: as many keys as the target has characters, or more; NULL: no cap in this protocol.';
COMMENT ON COLUMN scores.beats_diff IS 'Fewer keys than the diff solver needs for the task; NULL: diff fails there, or keys not counted.';
COMMENT ON COLUMN scores.source_sha256 IS 'sha256 (hex) of the source file of the run; NULL for solvers.';

CREATE TABLE attempt_costs (
    run_id        VARCHAR NOT NULL,
    task_id       VARCHAR NOT NULL,
    epoch         INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    kind          VARCHAR NOT NULL CHECK (kind IN ('billed', 'estimated', 'unavailable')),
    usd           DOUBLE CHECK (usd >= 0),
    low_usd       DOUBLE CHECK (low_usd >= 0),
    high_usd      DOUBLE CHECK (high_usd >= low_usd),
    gap           VARCHAR,
    price_source  VARCHAR,
    price_version VARCHAR,
    price_model   VARCHAR,
    price_date    DATE,
    CHECK ((kind = 'unavailable') = (low_usd IS NULL)),
    CHECK ((kind = 'unavailable') = (gap IS NOT NULL))
);
COMMENT ON TABLE attempt_costs IS 'One row an attempt of a model: what it cost at the prices of the day of its run. Written when the attempt is first priced; a later price list changes no row that has an amount.';
COMMENT ON COLUMN attempt_costs.run_id IS 'The run: runs.run_id.';
COMMENT ON COLUMN attempt_costs.task_id IS 'The task: attempts.task_id.';
COMMENT ON COLUMN attempt_costs.epoch IS 'Repetition of the task in the run, from 1.';
COMMENT ON COLUMN attempt_costs.attempt IS 'The attempt: attempts.attempt.';
COMMENT ON COLUMN attempt_costs.kind IS 'How well it is known: billed, estimated or unavailable.';
COMMENT ON COLUMN attempt_costs.usd IS 'The amount, US dollars; NULL: unavailable, or only the range is known.';
COMMENT ON COLUMN attempt_costs.low_usd IS 'The least that it can have been, US dollars; NULL: unavailable.';
COMMENT ON COLUMN attempt_costs.high_usd IS 'The most that it can have been, US dollars; NULL: unavailable.';
COMMENT ON COLUMN attempt_costs.gap IS 'Why it is unavailable, such as no_usage, unknown_model or local_model; NULL: it is not.';
COMMENT ON COLUMN attempt_costs.price_source IS 'billed, the package with the price list, or the name of the price file; NULL: unavailable.';
COMMENT ON COLUMN attempt_costs.price_version IS 'Version of the package, or the first 12 hex digits of the sha256 of the file; NULL: billed, or unavailable.';
COMMENT ON COLUMN attempt_costs.price_model IS 'The list''s own entry, such as openai/gpt-4o, or the pattern of the price file; NULL: billed, or unavailable.';
COMMENT ON COLUMN attempt_costs.price_date IS 'The day whose prices were taken; NULL: billed, unavailable, or the day of the run is not known.';

CREATE TABLE failures (
    run_id        VARCHAR NOT NULL,
    task_id       VARCHAR NOT NULL,
    epoch         INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    mode          VARCHAR NOT NULL,
    flags         VARCHAR[] NOT NULL,
    evidence      VARCHAR NOT NULL,
    repairable_by VARCHAR,
    source_sha256 VARCHAR
);
COMMENT ON TABLE failures IS 'One row a failed attempt, judged or lost to its provider: why it failed. Attempts that passed, are unscored, were cancelled or hold no keys have none.';
COMMENT ON COLUMN failures.run_id IS 'The run: runs.run_id.';
COMMENT ON COLUMN failures.task_id IS 'The task: attempts.task_id.';
COMMENT ON COLUMN failures.epoch IS 'Repetition of the task in the run, from 1.';
COMMENT ON COLUMN failures.attempt IS 'The attempt: attempts.attempt.';
COMMENT ON COLUMN failures.mode IS 'Why it failed: the first rule of vimlib.failures.RULES that applies (records.FailureMode).';
COMMENT ON COLUMN failures.flags IS 'What else is true of it, in a fixed order (records.FailureFlag); empty: nothing.';
COMMENT ON COLUMN failures.evidence IS 'What decided it and how near it was: a JSON object; vimlib.failures.EVIDENCE says what each name means.';
COMMENT ON COLUMN failures.repairable_by IS 'The cheapest repair that turns it into a pass when replayed (records.Repair); NULL: none does, or there was no answer to repair.';
COMMENT ON COLUMN failures.source_sha256 IS 'sha256 (hex) of the source file of the run; NULL for solvers.';

CREATE TABLE rejudgements (
    judgement_id         VARCHAR NOT NULL,
    run_id               VARCHAR NOT NULL,
    task_id              VARCHAR NOT NULL,
    epoch                INTEGER NOT NULL,
    attempt              INTEGER NOT NULL,
    vim_version          VARCHAR NOT NULL,
    vim_sha256           VARCHAR NOT NULL,
    protocol_fingerprint VARCHAR NOT NULL,
    extraction           VARCHAR NOT NULL,
    keys                 VARCHAR,
    replay_key           VARCHAR,
    correct              BOOLEAN,
    passed               BOOLEAN,
    partial              DOUBLE CHECK (partial BETWEEN 0 AND 1),
    keystrokes           BIGINT
);
COMMENT ON TABLE rejudgements IS 'One row an attempt and further judgement of it, under another Vim, version of the rules or extraction rule: beside its score, never in its place.';
COMMENT ON COLUMN rejudgements.judgement_id IS 'Beginning of a sha256 (hex) over what was judged by: Vim, rules, extraction.';
COMMENT ON COLUMN rejudgements.run_id IS 'The run: runs.run_id.';
COMMENT ON COLUMN rejudgements.task_id IS 'The task: attempts.task_id.';
COMMENT ON COLUMN rejudgements.epoch IS 'Repetition of the task in the run, from 1.';
COMMENT ON COLUMN rejudgements.attempt IS 'The attempt: attempts.attempt.';
COMMENT ON COLUMN rejudgements.vim_version IS 'The Vim that replayed, or would have: version with patch level.';
COMMENT ON COLUMN rejudgements.vim_sha256 IS 'sha256 (hex) of its executable file.';
COMMENT ON COLUMN rejudgements.protocol_fingerprint IS 'Exact version of the rules it was judged by.';
COMMENT ON COLUMN rejudgements.extraction IS 'Rule that took these keys from the completion.';
COMMENT ON COLUMN rejudgements.keys IS 'The keys that were judged, in the protocol''s notation; NULL: nothing to replay.';
COMMENT ON COLUMN rejudgements.replay_key IS 'The replay that was judged: replays.replay_key; NULL: there was nothing to replay.';
COMMENT ON COLUMN rejudgements.correct IS 'The final buffer is the target; NULL: unscored, the harness failed.';
COMMENT ON COLUMN rejudgements.passed IS 'Correct and within the protocol''s rules; NULL: unscored.';
COMMENT ON COLUMN rejudgements.partial IS 'Likeness of final to target, 0 to 1; NULL: unscored.';
COMMENT ON COLUMN rejudgements.keystrokes IS 'Length of the answer as the protocol counts it; NULL: it breaks the notation.';
