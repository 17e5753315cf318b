PRAGMA application_id = 1920361836;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE call (  id INTEGER PRIMARY KEY, path INTEGER NOT NULL REFERENCES path,  parent INTEGER REFERENCES call, place INTEGER NOT NULL,  caller INTEGER NOT NULL REFERENCES node, callee INTEGER NOT NULL REFERENCES node,  call_sent INTEGER, call_recv INTEGER, ret_sent INTEGER, ret_recv INTEGER,  own INTEGER NOT NULL, network INTEGER NOT NULL,  probability REAL NOT NULL, candidates INTEGER NOT NULL, trace_id TEXT,  label INTEGER REFERENCES label);
INSERT INTO "call" VALUES(1,1,NULL,0,1,2,100000000000,100005100000,100007000000,100002200000,700000,300000,1.0,0,'a',NULL);
INSERT INTO "call" VALUES(2,1,1,1,2,3,100005300000,100000400000,100001400000,100006500000,1000000,200000,1.0,1,'c',NULL);
INSERT INTO "call" VALUES(3,2,NULL,0,1,2,100001000000,100006100000,100008000000,100003100000,900000,200000,1.0,0,'b',NULL);
INSERT INTO "call" VALUES(4,2,3,1,2,3,100006400000,100001500000,100002300000,100007400000,800000,200000,1.0,1,'d',NULL);
CREATE TABLE capture (  id INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT, facts TEXT NOT NULL);
INSERT INTO "capture" VALUES(1,'both.trace','5f61c128bbe77c97364305f6090257743842e7b863bf2b1fe5823b7608932bd4','');
CREATE TABLE doubt (  id INTEGER PRIMARY KEY, caller INTEGER REFERENCES node,  callee INTEGER NOT NULL REFERENCES node, reason TEXT NOT NULL,  count INTEGER NOT NULL, total INTEGER NOT NULL, kind TEXT, bytes INTEGER,  total_bytes INTEGER, text TEXT NOT NULL);
CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE node (  id INTEGER PRIMARY KEY, name TEXT NOT NULL, written TEXT NOT NULL);
INSERT INTO "node" VALUES(1,'client','client');
INSERT INTO "node" VALUES(2,'web','web');
INSERT INTO "node" VALUES(3,'db','db');
CREATE TABLE path (  id INTEGER PRIMARY KEY, pattern INTEGER NOT NULL REFERENCES pattern,  start INTEGER NOT NULL, latency INTEGER NOT NULL,  first_call INTEGER NOT NULL REFERENCES call, calls INTEGER NOT NULL,  probability REAL NOT NULL);
INSERT INTO "path" VALUES(1,1,100000000000,2200000,1,2,1.0);
INSERT INTO "path" VALUES(2,1,100001000000,2100000,3,2,1.0);
CREATE TABLE pattern (  id INTEGER PRIMARY KEY, hash TEXT NOT NULL, signature TEXT NOT NULL,  client INTEGER NOT NULL REFERENCES node, count INTEGER NOT NULL,  total INTEGER NOT NULL, mean INTEGER NOT NULL, deviation INTEGER NOT NULL,  p50 INTEGER NOT NULL, p90 INTEGER NOT NULL, p99 INTEGER NOT NULL,  min INTEGER NOT NULL, max INTEGER NOT NULL, probability REAL NOT NULL,  doubt INTEGER REFERENCES doubt, label TEXT);
INSERT INTO "pattern" VALUES(1,'5b09c9686a779253','client>web(db)',1,2,4300000,2150000,50000,2100000,2200000,2200000,2100000,2200000,1.0,NULL,NULL);
CREATE TABLE pattern_node (  pattern INTEGER NOT NULL REFERENCES pattern, place INTEGER NOT NULL,  parent INTEGER, depth INTEGER NOT NULL, node INTEGER NOT NULL REFERENCES node,  latency_mean INTEGER NOT NULL, latency_p99 INTEGER NOT NULL, latency BLOB NOT NULL,  call_delay_mean INTEGER NOT NULL, call_delay_p99 INTEGER NOT NULL,  call_delay BLOB NOT NULL,  own_mean INTEGER NOT NULL, own_p99 INTEGER NOT NULL, own BLOB NOT NULL,  network_mean INTEGER NOT NULL, network_p99 INTEGER NOT NULL, network BLOB NOT NULL,  label TEXT, labels INTEGER,  PRIMARY KEY (pattern, place)) WITHOUT ROWID;
INSERT INTO "pattern_node" VALUES(1,0,NULL,0,2,2150000,2200000,X'C0AC8002A08D06C0F38C0480A8DBF79A8D02028108010301',0,0,X'00000000010102',800000,900000,X'C0B955C09A0C80A8C3018090A7F0EA25029607011801',250000,300000,X'80B518A08D06C0843D80A8EAA4E40302A206012801',NULL,0);
INSERT INTO "pattern_node" VALUES(1,1,0,1,3,1100000,1200000,X'80897AC09A0C80C78C0280A0D5DA814702BB07010F01',250000,300000,X'80B518A08D06C0843D80A8EAA4E40302A206012801',900000,1000000,X'80D461C09A0C80DDDB0180A0F8BCDD2F02A207011901',200000,200000,X'80B5180080EA3080C0FC82AA0201A20602',NULL,0);
CREATE TABLE run (  version TEXT NOT NULL, method TEXT NOT NULL, arguments TEXT, parameters TEXT,  seed INTEGER NOT NULL, messages INTEGER NOT NULL, calls INTEGER NOT NULL,  unmatched_calls INTEGER NOT NULL, unmatched_returns INTEGER NOT NULL,  cut_paths INTEGER NOT NULL, parallelism REAL, first INTEGER, last INTEGER,  judgement TEXT, fit INTEGER);
INSERT INTO "run" VALUES('0.1.0','joint','nesting -o both.sqlite -w both.txt both.trace','method=joint
penalty=2,0,0
skew_window_ns=0
smooth=0
fold=1
sibling_order=multiset
max_call_ns=0
window_ns=0
log_likelihood=0
',0,16,4,0,0,0,1.0,100000000000,100008000000,'fit for nesting and convolution, each node on its own clock; but the clocks are apart, as 4 of 4 calls arrived before they were sent, or back',1);
CREATE TABLE trust (  node INTEGER PRIMARY KEY REFERENCES node, calls INTEGER NOT NULL,  guessed INTEGER NOT NULL, probability REAL NOT NULL);
INSERT INTO "trust" VALUES(2,2,0,1.0);
CREATE TABLE vertex (  id INTEGER PRIMARY KEY, parent INTEGER REFERENCES vertex,  node INTEGER NOT NULL REFERENCES node, depth INTEGER NOT NULL,  count INTEGER NOT NULL, probability REAL NOT NULL, end TEXT);
CREATE TABLE vertex_delay (  vertex INTEGER NOT NULL REFERENCES vertex, delay INTEGER NOT NULL,  count INTEGER NOT NULL, PRIMARY KEY (vertex, delay)) WITHOUT ROWID;
CREATE VIEW request AS  SELECT path.id AS id, pattern.signature AS type, path.start AS start,    path.start + path.latency AS end, path.latency AS latency,    (SELECT json_group_array(json_object(         'node', node, 'start', start, 'end', end, 'own', own))     FROM (SELECT node.written AS node, coalesce(call_recv, call_sent) AS start,             coalesce(ret_sent, ret_recv) AS end, own           FROM call CROSS JOIN node ON node.id = +call.callee           WHERE call.id BETWEEN path.first_call AND path.first_call + path.calls - 1           ORDER BY call.id)) AS nodes,    path.probability AS probability, path.pattern AS pattern, pattern.label AS label  FROM path CROSS JOIN pattern ON pattern.id = path.pattern;
CREATE VIEW request_node AS  SELECT path.id AS request, node.written AS node,    coalesce(call.call_recv, call.call_sent) AS start,    coalesce(call.ret_sent, call.ret_recv) AS end,    CAST(call.own AS INTEGER) AS own,    (SELECT name FROM label WHERE label.id = call.label) AS label  FROM path    CROSS JOIN call ON call.id BETWEEN path.first_call AND path.first_call + path.calls - 1    CROSS JOIN node ON node.id = +call.callee;
CREATE VIEW slowest_request AS  SELECT path.id AS id, path.latency AS latency, pattern.mean AS pattern_mean,    (SELECT node.written FROM call CROSS JOIN node ON node.id = +call.callee     WHERE call.id BETWEEN path.first_call AND path.first_call + path.calls - 1     ORDER BY call.own DESC, call.id LIMIT 1) AS node,    (SELECT max(call.own) FROM call     WHERE call.id BETWEEN path.first_call AND path.first_call + path.calls - 1) AS own,    path.start AS start, path.probability AS probability, path.pattern AS pattern,    pattern.signature AS type, pattern.label AS label  FROM path CROSS JOIN pattern ON pattern.id = path.pattern  ORDER BY path.latency DESC, path.id;
CREATE VIEW pattern_hour AS  SELECT pattern, strftime('%Y-%m-%d %H:00', hour / 1000000000, 'unixepoch') AS hour,    n AS count, CAST(round(avg(latency)) AS INTEGER) AS mean,    min(CASE WHEN 100 * rank >= 50 * n THEN latency END) AS p50,    min(CASE WHEN 100 * rank >= 90 * n THEN latency END) AS p90,    min(CASE WHEN 100 * rank >= 99 * n THEN latency END) AS p99,    max(latency) AS max, signature  FROM (SELECT pattern, hour, latency,          row_number() OVER (PARTITION BY pattern, hour ORDER BY latency) AS rank,          count(*) OVER (PARTITION BY pattern, hour) AS n        FROM (SELECT pattern, latency, start -                (start % 3600000000000 + 3600000000000) % 3600000000000 AS hour              FROM path))    CROSS JOIN pattern ON pattern.id = pattern  GROUP BY pattern, hour;
CREATE VIEW pattern_callee AS  SELECT pattern, node.written AS node, count * count(*) AS calls,    CAST(round(avg(latency_mean)) AS INTEGER) AS latency_mean,    sum(own_mean) AS own_mean, round(1.0 * sum(own_mean) / nullif(mean, 0), 4) AS share,    signature  FROM pattern_node CROSS JOIN pattern ON pattern.id = pattern    CROSS JOIN node ON node.id = +pattern_node.node  GROUP BY pattern, pattern_node.node;
CREATE VIEW repeated_call AS  SELECT child.pattern AS pattern, caller.written AS caller, callee.written AS callee,    count(*) AS times, count AS requests, sum(child.latency_mean) AS latency_mean,    signature  FROM pattern_node AS child    CROSS JOIN pattern_node AS parent      ON parent.pattern = child.pattern AND parent.place = child.parent    CROSS JOIN pattern ON pattern.id = child.pattern    CROSS JOIN node AS caller ON caller.id = +parent.node    CROSS JOIN node AS callee ON callee.id = +child.node  GROUP BY child.pattern, child.parent, child.node HAVING count(*) > 1;
COMMIT;
