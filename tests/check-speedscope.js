// SPDX-License-Identifier: BSD-2-Clause
//
// node check-speedscope.js CHROMIUM INDEX.HTML FILE: speedscope loads the trace events of
// FILE, without an error and without another request, and finds in its first lane the
// calls that are there, with their times.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const puppeteer = require('puppeteer-core');

const [executablePath, page, file] = process.argv.slice(2);

// Of each name the time in the first lane, in us: with what lies below it (counted once where
// it lies below itself), and alone.
function timesOfFirstLane() {
  const times = new Map(), open = [];
  const events = JSON.parse(fs.readFileSync(file)).traceEvents
    .filter((event) => event.tid === 1 && event.ph !== 'M')
    .sort((a, b) => a.ts - b.ts);
  for (const event of events) {
    if (event.ph === 'B') {
      open.push({ name: event.name, start: event.ts, below: 0 });
      continue;
    }
    const call = open.pop(), lasted = event.ts - call.start;
    const time = times.get(call.name) || { total: 0, self: 0 };
    if (!open.some((other) => other.name === call.name)) time.total += lasted;
    time.self += lasted - call.below;
    times.set(call.name, time);
    if (open.length > 0) open[open.length - 1].below += lasted;
  }
  return times;
}

// "39.60ms (0.37%)", which has four digits
function microseconds(text) {
  const [, number, unit] = /^([0-9.:]+)(µs|ms|s|ns|)/.exec(text.trim());
  return Number(number) * { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6 }[unit];
}

(async () => {
  const errors = [];
  const browser = await puppeteer.launch({
    executablePath, headless: true, args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
  });
  try {
    const tab = await browser.newPage();
    tab.on('pageerror', (error) => errors.push(error.message));
    tab.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    tab.on('request', (request) => {
      if (!/^(file|data|blob):/.test(request.url())) errors.push(request.url());
    });
    await tab.goto(pathToFileURL(path.resolve(page)).href);
    const input = await tab.waitForSelector('input[type=file]');
    await input.uploadFile(file);
    await tab.waitForFunction(() => /Sandwich[\s\S]*lane 1/.test(document.body.innerText));
    await tab.keyboard.press('3'); // the table of all frames
    await tab.waitForSelector('table');
    const rows = await tab.$$eval('table tr', (all) => all.map((row) => row.innerText));
    const found = new Map();
    for (const row of rows) {
      const [total, self, ...name] = row.split(/[\t\n]+/).map((t) => t.trim()).filter((t) => t);
      // A row that begins otherwise is of another lane, to be chosen.
      if (/^[0-9]/.test(total) && /^[0-9]/.test(self)) found.set(name.join(' '), { total, self });
    }
    const expected = timesOfFirstLane();
    assert(expected.size > 0);
    for (const [name, times] of expected) {
      const row = found.get(name.trim().replace(/[\t\n]+/g, ' '));
      assert(row, `${name} is not among ${[...found.keys()]}`);
      for (const which of ['total', 'self']) {
        const difference = Math.abs(microseconds(row[which]) - times[which]);
        assert(difference <= 0.006 * times[which] + 0.001,
          `${name}: ${which} ${row[which]}, expected ${times[which]} us`);
      }
    }
    assert.strictEqual(found.size, expected.size);
    assert.deepStrictEqual(errors, []);
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
