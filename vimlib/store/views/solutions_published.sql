-- The solutions that people published, by task, whichever version of a suite brought them.
--
-- Grain: one row a task and different keys (task_key, keys).
-- Order: task_key, place.
--
-- task_key: the task by id and content, as in answers_traced
-- task_id: the task
-- keys: the keys, in the golf notation
-- source: where it was published first, by the order of the list
-- verified: whether it solves the task, as the list says; NULL: not said
-- place: place in the list, from 1
SELECT
    p.task_id || '#' || left(sha256(length(t.start)::VARCHAR || ':' || t.start || t.target), 12) AS task_key,
    p.task_id,
    p.keys,
    arg_min(p.source, p.place) AS source,
    bool_or(p.verified) AS verified,
    min(p.place) AS place
FROM published_solutions AS p
JOIN tasks AS t ON t.suite_hash = p.suite_hash AND t.task_id = p.task_id
GROUP BY ALL
ORDER BY task_key, place
