"""The benchmarks as tasks of Inspect, so that any model that Inspect can ask can be run.

Inspect does providers, retries, concurrency, caching, token counts and logs; here are only the
tasks (`vimlib/golf`, `vimlib/bench`, `vimlib/bench_multi`, `vimlib/golf_blind`), the scorer
(`vimlib/replay`), which plays answers in the confined Vim and needs no Docker, and `running`, which
asks several models for the same. Inspect finds them by the entry point `inspect_ai` of this package.

A log carries the tasks that were answered and everything that comparability needs; `logged` says
under which names.
"""

from vimlib.inspect_tasks.models import local_service
from vimlib.inspect_tasks.scorer import replay
from vimlib.inspect_tasks.tasks import bench, bench_multi, golf, golf_blind

__all__ = ["bench", "bench_multi", "golf", "golf_blind", "replay"]

local_service()
