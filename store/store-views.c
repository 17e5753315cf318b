/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store-layout.h"

/* The operations of databases that speak SQL; with a path they would be of HTTP. */
#define SQL_VERBS                                                                                  \
        "'ALTER', 'BEGIN', 'CALL', 'COMMIT', 'COPY', 'CREATE', 'DELETE', 'DROP', "                 \
        "'END', 'EXECUTE', 'INSERT', 'LOCK', 'MERGE', 'REPLACE', 'ROLLBACK', "                     \
        "'SELECT', 'SET', 'SHOW', 'START', 'TRUNCATE', 'UPDATE', 'WITH'"

/* docs/store.md says what each is for. They use plain SQLite, so that every program that reads the
 * store has them. The range of call.id makes a request's calls quick to find. CROSS JOIN, + and
 * CAST keep SQLite from going from a node or a time to its calls, which have no index. Integer
 * division rounds towards 0, and an hour begins at or before its first moment also before 1970. A
 * row of pattern_node is wide: with LIMIT -1 SQLite makes an index of the few columns that are
 * asked for each call. */
static const struct {
        const char *name, *select;
} views[] = {
        { "request",
          "  SELECT path.id AS id, pattern.signature AS type, path.start AS start,"
          "    path.start + path.latency AS end, path.latency AS latency,"
          "    (SELECT json_group_array(json_object("
          "         'node', node, 'start', start, 'end', end, 'own', own))"
          "     FROM (SELECT node.written AS node, coalesce(call_recv, call_sent) AS start,"
          "             coalesce(ret_sent, ret_recv, call_recv, call_sent) AS end, own"
          "           FROM call CROSS JOIN node ON node.id = +call.callee"
          "           WHERE call.id BETWEEN path.first_call AND path.first_call + path.calls - 1"
          "           ORDER BY call.id)) AS nodes,"
          "    path.probability AS probability, path.pattern AS pattern, pattern.label AS label,"
          "    coalesce(path.completion, path.latency) AS completion"
          "  FROM path CROSS JOIN pattern ON pattern.id = path.pattern" },
        { "request_node", "  SELECT path.id AS request, node.written AS node,"
                          "    coalesce(call.call_recv, call.call_sent) AS start,"
                          "    coalesce(call.ret_sent, call.ret_recv, call.call_recv, "
                          "call.call_sent) AS end,"
                          "    CAST(call.own AS INTEGER) AS own,"
                          "    (SELECT name FROM label WHERE label.id = call.label) AS label,"
                          "    CAST(call.continues AS TEXT) AS continues,"
                          "    CAST(call.queued AS INTEGER) AS queued,"
                          "    CAST(call.own_queued AS INTEGER) AS own_queued,"
                          "    call.own - call.own_queued AS serving"
                          "  FROM path"
                          "    CROSS JOIN call ON call.id BETWEEN path.first_call AND "
                          "path.first_call + path.calls - 1"
                          "    CROSS JOIN node ON node.id = +call.callee" },
        { "request_tag", "  SELECT DISTINCT path.id AS request, tag.name AS name,"
                         "    tag.value AS value"
                         "  FROM path"
                         "    CROSS JOIN call ON call.id BETWEEN path.first_call AND "
                         "path.first_call + path.calls - 1"
                         "    CROSS JOIN tag ON tag.id = call.tags" },
        { "slowest_request",
          "  SELECT path.id AS id, path.latency AS latency, pattern.mean AS pattern_mean,"
          "    (SELECT (SELECT written FROM node WHERE node.id = +callee) FROM (SELECT callee, "
          "max(own)"
          "       FROM call"
          "       WHERE call.id BETWEEN path.first_call AND path.first_call + path.calls - 1)) AS "
          "node,"
          "    (SELECT max(call.own) FROM call"
          "     WHERE call.id BETWEEN path.first_call AND path.first_call + path.calls - 1) AS own,"
          "    path.start AS start, path.probability AS probability, path.pattern AS pattern,"
          "    pattern.signature AS type, pattern.label AS label,"
          "    coalesce(path.completion, path.latency) AS completion"
          "  FROM path CROSS JOIN pattern ON pattern.id = path.pattern"
          "  ORDER BY path.latency DESC, path.id" },
        { "pattern_hour",
          "  SELECT pattern, strftime('%Y-%m-%d %H:00', hour / 1000000000, 'unixepoch') AS hour,"
          "    count(*) AS count, CAST(round(avg(latency)) AS INTEGER) AS mean,"
          "    min(CASE WHEN part >= 0.5 THEN latency END) AS p50,"
          "    min(CASE WHEN part >= 0.9 THEN latency END) AS p90,"
          "    min(CASE WHEN part >= 0.99 THEN latency END) AS p99,"
          "    max(latency) AS max, signature"
          "  FROM (SELECT pattern, hour, latency,"
          "          cume_dist() OVER (PARTITION BY pattern, hour ORDER BY latency) AS part"
          "        FROM (SELECT pattern, latency, start -"
          "                (start % 3600000000000 + 3600000000000) % 3600000000000 AS hour"
          "              FROM path))"
          "    CROSS JOIN pattern ON pattern.id = pattern"
          "  GROUP BY pattern, hour" },
        { "pattern_callee",
          "  SELECT pattern, node.written AS node, count * count(*) AS calls,"
          "    CAST(round(avg(latency_mean)) AS INTEGER) AS latency_mean,"
          "    sum(own_mean) AS own_mean,"
          "    round(1.0 * sum(own_mean) / nullif(coalesce(completion_mean, mean), 0), 4) AS share,"
          "    signature, sum(queued_mean) AS queued_mean,"
          "    sum(own_queued_mean) AS own_queued_mean, sum(serving_mean) AS serving_mean"
          "  FROM pattern_node CROSS JOIN pattern ON pattern.id = pattern"
          "    CROSS JOIN node ON node.id = +pattern_node.node"
          "  GROUP BY pattern, pattern_node.node" },
        { "repeated_call",
          "  SELECT child.pattern AS pattern, caller.written AS caller, callee.written AS callee,"
          "    count(*) AS times, count AS requests, sum(child.latency_mean) AS latency_mean,"
          "    signature"
          "  FROM pattern_node AS child"
          "    CROSS JOIN pattern_node AS parent"
          "      ON parent.pattern = child.pattern AND parent.place = child.parent"
          "    CROSS JOIN pattern ON pattern.id = child.pattern"
          "    CROSS JOIN node AS caller ON caller.id = +parent.node"
          "    CROSS JOIN node AS callee ON callee.id = +child.node"
          "  GROUP BY child.pattern, child.parent, child.node HAVING count(*) > 1" },
        { "hop",
          "  SELECT path.id AS request, call.id AS id, +call.parent AS parent, +call.last AS last,"
          "    of_place.depth AS depth,"
          "    node.written AS node,"
          "    (SELECT written FROM node WHERE node.id = +call.caller) AS caller,"
          "    (SELECT name FROM label WHERE label.id = +call.label) AS label,"
          "    coalesce(call_sent, call_recv) AS start, coalesce(call_recv, call_sent) AS enter,"
          "    coalesce(ret_sent, ret_recv) AS reply, coalesce(ret_recv, ret_sent) AS end,"
          "    coalesce(ret_recv, ret_sent) - coalesce(call_sent, call_recv) AS latency,"
          "    CAST(call.own AS INTEGER) AS own, CAST(call.network AS INTEGER) AS network,"
          "    CAST(call.queued AS INTEGER) AS queued,"
          "    CAST(call.own_queued AS INTEGER) AS own_queued,"
          "    call.own - call.own_queued AS serving, CAST(call.connect AS INTEGER) AS connect,"
          "    CAST(call.connecting AS INTEGER) AS connecting,"
          "    CAST(call.call_bytes AS INTEGER) AS call_bytes,"
          "    CAST(call.ret_bytes AS INTEGER) AS ret_bytes,"
          "    CAST(call.continues AS TEXT) AS continues,"
          "    CAST(call.probability AS REAL) AS probability,"
          "    CAST(call.outcome AS TEXT) AS outcome, CAST(call.class AS TEXT) AS class,"
          "    entry.written AS entry, pattern.label AS entry_label, client.written AS client,"
          "    pattern.signature AS type, path.pattern AS pattern,"
          "    path.start AS request_start, path.latency AS request_latency"
          "  FROM path CROSS JOIN pattern ON pattern.id = path.pattern"
          "    CROSS JOIN node AS client ON client.id = pattern.client"
          "    CROSS JOIN pattern_node AS root ON root.pattern = pattern.id AND root.place = 0"
          "    CROSS JOIN node AS entry ON entry.id = +root.node"
          "    CROSS JOIN call"
          "      ON call.id BETWEEN path.first_call AND path.first_call + path.calls - 1"
          "    CROSS JOIN node ON node.id = +call.callee"
          "    CROSS JOIN (SELECT pattern, place, depth FROM pattern_node LIMIT -1) AS of_place"
          "      ON of_place.pattern = path.pattern AND of_place.place = call.place" },
        { "failed_request",
          "  SELECT path.id AS request, path.start AS start, path.latency AS latency,"
          "    call.id AS call, (SELECT written FROM node WHERE node.id = +call.caller) AS caller,"
          "    (SELECT written FROM node WHERE node.id = +call.callee) AS node,"
          "    (SELECT name FROM label WHERE label.id = +call.label) AS label,"
          "    CASE call.continues WHEN 'late' THEN 'NO_ANSWER' ELSE CAST(call.outcome AS TEXT) END"
          "      AS outcome,"
          "    CASE call.continues WHEN 'late' THEN 'none' ELSE CAST(call.class AS TEXT) END AS "
          "class,"
          "    pattern.signature AS type"
          "  FROM path CROSS JOIN pattern ON pattern.id = path.pattern"
          "    CROSS JOIN call ON call.id = path.culprit"
          "  WHERE path.culprit IS NOT NULL" },
        { "edge_outcome",
          "  SELECT (SELECT written FROM node WHERE node.id = by_edge.caller) AS caller,"
          "    (SELECT written FROM node WHERE node.id = by_edge.callee) AS callee,"
          "    outcome, class, calls, latency_mean, own_mean"
          "  FROM (SELECT +caller AS caller, +callee AS callee, +outcome AS outcome,"
          "          +class AS class, count(*) AS calls,"
          "          CAST(round(avg(coalesce(ret_recv, ret_sent) -"
          "            coalesce(call_sent, call_recv))) AS INTEGER) AS latency_mean,"
          "          CAST(round(avg(own)) AS INTEGER) AS own_mean"
          "        FROM call GROUP BY 1, 2, 3, 4) AS by_edge" },
        { "before",
          "  SELECT path.id AS request, earlier.id AS earlier, later.id AS later,"
          "    first.written AS earlier_node, second.written AS later_node"
          "  FROM path"
          "    CROSS JOIN call AS earlier"
          "      ON earlier.id BETWEEN path.first_call AND path.first_call + path.calls - 1"
          "    CROSS JOIN node AS first ON first.id = +earlier.callee"
          "    CROSS JOIN call AS later ON later.id BETWEEN earlier.id + 1 AND +earlier.last"
          "    CROSS JOIN node AS second ON second.id = +later.callee"
          "  UNION ALL"
          "  SELECT path.id, earlier.id, later.id, first.written, second.written"
          "  FROM path"
          "    CROSS JOIN call AS b"
          "      ON b.id BETWEEN path.first_call + 2 AND path.first_call + path.calls - 1"
          "    CROSS JOIN call AS a ON a.id BETWEEN b.parent + 1 AND b.id - 1"
          "      AND +a.parent = +b.parent"
          "      AND coalesce(a.ret_recv, a.ret_sent) <= coalesce(b.call_sent, b.call_recv)"
          "    CROSS JOIN call AS earlier ON earlier.id BETWEEN a.id AND +a.last"
          "    CROSS JOIN node AS first ON first.id = +earlier.callee"
          "    CROSS JOIN call AS later ON later.id BETWEEN b.id AND +b.last"
          "    CROSS JOIN node AS second ON second.id = +later.callee"
          "  WHERE path.completion IS NULL OR NOT EXISTS (SELECT 1 FROM call AS c"
          "    WHERE c.id BETWEEN a.id + 1 AND earlier.id AND c.continues IS NOT NULL"
          "      AND c.last >= earlier.id)" },
        { "request_excess",
          "  SELECT request, node, place, own, usual, own - usual AS excess, own_p99, alike, "
          "pattern,"
          "    id, probability"
          "  FROM (SELECT path.id AS request, node.written AS node, +call.place AS place,"
          "          CAST(call.own AS INTEGER) AS own,"
          "          of_place.own_p50 AS usual, of_place.own_p99 AS own_p99,"
          "          pattern.count AS alike, path.pattern AS pattern, call.id AS id,"
          "          CAST(call.probability AS REAL) AS probability"
          "        FROM path CROSS JOIN pattern ON pattern.id = path.pattern"
          "          CROSS JOIN call"
          "            ON call.id BETWEEN path.first_call AND path.first_call + path.calls - 1"
          "          CROSS JOIN node ON node.id = +call.callee"
          "          CROSS JOIN (SELECT pattern, place, own_p50, own_p99 FROM pattern_node"
          "                     LIMIT -1) AS of_place"
          "            ON of_place.pattern = path.pattern AND of_place.place = +call.place)" },
        { "statements",
          "  SELECT (SELECT written FROM node WHERE node.id = by_entry.node) AS node, statement,"
          "    (SELECT written FROM node WHERE node.id = entry.node) AS entry,"
          "    entry.label AS entry_label,"
          "    (SELECT written FROM node WHERE node.id = entry.client) AS client, calls, round(1.0 "
          "* calls / requests, 4) AS per_request,"
          "    time, latency_mean, errors, round(1.0 * time / nullif(total, 0), 4) AS share"
          "  FROM (SELECT +call.callee AS node, label.name AS statement, root.node AS entry,"
          "          pattern.label AS entry_label, pattern.client AS client, count(*) AS calls,"
          "          sum(call.own + call.network) AS time,"
          "          CAST(round(avg(coalesce(ret_recv, ret_sent) -"
          "            coalesce(call_sent, call_recv))) AS INTEGER) AS latency_mean,"
          "          count(CASE WHEN class <> 'ok' THEN 1 END) AS errors"
          "        FROM path CROSS JOIN pattern ON pattern.id = path.pattern"
          "          CROSS JOIN (SELECT pattern, place, node FROM pattern_node LIMIT -1) AS root"
          "            ON root.pattern = pattern.id AND root.place = 0"
          "          CROSS JOIN call"
          "            ON call.id BETWEEN path.first_call AND path.first_call + path.calls - 1"
          "          CROSS JOIN label ON label.id = +call.label"
          "        WHERE label.name NOT LIKE '% /%' AND"
          "          substr(label.name, 1, instr(label.name || ' ', ' ') - 1) IN (" SQL_VERBS ")"
          "        GROUP BY 1, 2, 3, 4, 5) AS by_entry"
          "    CROSS JOIN (SELECT root.node AS node, pattern.label AS label, client,"
          "          sum(count) AS requests, sum(total) AS total"
          "        FROM pattern CROSS JOIN pattern_node AS root"
          "          ON root.pattern = pattern.id AND root.place = 0"
          "        GROUP BY 1, 2, 3) AS entry"
          "      ON entry.node = by_entry.entry AND entry.label IS by_entry.entry_label"
          "        AND entry.client = by_entry.client"
          "  ORDER BY time DESC, node, statement, entry, entry_label, client" },
        { "node_hour",
          "  SELECT node.written AS node,"
          "    strftime('%Y-%m-%d %H:00', hour.hour / 1000000000, 'unixepoch') AS hour,"
          "    hour.calls AS calls, hour.latency_mean AS mean, hour.latency_p99 AS p99,"
          "    hour.own_mean AS own_mean"
          "  FROM hour CROSS JOIN node ON node.id = hour.node" },
};

char *store_views_sql(gboolean temporary)
{
        GString *sql = g_string_new(NULL);

        for (guint i = 0; i < G_N_ELEMENTS(views); i++)
                g_string_append_printf(sql, "CREATE %sVIEW %s AS%s;", temporary ? "TEMP " : "",
                                       views[i].name, views[i].select);
        return g_string_free(sql, FALSE);
}
