// SPDX-License-Identifier: BSD-2-Clause
//
// node check-otlp.js FILE: each line of FILE is TracesData in OTLP's JSON, by the code
// that is generated from the protocol's definitions: of the right types, and nothing
// else in it, since what the definitions do not know is not there any more when it has
// been through the binary form.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');

const transformer = path.dirname(require.resolve('@opentelemetry/otlp-transformer/package.json'));
const { TracesData } = require(path.join(transformer, 'build/src/generated/root.js'))
  .opentelemetry.proto.trace.v1;

// OTLP's JSON has ids in hex, where that of protobuf has bytes in base64.
function convertIds(value) {
  if (Array.isArray(value)) return value.map(convertIds);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => {
    if (!['traceId', 'spanId', 'parentSpanId'].includes(key)) return [key, convertIds(member)];
    assert.match(member, key === 'traceId' ? /^[0-9a-f]{32}$/ : /^[0-9a-f]{16}$/);
    return [key, Buffer.from(member, 'hex').toString('base64')];
  }));
}

let spans = 0;
for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n')) {
  if (line === '') continue;
  const data = convertIds(JSON.parse(line));
  const bytes = TracesData.encode(TracesData.fromObject(data)).finish();
  const back = TracesData.toObject(TracesData.decode(bytes), { longs: String, bytes: String });
  assert.deepStrictEqual(back, data);
  for (const resource of back.resourceSpans) {
    for (const scope of resource.scopeSpans) spans += scope.spans.length;
  }
}
assert(spans > 0, 'no spans');
