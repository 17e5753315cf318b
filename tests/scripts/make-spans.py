#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Spans of a made-up shop in the formats that ravel import reads, and of each that can be wrong.

    make-spans.py all DIRECTORY
        shop.jaeger.json shop.otlp.jsonl shop.otlp.json shop.zipkin.json: 200 requests, the same in
        each; shop.calls: what calls there are, caller, callee, parent's place, start and end (us);
        forms/FORM.FORMAT: the same again, in what answers, exporters and databases wrap spans in
        CASE.json CASE.expected: one thing that is wrong, and what has to be said
    make-spans.py lines BYTES
        OTLP, a line an export of some 50 spans, to standard output, until there are so many bytes
    make-spans.py jaeger FOUR TRUTH DIRECTORY
        known.json and known.calls: Jaeger's spans of what is known of a real system's calls, and these
        calls; FOUR has their stamps (us), TRUTH their parents
    make-spans.py compare CALLS.tsv KNOWN.calls
        whether what ravel nesting --calls wrote are these calls, with these parents and times
    make-spans.py fuzz DIRECTORY
        small files of each format, to begin fuzzing with

Always the same bytes.
"""
import base64
import collections
import copy
import csv
import json
import os
import random
import re
import sys

START = 1_700_000_000_000_000  # us


def hex_id(n):
    """ids are mixed, so that the order of ids is not that of time"""
    return f'{(n * 0x9e3779b97f4a7c15 + 1) & (1 << 64) - 1:016x}'


class Trace:
    """A request: spans of it, and the calls that they tell of."""

    def __init__(self, number, start):
        self.id = hex_id(2 * number + 10**6) + hex_id(2 * number + 10**6 + 1)
        self.number, self.n = number, 0
        self.start = start
        self.spans, self.calls = [], []

    def span(self, service, kind, name, parent, start, end, **more):
        self.n += 1
        span = dict(trace=self.id, id=hex_id(self.number * 100 + self.n), parent=parent and parent['id'],
                    service=service, kind=kind, name=name, start=self.start + start, end=self.start + end)
        span.update(more)
        self.spans.append(span)
        return span

    def call(self, caller, callee, parent, start, end):
        """start and end at the caller, where it has a span"""
        self.calls.append((caller, callee, parent, self.start + start, self.start + end))
        return len(self.calls) - 1


def request(number, start, rng):
    t = Trace(number, start)
    us = lambda low, high: rng.randrange(low, high)
    a = us(300, 500)
    root = t.span('frontend', 'server', 'GET /cart', None, 0, 20000 + us(0, 999))
    web = t.call('client', 'frontend', None, 0, root['end'] - t.start)
    work = t.span('frontend', 'internal', 'render', root, a, 15000)
    # a call that both ends saw, with a call to a database in it
    end = a + 4000 + us(0, 900)
    client = t.span('frontend', 'client', 'catalog.List', work, a + 100, end)
    server = t.span('catalog', 'server', 'List', client, a + 200, end - 150)
    c = t.call('frontend', 'catalog', web, a + 100, end)
    t.span('catalog', 'client', 'SELECT items', server, a + 400, end - 400, peer='postgres')
    t.call('catalog', 'postgres', c, a + 400, end - 400)
    # two at once; only the callee of the second is instrumented without its caller
    b = end + us(100, 300)
    t.span('frontend', 'client', 'GET', work, b, b + 900, peer='redis')
    t.call('frontend', 'redis', web, b, b + 900)
    t.span('cart', 'server', 'Get', work, b + 50, b + 1400)
    t.call('frontend', 'cart', web, b + 50, b + 1400)
    # a message, and what is done with it after the reply
    q = b + 2000
    sent = t.span('frontend', 'producer', 'orders send', root, q, q + 80, peer='orders')
    m = t.call('frontend', 'orders', web, q, q)
    late = 25000 + us(0, 5000)
    got = t.span('mailer', 'consumer', 'orders process', sent, late, late + 3000, peer='orders')
    d = t.call('orders', 'mailer', m, late, late + 3000)
    t.span('mailer', 'client', 'UPDATE', got, late + 500, late + 1100, peer='postgres')
    t.call('mailer', 'postgres', d, late + 500, late + 1100)
    return t


def shop(n):
    rng = random.Random(22)
    start, traces = START, []
    for i in range(n):
        start += rng.randrange(3000, 30000)
        traces.append(request(i + 1, start, rng))
    return traces


# --- formats ---------------------------------------------------------------------

def jaeger_span(s, processes):
    tags = [{'key': 'sampler.type', 'type': 'string', 'value': 'const'}]
    if s['kind'] != 'internal':
        tags.append({'key': 'span.kind', 'type': 'string', 'value': s['kind']})
    if s.get('peer'):
        tags.append({'key': 'peer.service', 'type': 'string', 'value': s['peer']})
    references = [{'refType': s.get('ref', 'CHILD_OF'), 'traceID': s.get('ref_trace', s['trace']),
                   'spanID': s['parent']}] if s['parent'] else []
    return {'traceID': s['trace'], 'spanID': s['id'], 'operationName': s['name'], 'references': references,
            'startTime': s['start'], 'duration': s['end'] - s['start'], 'tags': tags, 'logs': [
                {'timestamp': s['start'], 'fields': [{'key': 'event', 'type': 'string', 'value': 'a "quoted" \\ text'}]}],
            'processID': processes[s['service']], 'warnings': s.get('warnings')}


def jaeger(traces):
    data = []
    for spans in traces:
        processes = {}
        for s in spans:
            processes.setdefault(s['service'], f'p{len(processes) + 1}')
        data.append({'traceID': spans[0]['trace'], 'spans': [jaeger_span(s, processes) for s in spans],
                     'processes': {p: {'serviceName': name, 'tags': [
                         {'key': 'hostname', 'type': 'string', 'value': f'host-of-{name}'}]}
                         for name, p in processes.items()}, 'warnings': None})
    return {'data': data, 'total': 0, 'limit': 0, 'offset': 0, 'errors': None}


def otlp_span(s):
    attributes = [{'key': 'http.response.status_code', 'value': {'intValue': '200'}},
                  {'key': 'tags', 'value': {'arrayValue': {'values': [{'stringValue': 'x'}]}}}]
    key = 'messaging.destination.name' if s['kind'] in ('producer', 'consumer') else 'peer.service'
    if s.get('peer'):
        attributes.append({'key': key, 'value': {'stringValue': s['peer']}})
    span = {'traceId': s['trace'], 'spanId': s['id'], 'name': s['name'],
            'kind': ['', 'internal', 'server', 'client', 'producer', 'consumer'].index(s['kind']),
            'startTimeUnixNano': str(s['start'] * 1000), 'endTimeUnixNano': str(s['end'] * 1000),
            'attributes': attributes, 'status': {}}
    if s['parent']:
        span['parentSpanId'] = s['parent']
    if s.get('links'):
        span['links'] = s['links']
    return span


def otlp(spans):
    by_service = {}
    for s in spans:
        by_service.setdefault(s['service'], []).append(s)
    return {'resourceSpans': [
        {'resource': {'attributes': [{'key': 'telemetry.sdk.name', 'value': {'stringValue': 'made'}},
                                     {'key': 'service.name', 'value': {'stringValue': name}},
                                     {'key': 'host.name', 'value': {'stringValue': 'host-of-' + name}}]},
         'scopeSpans': [{'scope': {'name': 'shop'}, 'spans': [otlp_span(s) for s in some]}]}
        for name, some in by_service.items()]}


def zipkin_span(s):
    span = {'traceId': s['trace'], 'id': s['id'], 'name': s['name'], 'timestamp': s['start'],
            'duration': s['end'] - s['start'], 'localEndpoint': {'serviceName': s['service']}, 'tags': {'a': 'b'}}
    if s['kind'] != 'internal':
        span['kind'] = s['kind'].upper()
    if s['parent']:
        span['parentId'] = s['parent']
    if s.get('peer'):
        span['remoteEndpoint'] = {'serviceName': s['peer'], 'ipv4': '10.0.0.1'}
    for key in ('shared', 'timestamp', 'duration'):
        if key in s and s[key] is None:
            del span[key]
        elif key in s:
            span[key] = s[key]
    return span


def share_ids(spans):
    """as Zipkin does: a server has the id of its client"""
    spans = copy.deepcopy(spans)
    by_id = {s['id']: s for s in spans}
    for s in spans:
        above = by_id.get(s['parent'])
        if s['kind'] == 'server' and above and above['kind'] == 'client':
            for child in spans:
                if child['parent'] == s['id']:
                    child['parent'] = above['id']
            s['id'], s['parent'], s['shared'] = above['id'], above['parent'], True
    return spans


def zipkin(spans):
    return [zipkin_span(s) for s in spans]


def zipkin_v1_span(s):
    """each end says what it saw"""
    endpoint = {'serviceName': s['service'], 'ipv4': '10.0.0.1', 'port': 80}
    span = {'traceId': s['trace'], 'id': s['id'], 'name': s['name'], 'timestamp': s['start'],
            'duration': s['end'] - s['start'], 'annotations': [], 'binaryAnnotations': []}
    if s['parent']:
        span['parentId'] = s['parent']
    values = {'client': ('cs', 'cr'), 'server': ('sr', 'ss'), 'producer': ('ms',), 'consumer': ('mr',)}.get(s['kind'])
    for value, time in zip(values or (), (s['start'], s['end'])):
        span['annotations'].append({'timestamp': time, 'value': value, 'endpoint': endpoint})
    if not values:
        span['binaryAnnotations'].append({'key': 'lc', 'value': '', 'endpoint': endpoint})
    if s.get('peer'):
        key = 'ma' if s['kind'] in ('producer', 'consumer') else 'sa'
        span['binaryAnnotations'].append({'key': key, 'value': True, 'endpoint': {'serviceName': s['peer']}})
    return span


def zipkin_v1_whole(spans):
    """what both ends saw is one span"""
    by_id = {}
    for s in share_ids(spans):
        span = zipkin_v1_span(s)
        first = by_id.setdefault(s['id'], span)
        if first is not span:
            first['annotations'] += span['annotations']
            first['binaryAnnotations'] += span['binaryAnnotations']
    return list(by_id.values())


def snake(value):
    if isinstance(value, list):
        return [snake(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {re.sub('[A-Z]', lambda m: '_' + m[0].lower(), key): snake(v) for key, v in value.items()}


def elastic_span(span, process):
    """a document of Jaeger in Elasticsearch, with tags as fields"""
    fields = {tag['key'].replace('.', '@'): tag['value'] for tag in span.pop('tags')}
    del span['processID']
    return {'_index': 'jaeger-span', '_id': 'x' + span['spanID'], '_source': {**span, 'tag': fields, 'process': process}}


def forms(traces):
    """name: text"""
    spans = [s for t in traces for s in t.spans]
    otlps, jaegers = [otlp(t.spans) for t in traces], jaeger([t.spans for t in traces])['data']
    resources = [r for o in otlps for r in o['resourceSpans']]
    documents = [elastic_span(copy.deepcopy(s), t['processes'][s['processID']]) for t in jaegers for s in t['spans']]
    lines = [{**otlp_span(s), 'resource': otlp([s])['resourceSpans'][0]['resource']} for s in spans]
    libraries = json.dumps(otlp(spans)).replace('"scopeSpans"', '"instrumentationLibrarySpans"')
    zipkins = [zipkin_span(s) for t in traces for s in share_ids(t.spans)]
    documents_of = {
        'tempo.otlp': {'batches': resources}, 'tempo-trace.otlp': {'trace': {'batches': resources}},
        'tempo-v2.otlp': {'trace': {'resourceSpans': resources}, 'metrics': {}},
        'jaeger-v3.otlp': {'result': {'resourceSpans': resources}}, 'requests.otlp': otlps,
        'resources.otlp': resources, 'snake.otlp': snake(otlp(spans)), 'snakes.otlp': [snake(o) for o in otlps],
        'trace.jaeger': jaegers, 'answers.jaeger': [{'data': [t]} for t in jaegers],
        'elastic.jaeger': {'took': 1, 'hits': {'total': {'value': 1}, 'hits': documents}},
        'traces.zipkin': [zipkins[::2], zipkins[1::2]], 'v1.zipkin': [zipkin_v1_span(s) for s in spans],
        'v1-shared.zipkin': [zipkin_v1_span(s) for t in traces for s in share_ids(t.spans)],
        'v1-whole.zipkin': [[s for t in traces for s in zipkin_v1_whole(t.spans)]]}
    lines_of = {
        'lines-v3.otlp': [{'result': o} for o in otlps], 'spans.otlp': lines, 'lines.jaeger': jaegers,
        'elastic-lines.jaeger': documents, 'sources.jaeger': [d['_source'] for d in documents],
        'lines.zipkin': zipkins}
    texts = {name: json.dumps(value) for name, value in documents_of.items()}
    texts.update({name: ''.join(json.dumps(v) + '\n' for v in values) for name, values in lines_of.items()})
    texts['libraries.otlp'] = libraries
    for name in 'tempo.otlp', 'trace.jaeger', 'lines.zipkin':
        texts['mark-' + name] = '\ufeff' + texts[name]
    return texts


# --- what can be wrong -----------------------------------------------------------

def good():
    return copy.deepcopy(shop(3)[0].spans)


USUAL = {'spans': 10, 'traces of spans': 1, 'calls': 7, 'calls seen at both ends': 1,
         'calls to nodes without spans': 3, 'messages that nobody answers': 1, 'spans inside a node, not used': 1}


def lacks(n, of):
    return f'{n} of {of} ({100 * n / of:.1f} %): score whole ones only (--whole)'


def find(spans, **what):
    return next(s for s in spans if all(s.get(k) == v for k, v in what.items()))


def without(spans, **what):
    gone = find(spans, **what)
    return [s for s in spans if s is not gone]


def case_good():
    return zipkin(share_ids(good())), {}


def case_duplicate():
    spans = good()
    return jaeger([spans + [find(spans, service='cart')]]), {'spans': 11, 'spans left out: duplicates': 1}


def case_clash():
    spans = good()
    other = dict(find(spans, service='cart'), name='another')
    other['start'] += 1
    return otlp(spans + [other]), {'spans': 11, 'spans left out: another has their id': 1}


def case_no_id():
    spans = good()
    find(spans, service='cart')['id'] = ''
    return otlp(spans), {'calls': 6, 'spans left out: without an id or a trace': 1}


def case_sampled():
    traces = [copy.deepcopy(t.spans) for t in shop(4)]
    traces[1] = without(traces[1], name='GET /cart')
    return jaeger(traces), {
        'spans': 39, 'traces of spans': 4, 'calls': 28, 'calls seen at both ends': 4,
        'calls to nodes without spans': 12, 'messages that nobody answers': 4, 'spans inside a node, not used': 3,
        'spans whose parent is missing': 2, 'traces without a root': '1 of 4 (25.0 %)',
        'traces that lack a part': lacks(1, 4), 'of these at the ends of the files': '1 of 1 (100.0 %)'}


def case_no_times():
    spans = good()
    find(spans, service='cart').update(timestamp=None, duration=None)
    return zipkin(spans), {'calls': 6, 'spans without times': 1, 'traces that lack a part': lacks(1, 1),
                           'of these at the ends of the files': '1 of 1 (100.0 %)'}


def case_reversed():
    spans = good()
    s = find(spans, service='cart')
    s['start'], s['end'] = s['end'], s['start']
    return otlp(spans), {'calls': 6, 'spans that end before they begin': 1,
                         'traces that lack a part': lacks(1, 1),
                         'of these at the ends of the files': '1 of 1 (100.0 %)'}


def case_base64():
    spans = good()
    for s in spans:
        for key in ('trace', 'id', 'parent'):
            s[key] = s[key] and base64.b64encode(bytes.fromhex(s[key])).decode()
    return otlp(spans), {'ids in base64': 29}


def case_odd_ids():
    spans = good()
    for s in spans:
        s['id'], s['parent'] = 'span ' + s['id'], s['parent'] and 'span ' + s['parent']
    return jaeger([spans]), {'ids that are not hexadecimal': 19}


def case_mixed_ids():
    spans = good()
    for s in spans:
        if s['service'] == 'catalog':
            s['trace'] = s['trace'][16:]
    return zipkin(spans), {'traces with ids of 64 and of 128 bits': 1}


def case_small_ids():
    """ids are unique in a trace alone"""
    traces = [copy.deepcopy(t.spans) for t in shop(3)]
    for spans in traces:
        numbers = {s['id']: str(i + 1) for i, s in enumerate(spans)}
        for s in spans:
            s['id'], s['parent'] = numbers[s['id']], s['parent'] and numbers[s['parent']]
    return jaeger(traces), {k: 3 * v for k, v in USUAL.items()}


def case_skewed():
    spans = good()
    for s in spans:
        if s['service'] == 'catalog':
            s['start'] += 700
            s['end'] += 700
    return jaeger([spans]), {"servers' spans not within their client's": 1, 'clocks': 'several'}


def case_adjusted():
    spans = good()
    for s in spans:
        if s['service'] == 'catalog':
            s['warnings'] = ["This span's timestamps were adjusted by 1.5ms"]
    find(spans, service='cart')['warnings'] = ['clock skew adjustment disabled; not applying']
    return jaeger([spans]), {'spans whose clock Jaeger adjusted': 2}


def case_no_service():
    spans = good()
    find(spans, service='cart')['service'] = ''
    return zipkin(spans), {'spans without the name of a service': 1}


def case_circle():
    spans = good()
    a, b = find(spans, name='render'), find(spans, service='cart')
    a['parent'], b['parent'] = b['id'], a['id']
    return jaeger([spans]), {'spans that are their own ancestors': 1, 'traces that lack a part': lacks(1, 1),
                             'of these at the ends of the files': '1 of 1 (100.0 %)', 'spans inside a node, not used': None,
                             'calls': 8}


def case_lost_server():
    spans = good()
    more = dict(find(spans, peer='redis'), id='77', peer='cart')
    return otlp(spans + [more]), {
        'spans': 11, 'calls': 8, 'calls to nodes without spans': 4, "clients' spans whose server's span is missing": 1,
        'traces that lack a part': lacks(1, 1), 'of these at the ends of the files': '1 of 1 (100.0 %)'}


def case_unnamed():
    spans = good()
    del find(spans, peer='redis')['peer']
    return otlp(spans), {'calls': 6, 'calls to nodes without spans': 2,
                         "clients' spans left out: they do not say whom they called": 1}


def case_retried():
    spans = good()
    server = find(spans, service='catalog', kind='server')
    again = dict(server, id='77', start=server['start'] + 10)
    return jaeger([spans + [again]]), {'spans': 11, 'calls': 8, 'calls seen at both ends': None,
                                       "clients' spans with several servers'": 1}


def case_between():
    """a span of the client's own between its and the server's"""
    spans = good()
    server, client = find(spans, service='catalog', kind='server'), find(spans, name='catalog.List')
    spans.append(dict(client, id='77', kind='internal', name='HTTP', parent=client['id']))
    server['parent'] = '77'
    return otlp(spans), {'spans': 11, 'spans inside a node, not used': 2}


def case_nested_clients():
    """a client's span in that of another library"""
    spans = good()
    client = find(spans, name='catalog.List')
    spans.append(dict(client, id='77', name='grpc', peer='catalog'))
    client['parent'] = '77'
    return otlp(spans), {'spans': 11}


def case_async():
    spans = good()
    find(spans, service='cart')['end'] += 40000
    return zipkin(spans), {'calls that end after their parent': 1}


def case_tie():
    spans = good()
    find(spans, service='cart')['start'] = find(spans, name='GET /cart')['start']
    return jaeger([spans]), {'calls that begin with their parent': 1}


def case_early():
    spans = good()
    find(spans, service='cart')['start'] = find(spans, name='GET /cart')['start'] - 5
    return jaeger([spans]), {'calls that begin before their parent': 1, 'clocks': 'several'}


def case_follows():
    spans = good()
    s = find(spans, service='cart')
    s['ref'], s['end'] = 'FOLLOWS_FROM', s['end'] + 40000
    return jaeger([spans]), {'spans that nobody waits for': 1}


def case_linked():
    """the consumer has a trace of its own"""
    spans = good()
    sent = find(spans, kind='producer')
    for s in spans:
        if s['service'] == 'mailer':
            s['trace'] = 'ab' * 16
    find(spans, kind='consumer').update(parent=None, links=[
        {'traceId': sent['trace'], 'spanId': sent['id']}, {'traceId': 'cd' * 16, 'spanId': 'ef' * 8}])
    return otlp(spans), {'traces of spans': 2, 'further links, not used': 1}


def case_no_queue():
    spans = good()
    for s in spans:
        if s['kind'] in ('producer', 'consumer'):
            del s['peer']
    return otlp(spans), {'calls': 6}


def case_deep():
    """more calls in each other than there are in any system"""
    spans = [dict(trace='ab' * 16, id=f'{i + 1:x}', parent=f'{i:x}' if i else None, service='ab'[i % 2],
                  kind='server', name='f', start=START + i, end=START + 1000 - i) for i in range(300)]
    return zipkin(spans), dict(dict.fromkeys(USUAL), **{
        'spans': 300, 'traces of spans': 1, 'calls': 300, 'calls nested too deeply': 1,
        'traces that lack a part': lacks(1, 1), 'of these at the ends of the files': '1 of 1 (100.0 %)'})


def case_late_message():
    """what is got before it was sent"""
    spans = good()
    s = find(spans, kind='consumer')
    s['start'] = find(spans, kind='producer')['start'] - 100
    return otlp(spans), {'calls that begin before their parent': 1, 'clocks': 'several'}


def case_internal_root():
    """a root that is no server's names no caller"""
    spans = good()
    find(spans, name='GET /cart').update(kind='internal', peer='postgres')
    return otlp(spans), {}


def case_late_resource():
    """members of an object have no order"""
    document = otlp(good())
    document['resourceSpans'] = [dict(reversed(list(r.items()))) for r in document['resourceSpans']]
    return document, {}


def case_numbers():
    """what stands for 64 bits may be text or number, of any form"""
    document = otlp(good())
    for r in document['resourceSpans']:
        for span in r['scopeSpans'][0]['spans']:
            span['startTimeUnixNano'] = int(span['startTimeUnixNano'])
            span['kind'] = 'SPAN_KIND_' + ['', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'][span['kind']]
    return document, {}


CASES = {name[5:]: make for name, make in globals().items() if name.startswith('case_')}


def expected(more):
    said = dict(USUAL)
    said.update(more)
    return ''.join(f'# {what}: {n}\n' for what, n in sorted(said.items()) if n is not None)


def write(directory, name, text):
    with open(os.path.join(directory, name), 'w', encoding='utf-8') as f:
        f.write(text)


def write_all(directory):
    traces = shop(200)
    spans = [s for t in traces for s in t.spans]
    write(directory, 'shop.jaeger.json', json.dumps(jaeger([t.spans for t in traces]), indent=1))
    # A line an export: what was done in a second, so that a trace is in several lines.
    seconds = {}
    for s in sorted(spans, key=lambda s: s['end']):
        seconds.setdefault(s['end'] // 1000000, []).append(s)
    write(directory, 'shop.otlp.jsonl', ''.join(json.dumps(otlp(some)) + '\n' for some in seconds.values()))
    write(directory, 'shop.otlp.json', json.dumps(otlp(spans)))
    write(directory, 'shop.zipkin.json', json.dumps(zipkin([s for t in traces for s in share_ids(t.spans)])))
    os.mkdir(os.path.join(directory, 'forms'))
    for name, text in forms(traces).items():
        write(directory, os.path.join('forms', name), text)
    write(directory, 'shop.calls', ''.join(
        f"{c[0]} {c[1]} {c[2] if c[2] is None else ' '.join(map(str, t.calls[c[2]][:2] + t.calls[c[2]][3:4]))} "
        f'{c[3]} {c[4]}\n' for t in traces for c in t.calls))
    for name, make in CASES.items():
        document, more = make()
        write(directory, name + '.json', json.dumps(document))
        write(directory, name + '.expected', expected(more))


def write_known(four, truth, directory):
    """each call a client's span and a server's, but for roots, which have a server's alone"""
    stamps = {}
    for line in open(four, encoding='utf-8'):
        sent, returned, received, replied, caller, callee, i = line.split()
        stamps[sent, caller, callee, i] = tuple(map(int, (sent, returned, received, replied)))
    traces, servers, known = collections.defaultdict(list), {}, []
    lines = [line.split() for line in open(truth, encoding='utf-8')]
    for n, (start, caller, callee, i, _, _, above_id, trace) in enumerate(lines):
        sent, _, received, _ = stamps[start.replace('.', ''), caller, callee, i]
        servers[trace, caller, callee, i] = hex_id(2 * n + 1), received if above_id == '-' else sent
    for n, (start, caller, callee, i, above_caller, above_callee, above_id, trace) in enumerate(lines):
        sent, returned, received, replied = stamps[start.replace('.', ''), caller, callee, i]
        span = dict(trace=f'{int(trace) + 1:032x}', name='call', kind='server', service=callee)
        if above_id == '-':
            traces[trace].append(dict(span, id=hex_id(2 * n + 1), parent=None, start=received, end=replied))
            known.append(f'{caller} {callee} None {received} {replied}\n')
            continue
        above, above_start = servers[trace, above_caller, above_callee, above_id]
        traces[trace] += [dict(span, id=hex_id(2 * n), parent=above, kind='client', service=caller,
                               start=sent, end=returned),
                          dict(span, id=hex_id(2 * n + 1), parent=hex_id(2 * n), start=received, end=replied)]
        known.append(f'{caller} {callee} {above_caller} {above_callee} {above_start} {sent} {returned}\n')
    write(directory, 'known.json', json.dumps(jaeger(list(traces.values()))))
    write(directory, 'known.calls', ''.join(known))


def compare(calls, known):
    us = lambda time: str(int(time.replace('.', '')) // 1000)
    found = []
    for c in csv.DictReader(open(calls, encoding='utf-8'), delimiter='\t'):
        above = ('None' if c['parent_caller'] == '-' else
                 f"{c['parent_caller']} {c['parent_callee']} {us(c['parent_call_time'])}")
        found.append(f"{c['caller']} {c['callee']} {above} {us(c['call_time'])} {us(c['return_time'])}\n")
    wanted = list(open(known, encoding='utf-8'))
    for sign, some in (('-', collections.Counter(wanted) - collections.Counter(found)),
                       ('+', collections.Counter(found) - collections.Counter(wanted))):
        for line in list(some)[:5]:
            print(sign, line, end='')
    sys.exit(sorted(wanted) != sorted(found))


def write_lines(size):
    """300 requests are made once; then the ids of their traces and the times change."""
    lines = [json.dumps(otlp([s for t in shop(300)[k:k + 5] for s in t.spans]), separators=(',', ':'))
             for k in range(0, 300, 5)]
    done, turn = 0, 0
    while done < size:
        for line in lines:
            out = re.sub('"traceId":"[0-9a-f]{6}', f'"traceId":"{turn:06x}', line)
            for key in 'startTimeUnixNano', 'endTimeUnixNano':  # 100 s later each turn
                out = out.replace(f'"{key}":"17000000', f'"{key}":"{17000000 + turn}')
            sys.stdout.write(out + '\n')
            done += len(out) + 1
        turn += 1


def write_fuzz(directory):
    """what the targets put their own beginnings and ends around"""
    spans = good()
    files = {'shop_jaeger': jaeger([spans]), 'shop_otlp': otlp(spans), 'shop_zipkin': zipkin(share_ids(spans))}
    files.update({name: make()[0] for name, make in CASES.items()})
    for name, document in files.items():
        kind = 'zipkin' if isinstance(document, list) else 'jaeger' if 'data' in document else 'otlp'
        os.makedirs(os.path.join(directory, kind), exist_ok=True)
        value = document if kind == 'zipkin' else document['data' if kind == 'jaeger' else 'resourceSpans']
        text = json.dumps(value, separators=(',', ':'))
        write(os.path.join(directory, kind), name, text[1:-1] if kind == 'zipkin' else text)


if len(sys.argv) == 3 and sys.argv[1] == 'all':
    write_all(sys.argv[2])
elif len(sys.argv) == 3 and sys.argv[1] == 'lines':
    write_lines(int(sys.argv[2]))
elif len(sys.argv) == 5 and sys.argv[1] == 'jaeger':
    write_known(*sys.argv[2:])
elif len(sys.argv) == 4 and sys.argv[1] == 'compare':
    compare(*sys.argv[2:])
elif len(sys.argv) == 3 and sys.argv[1] == 'fuzz':
    write_fuzz(sys.argv[2])
else:
    sys.exit(__doc__)
