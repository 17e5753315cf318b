# SPDX-License-Identifier: BSD-2-Clause
"""What ravel export writes, against what the store holds, in TAP.

    check-export.py RAVEL STORE FIRST-NUMBER

Each format is read as its own programs would, and compared with the store's tables,
which ravel query gives.
"""
import collections
import json
import subprocess
import sys

ravel, store, number = sys.argv[1], sys.argv[2], int(sys.argv[3])


def ask(sql):
    answer = subprocess.run([ravel, 'query', '--format', 'json', store, sql], check=True,
                            capture_output=True, text=True).stdout
    return [json.loads(line) for line in answer.splitlines()]


def export(form):
    return subprocess.run([ravel, 'export', store, '--as', form], check=True,
                          capture_output=True, text=True).stdout


def result(wrong, name):
    """wrong: what is, the first of it is shown"""
    global number
    number += 1
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
    for line in wrong[:5]:
        print('#', line)


Call = collections.namedtuple('Call', 'path parent caller callee start end stamps own network '
                                      'probability candidates id label place queued outcome causes')
names = {n['id']: n for n in ask('SELECT id, name, written FROM node')}
paths = {p['id']: p for p in ask(
    'SELECT path.id AS id, hash, pattern, path.probability AS probability, client, latency '
    'FROM path JOIN pattern ON pattern.id = pattern')}
labels = {label['id']: label['name'] for label in ask('SELECT id, name FROM label')}
causes = collections.defaultdict(dict)
for c in ask('SELECT call, cause, time FROM call_cause'):
    causes[c['call']][c['cause'].replace(' ', '_').lower()] = c['time']
calls = {}
for c in ask('SELECT * FROM call'):
    stamps = [None if c[k] is None else int(c[k])
              for k in ('call_sent', 'call_recv', 'ret_sent', 'ret_recv')]
    start = stamps[1] if stamps[0] is None else stamps[0]
    end = stamps[2] if stamps[3] is None else stamps[3]
    end = start if end is None else end  # a message
    calls[c['id']] = Call(c['path'], c['parent'], c['caller'], c['callee'], start, end, stamps,
                          int(c['own']), int(c['network']), c['probability'], c['candidates'],
                          c['trace_id'], labels.get(c['label']), c['place'],
                          int(c['queued'] or 0), c['outcome'] or '-', causes[c['id']])
origin = int(ask('SELECT first FROM run')[0]['first'])


def close(a, b):
    """six digits are written"""
    return abs(a - b) <= 1e-5 * abs(b)


# --- tsv: all columns of every call
wrong = []
lines = export('tsv').splitlines()
columns = lines[0].split('\t')
if len(lines) - 1 != len(calls):
    wrong.append(f'{len(lines) - 1} lines, expected {len(calls)}')
root = 0
for (key, c), line in zip(calls.items(), lines[1:]):
    row = dict(zip(columns, line.split('\t')))
    root = key if c.parent is None else root
    expected = {
        'request': str(c.path), 'pattern': paths[c.path]['hash'], 'call': str(key - root + 1),
        'parent': '-' if c.parent is None else str(c.parent - root + 1),
        'caller': names[c.caller]['written'], 'callee': names[c.callee]['written'],
        'own': str(c.own), 'network': str(c.network), 'candidates': str(c.candidates),
        'trace_id': c.id or '-', 'label': c.label or '-', 'probability': row['probability'],
        'outcome': c.outcome, **{k: str(c.causes.get(k, 0)) for k in columns[columns.index('outcome') + 1:]},
        **{k: '-' if t is None else str(t)
           for k, t in zip(('call_sent', 'call_recv', 'ret_sent', 'ret_recv'), c.stamps)}}
    if {k: row.get(k) for k in expected} != expected or not close(float(row['probability']), c.probability):
        wrong.append(f'{row}, expected {expected}')
result(wrong, 'tsv: every call as it is in the store')

# --- folded: own times by stack, and in all the latency of all requests
wrong = []
stacks = {}
expected = collections.Counter()
operations = {(n['pattern'], n['place']): f" {n['label']}" if n['label'] else ''
              for n in ask('SELECT pattern, place, label FROM pattern_node')}
for key, c in calls.items():
    caller = stacks[c.parent] if c.parent else (names[paths[c.path]['client']]['written'],)
    stacks[key] = caller + (names[c.callee]['written'] + operations[paths[c.path]['pattern'], c.place],)
    expected[stacks[key]] += c.own
    expected[caller + ('(network)',)] += c.network
    expected[caller + ('(queued)',)] += c.queued
found = {}
for line in export('folded').splitlines():
    stack, time = line.rsplit(' ', 1)
    found[tuple(frame.replace('%3B', ';') for frame in stack.split(';'))] = int(time)
for stack in expected | found:
    if found.get(stack, 0) != (expected[stack] + 500) // 1000:
        wrong.append(f'{stack}: {found.get(stack)} us, expected {expected[stack]} ns')
goes_on = any(c.queued for c in calls.values())  # after the latency
if not goes_on and abs(sum(found.values()) - sum(int(p['latency']) for p in paths.values()) / 1000) > len(expected):
    wrong.append(f'{sum(found.values())} us in all')
result(wrong, 'folded: the own time of each stack')

# --- chrome: lanes on which calls nest, each with its own times
wrong = []
document = json.loads(export('chrome'))
seen = collections.Counter()
lanes = collections.defaultdict(list)
for event in document['traceEvents']:
    if event['ph'] in 'BE':
        lanes[event['tid']].append(event)
    elif event['ph'] != 'M':
        wrong.append(f'{event}')
named = {e['tid'] for e in document['traceEvents'] if e['name'] == 'thread_name'}
if named != set(lanes) or int(document['otherData']['origin_unix_ns']) != origin:
    wrong.append(f'lanes {named}, expected {set(lanes)}')
for events in lanes.values():
    stack = []
    if events != sorted(events, key=lambda e: e['ts']):  # stable, as viewers sort
        wrong.append(f'{events[0]["tid"]}: time goes back')
    for event in events:
        if event['ph'] == 'B':
            stack.append(event)
            continue
        begin = stack.pop() if stack else {'name': None}
        if begin['name'] != event['name']:
            wrong.append(f'{event} ends {begin}')
            break
        args = event['args']
        if stack and stack[-1]['name'].split(' ')[0] != args['caller']:
            wrong.append(f'{event} lies below {stack[-1]}')
        seen[args['caller'], event['name'], round(begin['ts'] * 1000), round(event['ts'] * 1000),
             round(args['own_us'] * 1000), round(args.get('network_us', 0) * 1000)] += 1
    if stack:
        wrong.append(f'{stack[-1]} does not end')
expected = collections.Counter(
    (names[c.caller]['name'],
     names[c.callee]['name'] + (f' {c.label}' if c.label else ''), c.start - origin,
     max(c.end, c.start) - origin, c.own, c.network) for c in calls.values())
wrong += [f'{call}: {seen[call]} times, expected {expected[call]}'
          for call in seen | expected if seen[call] != expected[call]]
result(wrong, 'chrome: every call, and calls on a lane nest')
if goes_on:
    sys.exit()  # spans of messages have other times

# --- otlp: a trace a request, a span of its service for each end of a call, but of the callee alone
# where nobody waits, and of the first
wrong = []
text = export('otlp')
lines = text.splitlines()
if len(lines) != len(paths):
    wrong.append(f'{len(lines)} lines, expected {len(paths)}')
KINDS = {'CLIENT': 3, 'SERVER': 2, 'PRODUCER': 4, 'CONSUMER': 5}
# What each kind of span must have by OpenTelemetry's conventions, as far as packets tell.
REQUIRED = {
    ('http.request.method', 'caller'): {'server.address', 'url.full'},
    ('http.request.method', 'callee'): {'url.path', 'url.scheme'},
    ('db.system.name', 'caller'): {'db.operation.name', 'server.address'},
    ('rpc.system.name', 'caller'): {'rpc.method', 'server.address'},
    ('rpc.system.name', 'callee'): {'rpc.method'},
    ('messaging.system', 'caller'): {'messaging.operation.name', 'messaging.operation.type', 'server.address'},
    ('messaging.system', 'callee'): {'messaging.operation.name', 'messaging.operation.type'},
}


def check_conventions(span, end):
    attributes = {a['key']: list(a['value'].values())[0] for a in span['attributes']}
    if 'server.port' in attributes and not attributes['peer.service'].endswith(f":{attributes['server.port']}"):
        wrong.append(f'{span}: a port that nobody has seen')
    if len(attributes) != len(span['attributes']):
        wrong.append(f'{span}: an attribute twice')
    for (key, at), others in REQUIRED.items():
        if key in attributes and at == end and not others <= set(attributes):
            wrong.append(f'{span}: {others - set(attributes)} missing')
    for prefix, main in (('db.', 'db.system.name'), ('rpc.', 'rpc.system.name'), ('http.', 'http.request.method'),
                         ('messaging.', 'messaging.system')):
        if any(key.startswith(prefix) for key in attributes) and main not in attributes:
            wrong.append(f'{span}: no {main}')
    if 'db.system.name' in attributes and span['kind'] != KINDS['CLIENT']:
        wrong.append(f'{span}: a question to a database that is no client\'s')
    if 'messaging.system' in attributes and span['kind'] not in (
            (KINDS['PRODUCER'], KINDS['CLIENT']) if attributes['messaging.operation.type'] == 'send' else (KINDS['CONSUMER'],)):
        wrong.append(f'{span}: a message that is neither sent nor taken')
    return attributes


def times(span):
    return int(span['startTimeUnixNano']), int(span['endTimeUnixNano'])


spans, traces, first_of_path = {}, set(), 1
for number_of_path, line in enumerate(lines, 1):
    found = {}
    for resource in json.loads(line)['resourceSpans']:
        service = resource['resource']['attributes'][0]['value']['stringValue']
        for scope in resource['scopeSpans']:
            if scope['scope']['attributes'][0] != {'key': 'ravel.inferred',
                                                   'value': {'boolValue': True}}:
                wrong.append(f'{scope["scope"]}')
            for span in scope['spans']:
                found[span['spanId']] = service, span
                traces.add(span['traceId'])
                if len(span['traceId']) != 32 or len(span['spanId']) != 16 or span['spanId'] in spans:
                    wrong.append(f'{span}')
    spans.update(found)
    callees = [(service, span) for service, span in found.values() if any(
        a['key'] == 'ravel.own_ns' for a in span['attributes'])]
    mine = [(k, c) for k, c in calls.items() if c.path == number_of_path] if len(calls) < 2000 else [
        (k, calls[k]) for k in range(first_of_path, first_of_path + len(callees))]
    first_of_path = mine[-1][0] + 1
    by_place = collections.defaultdict(list)
    for k, c in mine:
        start = c.start if c.parent is None or c.stamps[1] is None else c.stamps[1]
        by_place[str(start), names[c.callee]['name'], str(c.own)].append(k)
    ids = {}
    for service, span in callees:
        attributes = check_conventions(span, 'callee')
        key = by_place[span['startTimeUnixNano'], service, attributes['ravel.own_ns']].pop(0)
        ids[key] = span['spanId']
        c = calls[key]
        caller = names[c.caller if c.parent else paths[c.path]['client']]['name']
        probability = attributes['ravel.probability' if c.parent else 'ravel.request_probability']
        events = [(e['name'], int(e['timeUnixNano'])) for e in span.get('events', [])]
        both = [(n, t) for n, s, t in (('call received', c.stamps[0], c.stamps[1]),
                                       ('return sent', c.stamps[3], c.stamps[2]))
                if s is not None and t is not None]
        enter = c.stamps[0] if c.stamps[1] is None else c.stamps[1]
        reply = c.stamps[3] if c.stamps[2] is None else c.stamps[2]
        first = c.parent is None
        if (span['name'] != (c.label or f"{caller} > {names[c.callee]['name']}")
                or times(span) != ((c.start, max(c.end, c.start)) if first else (enter, max(enter, reply)))
                or span['kind'] not in (2, 5) or events != (both if first else [])
                or int(attributes.get('ravel.network_ns', 0)) != c.network
                or sum(int(v) for k, v in attributes.items() if k.startswith('ravel.way.')) != c.network
                or attributes.get('ravel.id') != c.id or attributes['client.address'] != names[c.caller]['name']
                or not close(probability, c.probability if c.parent
                             else paths[c.path]['probability'])
                or (c.parent and int(attributes['ravel.candidates']) != c.candidates)
                or (first and attributes['ravel.pattern'] != paths[c.path]['hash'])):
            wrong.append(f'{span}, expected {c}')
    for k, c in mine:
        below = found[ids[k]][1].get('parentSpanId')
        if c.parent is None:
            if below:
                wrong.append(f'{found[ids[k]]} has a parent')
            continue
        service, span = found[below]
        attributes = check_conventions(span, 'caller')
        if (service != names[c.caller]['name'] or times(span) != (c.start, max(c.start, c.end))
                or span['kind'] not in (3, 4) or span['name'] != found[ids[k]][1]['name']
                or attributes['peer.service'] != names[c.callee]['name']
                or span.get('parentSpanId') != ids[c.parent]):
            wrong.append(f'{span}, expected it to be of {c} below {ids[c.parent]}')
if len(spans) != 2 * len(calls) - len(paths) or len(traces) != len(paths):
    wrong.append(f'{len(spans)} spans of {len(traces)} traces')
result(wrong, 'otlp: two spans a call, of its services, each below its parent, with what it must have')
result([] if export('otlp') == text else ['other bytes'], 'otlp: the same ids the second time')
