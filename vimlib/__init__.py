"""vimlib: what language models' Vim keystrokes are worth, found by playing them in real Vim.

The data's way. Tasks and answers come in on the left; every answer is played in a confined Vim
and the buffer it leaves is judged; `load` drives the way as far as the store, which holds
everything in one DuckDB file; questions are asked of the store alone::

    records ─> keys
                 │
      suites ────┤
        runs ────┤
     solvers ────┤
                 ▼
     sandbox ─> replay ─> score ─> failures ─> judge ─> repair ─> generate
                                                 │
                                                 │   prices
                                                 │    │
                                     store <─ load <──┘
                                       │ <─── rejudge
                                       └─> analysis ─> figures ─> report ─> HTML
                                                                    │
                                                    inspect_tasks ──┤
                                                                    ▼
                                                                   cli

Read line by line from the left, this is also the order of import: a module may import only modules
named before it, of those only what stands here, and beside the standard library only these
libraries::

    module         owns                                     may import
    -------------  ---------------------------------------  ----------
    records        the vocabulary: records and closed sets  nothing
    keys           the two notations                        records
    suites         one module a source of tasks             records, keys, huggingface_hub in hub,
                                                            pyarrow in reading, yaml in reading
    runs           one module a source of answers           records, keys, suites, inspect_ai in inspect_logs,
                                                            fsspec in remote
    solvers        programs that answer without a model     records, keys
    sandbox        confinement; knows nothing of Vim        records, pyseccomp
    replay         an answer played in real Vim             records, keys, sandbox, vimgolf,
                                                            distributed in cluster
    score          the final buffer against the target      records, keys
    failures       why a failed answer failed               records, keys, score
    judge          answers replayed, scored, compared       records, replay, sandbox, score, tqdm
    repair         what would have mended a failed answer   records, keys, sandbox, replay, score, failures,
                                                            tqdm
    generate       drawn tasks, kept or rejected            records, keys, suites, solvers, sandbox, replay,
                                                            judge, tqdm
    prices         what an attempt cost                     records, genai_prices, yaml
    store          DuckDB: replacing and reading            records, duckdb, pandas, pyarrow
    load           the one flow from sources to store       all above, tqdm
    rejudge        stored answers judged once more          all above
    analysis       questions: from frames to frames         records, keys, prices, store, numpy, pandas,
                                                            rapidfuzz, scipy, statsmodels,
                                                            inspect_ai in cutoffs
    figures        one function a picture or table          records, failures, analysis, matplotlib, numpy,
                                                            pandas
    report         notebooks executed, HTML written         all above, jinja2, jupyter_client, markupsafe,
                                                            nbconvert, nbformat, papermill, tqdm, traitlets
    inspect_tasks  the tasks and scorer of Inspect          all above, anyio, inspect_ai, yaml in models,
                                                            inspect_evals in tasks
    cli            parse, call, print, exit code            all above, tqdm

For hands, `import vimlib` in a notebook gives what `FACE` lists, each imported when it is first used, such as
`vimlib.connect("data/vimlib.duckdb")`, `vimlib.query(con, "run_overview")`, `vimlib.replay("ddZZ", task)`.

A test compares this drawing and this table with the code. To add a module, draw it here.
"""

__version__ = "0.1.0"

FACE = {
    "connect": "store",
    "query": "store",
    "views": "store",
    "view_columns": "store",
    "load_suite": "suites",
    "trace": "replay:show_trace",
    "overview": "analysis.overview",
    "by_tier": "analysis.overview",
    "headlines": "analysis.headlines",
    "changes": "analysis.headlines",
    "compare": "analysis.compare",
    "compare_or_say_why_not": "analysis.compare",
    "sentence": "analysis.compare",
    "tier_sentences": "analysis.compare",
    "show_tiers": "figures.compare",
}
"""What researchers need by hand, and where it lives, under another name after a colon. `replay` is the
package, which can be called."""


def __getattr__(name: str) -> object:
    import importlib

    if name == "replay":
        return importlib.import_module("vimlib.replay")
    if name not in FACE:
        raise AttributeError(f"module 'vimlib' has no attribute {name!r}")
    module, _, attribute = FACE[name].partition(":")
    return getattr(importlib.import_module(f"vimlib.{module}"), attribute or name)


def __dir__() -> list[str]:
    return sorted([*globals(), *FACE, "replay"])
