-- Whether tasks with an erratum count in the other views. `connect(path, with_errata=True)` says yes.
--
-- Grain: one row.
-- Order: none.
--
-- counted: attempts at tasks with an erratum are in attempts_scored and all that is built on it
SELECT false AS counted
