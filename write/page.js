// SPDX-License-Identifier: BSD-2-Clause
//
// The script of ravel's pages: draws what the page's data say (write-report.c,
// write-diff.c and write-trend.c write them). Names come from packets, so from strangers: whatever
// is text is set as text, and no markup is ever made of data. Times are ns.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const SVG = 'http://www.w3.org/2000/svg';
  const NBSP = '\u00a0';

  // Signs that turn the direction of what follows them are shown by their numbers: else a name
  // could change how others look.
  const visible = (name) => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `<U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`);

  // --- elements ---------------------------------------------------------------

  function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? '' : value);
    }
    for (const child of children.flat(Infinity))
      if (child !== null && child !== undefined && child !== false)
        element.append(child.nodeType ? child : document.createTextNode(String(child)));
    return element;
  }
  // Puts children in place of what is in an element.
  function set(element, ...children) {
    element.replaceChildren();
    return fill(element, null, children);
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  // --- numbers ----------------------------------------------------------------

  // Three digits and a unit, as the program's text output has them.
  function duration(ns) {
    const size = Math.abs(ns);
    const sign = ns < 0 ? '\u2212' : '';
    if (size < 999.5) return `${sign}${Math.round(size)}${NBSP}ns`;
    for (const [scale, unit] of [[1e3, 'us'], [1e6, 'ms'], [1e9, 's']]) {
      const value = size / scale;
      const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
      if (value < 999.5 || unit === 's') return `${sign}${value.toFixed(digits)}${NBSP}${unit}`;
    }
  }
  const signed = (ns) => (ns > 0 ? '+' : '') + duration(ns);
  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
  function share(part, whole) {
    if (!(whole > 0)) return '\u2013';
    const percent = Math.round(100 * part / whole);
    if (percent === 0 && part > 0) return `<1${NBSP}%`;
    if (percent === 100 && part < whole) return `>99${NBSP}%`;
    return `${percent}${NBSP}%`;
  }
  // What is cut short leaves out two at least: a line for one that is missing is as long as the one.
  const firstOf = (list, n) => (list.length <= n + 1 ? list : list.slice(0, n));
  const moreThan = (list, n) => (list.length <= n + 1 ? '' : ` and ${list.length - n} more`);
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + 's'}`;
  // Of what is not fit none is shown.
  const fit = data.fit !== 0;
  // Rounded down, so that only what is certain says 1.
  const floored = (p) => Math.floor(100 * p + 1e-9);
  const probability = (p) => (!fit ? '\u2013' : p >= 1 ? '1' : p > 0 && p < 0.01 ? '<0.01' : `0.${String(floored(p)).padStart(2, '0')}`);
  const withProbability = (p) => (fit ? `, probability ${probability(p)}` : '');

  function utc(ns) { // a string of digits
    if (ns === null) return 'unknown';
    const date = new Date(Number(BigInt(ns) / 1000000n));
    return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
  }
  function span(ns) {
    if (ns < 120e9) return duration(ns);
    const units = [[86400e9, 'd'], [3600e9, 'h'], [60e9, 'min'], [1e9, 's']];
    const i = units.findIndex(([scale]) => ns >= scale);
    const first = Math.floor(ns / units[i][0]);
    const rest = i + 1 < units.length ? Math.floor((ns - first * units[i][0]) / units[i + 1][0]) : 0;
    return `${first}${NBSP}${units[i][1]}` + (rest ? ` ${rest}${NBSP}${units[i + 1][1]}` : '');
  }

  // Round numbers from low to high, about n of them.
  function ticks(low, high, n) {
    const step0 = (high - low) / n;
    if (!(step0 > 0)) return [low];
    const scale = 10 ** Math.floor(Math.log10(step0));
    const step = [1, 2, 5, 10].map((m) => m * scale).find((s) => s >= step0);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); i++) found.push(i * step);
    return found;
  }
  function logTicks(low, high, n) {
    if (high / low < 4) return ticks(low, high, n);
    const found = [];
    const wide = Math.log10(high / low) > 3;
    for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++)
      for (const m of wide ? [1] : [1, 2, 5])
        if (m * 10 ** e >= low && m * 10 ** e <= high) found.push(m * 10 ** e);
    const every = Math.ceil(found.length / n);
    return found.filter((_, i) => i % every === 0);
  }
  function tickLabel(ns) {
    const [scale, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']].find(([s]) => Math.abs(ns) >= s) || [1, 'ns'];
    return ns === 0 ? '0' : `${+(ns / scale).toPrecision(4)}${NBSP}${unit}`;
  }

  // --- distributions ----------------------------------------------------------

  // The least delay in bin c where there are 2^r bins to an octave (paths/histogram.h).
  function binLow(c, r) {
    const at = c * 2 ** (6 - r);
    if (at < 128) return at;
    return ((at % 64) + 64) * 2 ** (Math.floor(at / 64) - 1);
  }

  // {r, bins: Map of bin to count}
  function parseDistribution(text) {
    const bins = new Map();
    if (!text) return { r: 6, bins };
    const [r, first, counts] = text.split(':');
    let at = parseInt(first, 36);
    for (const token of counts.split(',')) {
      if (token[0] === '-') at += parseInt(token.slice(1), 36);
      else bins.set(at++, parseInt(token, 36));
    }
    return { r: Number(r), bins };
  }

  function mergeDistributions(list) {
    const merged = { r: Math.min(6, ...list.map((d) => d.r)), bins: new Map() };
    for (const d of list)
      for (const [bin, n] of d.bins) {
        const at = Math.floor(bin / 2 ** (d.r - merged.r));
        merged.bins.set(at, (merged.bins.get(at) || 0) + n);
      }
    return merged;
  }

  // [[low, high, count]...] in rising order.
  const edges = (d) => [...d.bins].sort((a, b) => a[0] - b[0])
    .map(([bin, n]) => [binLow(bin, d.r), binLow(bin + 1, d.r), n]);

  function quantileOf(d, q) {
    const list = edges(d);
    const total = list.reduce((sum, e) => sum + e[2], 0);
    let below = 0;
    for (const [low, high, n] of list) {
      below += n;
      if (below >= q * total) return (low + high) / 2;
    }
    return 0;
  }

  // A small picture of one on an axis from low to high that others share.
  function spark(d, low, high, width, height) {
    const list = edges(d);
    const most = Math.max(...list.map((e) => e[2]));
    const x = (ns) => width * Math.log(Math.max(ns, 1) / low) / Math.log(high / low);
    let path = '';
    for (const [from, to, n] of list) {
      const left = Math.min(Math.max(x(from), 0), width - 1);
      const w = Math.max(x(to) - x(from), 1);
      const h = Math.max(1.5, height * n / most);
      path += `M${left.toFixed(1)} ${height}v${(-h).toFixed(1)}h${w.toFixed(1)}V${height}z`;
    }
    return svg('svg', { class: 'spark', width, height, 'aria-hidden': 'true' }, svg('path', { d: path }));
  }

  // --- shapes -----------------------------------------------------------------

  // "0>1(2!,~3(4))": the client, and the tree of {node, on, mark, children}; on: its caller does not
  // wait; mark: "!" no answer, "*" late.
  function parseShape(text) {
    const client = parseInt(text, 36);
    let at = text.indexOf('>') + 1;
    const stack = [{ children: [] }];
    let last = null;
    while (at < text.length) {
      const c = text[at];
      if (c === '(') { stack.push(last); at++; }
      else if (c === ')') { stack.pop(); at++; }
      else if (c === ',') at++;
      else {
        const on = text[at] === '~';
        if (on) at++;
        let end = at;
        while (end < text.length && !'(),'.includes(text[end])) end++;
        const mark = '!*'.includes(text[end - 1]) ? text[end - 1] : '';
        last = { node: parseInt(text.slice(at, end), 36), on, mark, children: [] };
        stack[stack.length - 1].children.push(last);
        at = end;
      }
    }
    return { client, root: stack[0].children[0] };
  }
  const keyOf = (tree) => (tree.on ? '~' : '') + tree.node + tree.mark + '(' + tree.children.map(keyOf).join(',') + ')';

  // Siblings that are the same, counted.
  function collapse(children) {
    const groups = new Map();
    for (const child of children) {
      const key = keyOf(child);
      if (groups.has(key)) groups.get(key).n++;
      else groups.set(key, { tree: child, n: 1 });
    }
    return [...groups.values()];
  }

  // "lb › web2 › (auth › redis, catalog › postgres ×2)" as elements; one node may stand out.
  function pathText(tree, n, names, hot) {
    const parts = [];
    const add = (t, times) => {
      parts.push(el('span', { class: t.node === hot ? 'hot' : null }, names[t.node] + t.mark));
      if (times > 1) parts.push(el('span', { class: 'sep' }, ` \u00d7${times}`));
      const groups = collapse(t.children);
      if (!groups.length) return;
      const sign = groups.every((g) => g.tree.on) ? ' ~> ' : ' \u203a ';
      parts.push(el('span', { class: 'sep' }, groups.length > 1 ? `${sign}(` : sign));
      groups.forEach((g, i) => {
        if (i) parts.push(el('span', { class: 'sep' }, ', '));
        if (g.tree.on && sign !== ' ~> ') parts.push(el('span', { class: 'sep' }, '~> '));
        add(g.tree, g.n);
      });
      if (groups.length > 1) parts.push(el('span', { class: 'sep' }, ')'));
    };
    add(tree, n);
    return parts;
  }

  function signatureText(client, root, names) {
    if (data.graphs) {
      const line = [names[client]];
      for (let t = root; t; t = t.children[0]) line.push(names[t.node]);
      return line.join('>');
    }
    const text = (t) => {
      const nested = t.children.filter((c) => !c.on).map(text);
      const on = t.children.filter((c) => c.on).map(text);
      return names[t.node] + t.mark + (nested.length ? `(${nested.join(',')})` : '') +
        (on.length > 1 ? `~>{${on.join(',')}}` : on.length ? `~>${on[0]}` : '');
    };
    return `${names[client]}${root.on ? '~>' : '>'}${text(root)}`;
  }

  // --- the page's parts -------------------------------------------------------

  const main = el('main', { id: 'page' });
  document.body.append(main);

  function tile(name, value) {
    return el('div', null, el('dt', null, name), el('dd', null, value));
  }

  // A table of which a narrow window shows each row as lines, with the headings before the cells.
  function cards(attributes, thead, tbody) {
    const heads = [...thead.querySelectorAll('th')].map((th) => th.textContent);
    const label = () => {
      for (const row of tbody.rows) if (row.cells.length === heads.length) [...row.cells].forEach((cell, i) => { cell.dataset.label = heads[i]; });
    };
    label();
    new MutationObserver(label).observe(tbody, { childList: true });
    return el('table', { class: 'cards', ...attributes }, thead, tbody);
  }

  // What scrolls by itself.
  const region = (label, table, cls) => el('div', { class: cls || 'scroll tall', tabindex: 0, role: 'region', 'aria-label': label }, table);
  const number = (text) => el('td', { class: 'number' }, text);
  const focusOn = (root, selector) => { const found = root && root.querySelector(selector); if (found) found.focus({ preventScroll: true }); };

  // A line of texts and elements that is cut in its middle where there is no room for it.
  function cut(...line) {
    const parts = line.flat(Infinity).filter(Boolean).flatMap((part) => {
      const at = part.nodeType ? 0 : Math.max(Math.ceil(part.length * 0.6), part.length - 24);
      return at ? [part.slice(0, at), part.slice(at)] : [part];
    });
    const lengthOf = (part) => (part.nodeType ? part.textContent : part).length;
    if (parts.reduce((sum, part) => sum + lengthOf(part), 0) < 24) return parts;
    let end = parts.length - 1;
    for (let n = 0; end > 1 && n + lengthOf(parts[end]) + lengthOf(parts[end - 1]) < 24; end--) n += lengthOf(parts[end]);
    return el('span', { class: 'cut' }, el('span', null, parts.slice(0, end)), el('span', null, parts.slice(end)));
  }

  // Scrolls as little as brings the beginning of what a click has opened into sight.
  function reveal(element) {
    const { top } = element.getBoundingClientRect();
    const least = 60;
    const most = innerHeight * 0.45;
    if (top < least || top > most) scrollBy(0, top - (top < least ? least : most));
  }

  function segments(label, choices, chosen, choose) {
    return el('div', { class: 'segments', role: 'group', 'aria-label': label },
      choices.map(([value, text, title, disabled]) => el('button', {
        type: 'button', 'aria-pressed': String(value === chosen), title, disabled,
        'data-value': value, onclick: () => choose(value),
      }, text)));
  }

  // Keeps a drawing as wide as the element it is in, from drawBoxes() on.
  const drawings = new Map();
  function drawBox(box) {
    const drawing = drawings.get(box);
    const width = box.clientWidth;
    if (!drawing || width === 0 || drawing.width === width) return;
    drawing.width = width;
    box.replaceChildren(drawing.draw(width));
  }
  const observer = new ResizeObserver((entries) => requestAnimationFrame(() => entries.forEach((e) => drawBox(e.target))));
  function drawn(box, draw) {
    drawings.set(box, { draw, width: 0 });
    return box;
  }
  function drawBoxes() {
    for (const box of [...drawings.keys()]) {
      if (box.isConnected) { observer.observe(box); drawBox(box); }
      else { observer.unobserve(box); drawings.delete(box); }
    }
  }

  // --- what a tree and a bar have in common: Figure 8 ---------------------------

  // boxes: {x, y, width, height, edge, lines: [[class, text]...], label, title, fill, classes, choose}
  function drawTree(width, height, boxes, label) {
    const MARGIN = 6;
    const root = svg('svg', {
      viewBox: `${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`,
      width: width + 2 * MARGIN, height: height + 2 * MARGIN, role: 'group', 'aria-label': label,
    });
    for (const b of boxes) if (b.edge) root.append(svg('path', { class: b.on ? 'edge on' : 'edge', d: b.edge }));
    for (const b of boxes) {
      const g = svg('g', {
        class: ['box', ...b.classes].join(' '), role: b.choose ? 'button' : 'img', tabindex: b.choose ? 0 : null,
        'aria-label': b.choose ? null : b.title, 'data-vertex': b.vertex, 'data-name': b.lines[0][1],
        'aria-pressed': b.choose ? String(b.classes.includes('chosen')) : null,
      });
      g.append(svg('title', null, b.title));
      const rect = svg('rect', { x: b.x - b.width / 2, y: b.y - b.height / 2, width: b.width, height: b.height, rx: 5 });
      if (b.fill) rect.style.fill = b.fill;
      g.append(rect);
      b.lines.forEach(([cls, text], i) => {
        const y = b.y + 4.5 + (i - (b.lines.length - 1) / 2) * 15;
        g.append(svg('text', { class: cls, x: b.x, y }, fitName(text, b.width - 10, cls === 'name' ? 600 : 400, cls === 'name' ? 13 : 11.5)));
      });
      if (b.choose) {
        g.addEventListener('click', b.choose);
        g.addEventListener('keydown', (e) => {
          if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); b.choose(); }
        });
      }
      root.append(g);
      if (b.label) root.append(svg('text', { class: 'label', x: b.x, y: b.y - b.height / 2 - 8 }, b.label));
    }
    return root;
  }
  // A name cut in its middle until it is at most width wide.
  const measure = document.createElement('canvas').getContext('2d');
  function fitName(text, width, weight, size) {
    measure.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    const letters = [...text];
    let shown = text;
    for (let keep = letters.length - 1; keep > 1 && measure.measureText(shown).width > width; keep--)
      shown = letters.slice(0, Math.ceil(keep * 0.6)).join('') + '\u2026' + letters.slice(letters.length - Math.floor(keep * 0.4)).join('');
    return shown;
  }
  // Orange is slower and blue is faster, as far as the change that is greatest.
  const tinted = (change, most) => (!most || !change ? 'var(--panel)'
    : `color-mix(in srgb, var(${change > 0 ? '--shade' : '--cold'}) ${Math.round(25 + 65 * Math.min(1, Math.abs(change) / most))}%, var(--panel))`);
  const shaded = (part) => `color-mix(in srgb, var(--shade) ${Math.round(100 * Math.min(Math.max(part, 0), 1))}%, var(--panel))`;

  // --- which moment belongs to which call ----------------------------------------

  // calls: [{parent, start, enter, reply, end}], parents first. Sets of each own, network and
  // pieces, [[from, to]...] in the time of the root's caller: paths/path-own-time.c's walk.
  function ownPieces(calls) {
    const enterCallee = (c, start, end, shift) => {
      const latency = Math.max(c.end - c.start, 0);
      const stay = Math.min(Math.max(c.reply - c.enter, 0), latency);
      const stayStart = c.start + Math.trunc((latency - stay) / 2);
      let lo = Math.max(stayStart, start);
      let hi = Math.min(stayStart + stay, end);
      if (lo > hi) lo = hi = stayStart;
      c.network = (end - start) - (hi - lo);
      c.lo = c.enter + (lo - stayStart);
      c.hi = c.enter + (hi - stayStart);
      c.shift = shift + stayStart - c.enter; // from the callee's clock to the root's
      c.at = [start + shift, end + shift];
    };
    calls.forEach((c, i) => {
      Object.assign(c, { i, own: 0, network: 0, lo: 0, hi: 0, pieces: [], ways: [], children: [], at: null });
      if (c.parent >= 0) calls[c.parent].children.push(c);
    });
    enterCallee(calls[0], calls[0].start, Math.max(calls[0].end, calls[0].start), 0);
    for (const c of calls) {
      // What is drawn of a call that nobody waited for lies where its caller's clock has it.
      if (c.parent >= 0 && !c.at) {
        const latency = Math.max(c.end - c.start, 0);
        const stay = Math.min(Math.max(c.reply - c.enter, 0), latency);
        c.shift = calls[c.parent].shift + c.start + Math.trunc((latency - stay) / 2) - c.enter;
      }
      c.callerShift = c.parent >= 0 ? calls[c.parent].shift : 0;
      // What goes on is drawn by itself.
      if (c.on && !c.at) enterCallee(c, c.start, Math.max(c.end, c.start), c.callerShift);
      let t = c.hi;
      if (t === c.lo) continue;
      const found = [];
      // A caller waits for a late call, or one without an answer, until it goes on.
      const missedUntil = (k) => {
        const next = c.children.find((o) => o.i > k.i && !o.on && o.start > k.start && o.label === k.label);
        return Math.min(k.end, Math.max(c.reply, k.start), next ? next.start : Infinity);
      };
      for (const k of c.children) {
        if (k.on) continue;
        const from = Math.max(k.start, c.lo);
        const to = Math.min(k.mark ? missedUntil(k) : k.end, c.hi);
        if (from <= to && k.start < c.hi) found.push([from, to, k]);
      }
      found.sort((a, b) => b[1] - a[1] || b[0] - a[0] || b[2].i - a[2].i);
      let opened = Infinity; // when the connection to a call was asked for: its caller waits since
      const mine = (from, end) => {
        const to = Math.max(from, Math.min(end, opened));
        c.own += to - from;
        if (to > from) c.pieces.push([from + c.shift, to + c.shift]);
      };
      for (const [from, to, k] of found) {
        if (to > t) continue;
        mine(to, t);
        enterCallee(k, from, to, c.shift);
        if (k.connect > 0) opened = Math.min(opened, k.start - k.connect);
        t = from;
      }
      mine(c.lo, t);
    }
    return calls;
  }

  // Takes way, the part of a call's own pieces in which its bytes were on the way, out of them.
  function takeWay(c, way, atEnd) {
    let left = Math.min(way, c.own);
    c.own -= left;
    c.pieces = [...c.pieces].sort((a, b) => (atEnd ? b[0] - a[0] : a[0] - b[0])).flatMap(([from, to]) => {
      const taken = Math.min(left, to - from);
      if (taken <= 0) return [[from, to]];
      left -= taken;
      c.ways.push(atEnd ? [to - taken, to] : [from, from + taken]);
      return taken < to - from ? [atEnd ? [from, to - taken] : [from + taken, to]] : [];
    });
  }

  // --- the report ---------------------------------------------------------------

  // Rows have two lines where the window is narrow; heights in pixels, as in the style.
  const narrow = matchMedia('(max-width: 620px)');
  let ROW = narrow.matches ? 46 : 27;
  const SAMPLES = ['fastest', 'median', 'p99', 'slowest'];

  function showReport() {
    const names = data.nodes.map(visible);
    const edgeName = (caller, callee) => `${names[caller]} > ${names[callee]}`;
    const [ROUND_TRIP, SENDING, OPENS] = [0, 2, 6]; // of data.causes; from OPENS on: of a new connection
    const wayName = (caller, callee, cause) => `${edgeName(caller, callee)} (${data.causes[cause][0]})`;
    // [[cause, ns]...] of [cause, ns, cause, ns...]
    const pairsOf = (list) => list.filter((_, k) => k % 2 === 0).map((cause, k) => [cause, list[2 * k + 1]]);
    const MARK = { 3: '*', 4: '!' }; // of how a call continues: late, no answer
    const goesOn = (how) => how === 1 || how === 2;
    // What a stored call has after its numbers.
    const tailOf = (c, at) => {
      const wayTimes = Array.isArray(c[c.length - 1]) ? pairsOf(c[c.length - 1]) : [];
      const [how, queued, waited, connect] = c.slice(at, at + 4).map((x) => (Array.isArray(x) ? 0 : x));
      return { on: goesOn(how), mark: MARK[how] || '', queued: queued || 0, waited: waited || 0, connect: connect || 0, wayTimes };
    };
    const runTime = data.first === null ? 0 : Number(BigInt(data.last) - BigInt(data.first));
    const rateText = (r) => (r < 99.95 ? `${+r.toPrecision(3)}/s` : `${count(Math.round(r))}/s`);
    const perSecond = (n) => (runTime > 0 ? rateText(n * 1e9 / runTime) : '\u2013');
    // What helps against the causes that have a hundredth of the time.
    const remediesOf = (list, whole) => list.filter((r) => r.cause !== undefined && data.causes[r.cause][1] && r.own >= whole / 100).slice(0, 3)
      .map((r) => el('p', { class: 'quiet remedy' }, `${r.name}: ${data.causes[r.cause][1]}.`));
    // Convolution's paths are linear and of messages, of which it knows how many, but not which.
    const linear = Boolean(data.graphs);
    const ownTime = linear ? 'stay' : 'own time';
    const aStore = data.store ? 'the store' : 'a store (ravel nesting -o)';
    const OwnTime = linear ? 'Stay' : 'Own time';
    const METRICS = [['latency', linear ? 'To the end' : 'Latency', 3], ['own', OwnTime, 5], ['after', linear ? 'From the node before' : 'Call delay', 4], ['network', 'Network', 6], ...(data.waits ? [['waited', 'Queued', data.goesOn ? 10 : 8]] : [])];
    const rows = data.rows.map((r, i) => ({
      i, id: r[0], shape: r[1], count: r[2], total: r[3], mean: r[4], deviation: r[5], p50: r[6], p90: r[7],
      p99: r[8], min: r[9], max: r[10], probability: r[11], slowest: r[12], slowestOwn: r[13], latency: r[14], doubt: r[15], label: r[16] ? visible(r[16]) : '', completion: data.goesOn ? r[17] : r[4], completionP99: data.goesOn ? r[18] : r[7], whole: data.goesOn ? r[17] * r[2] : r[3], members: null,
    }));
    rows.forEach((r, i) => {
      r.failed = data.failed ? data.failed[i] : 0;
      r.goodP50 = data.failed ? data.goodP50[i] : 0;
      const [vertex, cause, time] = (data.details[i] && data.details[i].ways[0]) || [];
      if (!(time > r.slowestOwn)) return;
      const [parent, node] = data.details[i].vertices[vertex];
      r.way = { cause: data.causes[cause][0], name: wayName(parent < 0 ? parseInt(r.shape, 36) : data.details[i].vertices[parent][1], node, cause), own: time };
    });
    // With drawings, the list is about their estimates of counts. Count and total are of the paths that were found.
    const isDrawn = Boolean(data.drawn);
    rows.forEach((r, i) => {
      [r.drawn, r.error] = isDrawn ? data.drawn[i] : [r.count, 0];
      r.listed = isDrawn ? r.mean * r.drawn : r.total;
      if (isDrawn) r.whole = (data.goesOn ? r.completion : r.mean) * r.drawn;
    });
    const drawnCount = (r) => (isDrawn ? `${count(Math.round(r.drawn))} \u00b1${count(Math.round(r.error))}` : count(r.count));
    const requests = data.slowest.map((q, rank) => ({
      rank, id: q[0], row: rows[q[1]] || null, after: q[2], time: q[3], probability: q[4], usual: q[5], slower: q[6], label: q[7] < 0 ? '' : visible(data.labels[q[7]]),
      unusual: q[8].map((u) => ({ where: visible(data.wheres[u[0]]), own: u[1], usual: u[2], calls: u[3], usualCalls: u[4], load: u[5], usualLoad: u[6], probability: u[7], node: u[8] ? visible(u[8]) : '' })), calls: q[9], failure: q[10] === undefined ? -1 : q[10], moment: q[11],
    }));
    // [bucket, octave of latency, requests]
    const heat = data.heat.filter((_, k) => k % 3 === 0).map((bucket, k) => [bucket, data.heat[3 * k + 1], data.heat[3 * k + 2]]);
    const octaveOf = (time) => Math.floor(Math.log2(Math.max(time, 1)));
    const octaveWords = (o) => `${duration(2 ** o)} to ${duration(2 ** (o + 1))}`;
    requests.forEach((q) => { q.octave = octaveOf(q.time); });
    // Patterns that are probably errors of inference share one row at the end of the list.
    for (const i of data.misassigned || []) rows[i].rare = true;
    const firstRow = rows.find((r) => !r.rare) || rows[0];
    const labelled = rows.some((r) => r.label);
    const treeOf = (row) => row.tree || (row.tree = parseShape(row.shape));
    const manyClients = new Set(rows.map((r) => parseInt(r.shape, 36))).size > 1;
    const low = Math.max(1, Math.min(...rows.map((r) => Math.max(r.min, 1))));
    const high = Math.max(low * 1.5, ...rows.map((r) => r.max));
    const state = { pattern: firstRow ? firstRow.id : null, rareOpen: false, onRare: false, vertex: null, sample: 'mean', metric: 'latency',
      query: '', sort: '-total', merged: false, open: new Set(), request: null, call: 0, brush: null, octave: null, failure: null, compared: false, entry: 0 };

    // --- state in the fragment ---

    function readFragment() {
      const f = new URLSearchParams(location.hash.slice(1));
      state.pattern = f.get('p') || (firstRow ? firstRow.id : null);
      state.rareOpen = f.get('o') === '1' || rows.some((r) => r.rare && r.id === f.get('p'));
      state.onRare = false;
      state.vertex = f.has('v') ? Number(f.get('v')) : null;
      state.sample = SAMPLES.includes(f.get('i')) ? f.get('i') : 'mean';
      state.metric = METRICS.some(([m]) => m === f.get('h')) ? f.get('h') : 'latency';
      state.query = f.get('q') || '';
      state.sort = columns.some((c) => c.key === (f.get('s') || '').replace('-', '')) ? f.get('s') : '-total';
      state.merged = f.get('m') === '1';
      state.compared = f.get('d') === '1';
      state.request = requests.some((q) => String(q.id) === f.get('r')) ? Number(f.get('r')) : null;
      state.entry = data.variance[Number(f.get('e'))] ? Number(f.get('e')) : 0;
      const ends = /^(\d+)-(\d+)$/.exec(f.get('t') || '');
      state.octave = heat.some(([, o]) => String(o) === f.get('l')) ? Number(f.get('l')) : null;
      state.failure = data.failures[Number(f.get('x') || -1)] ? Number(f.get('x')) : null;
      state.brush = ends && Number(ends[1]) <= Number(ends[2]) && Number(ends[2]) < data.nBuckets ? [Number(ends[1]), Number(ends[2])] : null;
    }
    function writeFragment() {
      const f = new URLSearchParams();
      if (state.pattern && firstRow && state.pattern !== firstRow.id) f.set('p', state.pattern);
      if (state.rareOpen) f.set('o', '1');
      if (state.vertex !== null) f.set('v', state.vertex);
      if (state.sample !== 'mean') f.set('i', state.sample);
      if (state.metric !== 'latency') f.set('h', state.metric);
      if (state.query) f.set('q', state.query);
      if (state.sort !== '-total') f.set('s', state.sort);
      if (state.merged) f.set('m', '1');
      if (state.compared) f.set('d', '1');
      if (state.request !== null) f.set('r', state.request);
      if (state.entry) f.set('e', state.entry);
      if (state.brush) f.set('t', state.brush.join('-'));
      if (state.octave !== null) f.set('l', state.octave);
      if (state.failure !== null) f.set('x', state.failure);
      const text = f.toString();
      if (text !== location.hash.slice(1)) history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
    }

    // Rows whose patterns differ in replicas only, as one.
    let mergedRows = null;
    let roleNames = names;
    function mergeRows() {
      const roles = data.map.alike;
      const members = new Map();
      roles.forEach((r, i) => members.set(r, [...(members.get(r) || []), i]));
      roleNames = names.map((name, i) => {
        const all = members.get(roles[i]);
        if (all.length === 1) return name;
        const stems = new Set(all.map((m) => names[m].replace(/[-_.]?\d+$/, '')));
        return stems.size === 1 ? `${[...stems][0]}*` : all.map((m) => names[m]).join('|');
      });
      const canonical = (t) => {
        const children = t.children.map(canonical).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
        const node = roles[t.node];
        return { node, on: t.on, mark: t.mark, children, key: `${t.on ? '~' : ''}${node}${t.mark}(${children.map((c) => c.key).join(',')})` };
      };
      const groups = new Map();
      for (const row of rows) {
        const tree = treeOf(row);
        const root = canonical(tree.root);
        const key = `${row.label} ${roles[tree.client]}>${root.key}`;
        if (!groups.has(key)) groups.set(key, { tree: { client: roles[tree.client], root }, members: [] });
        groups.get(key).members.push(row);
      }
      mergedRows = [...groups.values()].map(({ tree, members: m }) => {
        if (m.length === 1) return Object.assign({}, m[0], { tree, members: m });
        const sum = (f) => m.reduce((s, r) => s + f(r), 0);
        const n = sum((r) => r.count);
        const total = sum((r) => r.total);
        const mean = total / n;
        const completion = sum((r) => r.completion * r.count) / n;
        const merged = mergeDistributions(m.map((r) => parseDistribution(r.latency)));
        const variance = sum((r) => r.count * (r.deviation ** 2 + (r.mean - mean) ** 2)) / n;
        const most = (r) => (r.way ? r.way.own : r.slowestOwn) * r.count;
        const worst = m.reduce((a, b) => (most(b) > most(a) ? b : a));
        return {
          id: m[0].id, tree, label: m[0].label, members: m, failed: sum((r) => r.failed), rare: m.every((r) => r.rare), doubt: Math.max(...m.map((r) => r.doubt)), count: n, total, mean, deviation: Math.sqrt(variance),
          p50: quantileOf(merged, 0.5), p90: quantileOf(merged, 0.9), p99: quantileOf(merged, 0.99),
          min: Math.min(...m.map((r) => r.min)), max: Math.max(...m.map((r) => r.max)),
          probability: sum((r) => r.probability * r.count) / n, slowest: roles[worst.slowest],
          way: worst.way && { ...worst.way, own: worst.way.own * completion / worst.completion },
          slowestOwn: worst.slowestOwn * completion / worst.completion, completion, whole: sum((r) => r.whole), distribution: merged, about: true,
          drawn: sum((r) => r.drawn), error: Math.sqrt(sum((r) => r.error ** 2)), listed: sum((r) => r.listed),
        };
      });
    }

    // --- the list ---

    const columns = [
      { key: 'rank', text: '#', cls: 'number', title: 'Rank by total latency' },
      { key: 'path', text: 'Path', cls: 'path', title: 'What calls what, from the node that the client calls' },
      ...(labelled ? [{ key: 'operation', text: 'Operation', cls: 'operation', title: 'The operation that the client asks of the first node' }] : []),
      { key: 'count', text: 'Count', cls: 'number', title: isDrawn ? 'Paths by drawings, with a standard error' : 'Path instances' },
      ...(isDrawn ? [{ key: 'found', text: 'Found', cls: 'number found', title: 'How many paths were found; the times are of these paths' }] : []),
      ...(data.failed ? [{ key: 'failed', text: 'Failed', cls: 'number failed', title: 'Paths whose client got an error' }] : []),
      { key: 'total', text: 'Total', cls: 'number', title: 'Latency of all of them together' },
      { key: 'share', text: 'Of all', cls: 'number share', title: 'Share of the latency of all paths' },
      { key: 'mean', text: 'Mean', cls: 'number', title: 'Mean latency' },
      { key: 'p50', text: 'p50', cls: 'number p50', title: 'Half of them took at most this' },
      { key: 'p99', text: 'p99', cls: 'number', title: '99 of 100 took at most this' },
      { key: 'deviation', text: 'Dev.', cls: 'number deviation', title: 'Standard deviation of the latency' },
      { key: 'probability', text: 'Prob.', cls: 'number probability', title: 'Mean probability that the path is right: each call with these children, and no others' },
      { key: 'slowest', text: 'Most time in', cls: 'slowest', title: 'The node with the most own time, or the way that took more, and its share of the latency' },
      { key: 'latency', text: 'Latency', cls: 'spark-cell', title: `Distribution, from ${duration(low)} to ${duration(high)} in every row, logarithmic` },
    ];
    const sortValue = {
      rank: (r) => -r.whole, path: (r) => labelOf(r), operation: (r) => r.label, count: (r) => r.drawn, found: (r) => r.count, failed: (r) => r.failed || 0, total: (r) => r.listed, share: (r) => r.whole,
      mean: (r) => r.mean, p50: (r) => r.p50, p99: (r) => r.p99, deviation: (r) => r.deviation,
      probability: (r) => r.probability, slowest: (r) => (r.way ? r.way.name : shownNames()[r.slowest]), latency: (r) => r.max,
    };
    const shownNames = () => (state.merged ? roleNames : names);
    const labelOf = (r) => r.group ? `${plural(r.patterns, 'pattern')} of ${data.misassignedPaths} paths or fewer, probably misassigned` : (r.label ? r.label + ' ' : '') + signatureText(treeOf(r).client, treeOf(r).root, shownNames());
    const titleOf = (r) => (r.label ? r.label + ' ' : '') + signatureText(treeOf(r).client, treeOf(r).root, names);

    // "web2 catalog": both nodes; "web2>catalog": that call; "failed": patterns with paths that failed.
    function matcher(query) {
      const terms = query.toLowerCase().split(/\s+/).filter(Boolean).map((t) => t.split('>').filter(Boolean));
      const lower = shownNames().map((n) => n.toLowerCase());
      const has = (t, caller, term) => {
        const here = (lower[t.node] + t.mark).includes(term[term.length - 1]) && (term.length < 2 || (caller !== null && lower[caller].includes(term[0])));
        return here || t.children.some((c) => has(c, t.node, term));
      };
      return (row) => {
        const tree = treeOf(row);
        return terms.every((term) => !term.length || (term[0] === 'failed' && row.failed > 0) || has(tree.root, tree.client, term) || (term.length < 2 && (lower[tree.client].includes(term[0]) || row.label.toLowerCase().includes(term[0]))));
      };
    }

    let shown = [];
    const body = el('div', { class: 'body', role: 'rowgroup' });
    const head = el('div', { class: 'row head', role: 'row' });
    const grid = el('div', { class: `grid${labelled ? ' with-operation' : ''}${isDrawn ? ' by-drawings' : ''}${data.failed ? ' with-failed' : ''}`, role: 'grid', 'aria-label': 'Path patterns', id: 'patterns' },
      el('div', { role: 'rowgroup' }, head), body);
    const matched = el('span', { class: 'quiet', role: 'status', id: 'matched' });
    const search = el('input', { type: 'search', id: 'search', placeholder: 'Search: node, or caller>callee', 'aria-label': 'Search paths by node',
      oninput: () => { state.query = search.value; fillList(true); } });
    const searchFor = (text) => { search.value = state.query = text; fillList(true); };
    const merge = el('input', { type: 'checkbox', id: 'merge', onchange: () => { state.merged = merge.checked; state.open.clear(); fillList(true); showPattern(); } });

    function drawHead() {
      const focused = head.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
      head.replaceChildren(...columns.map((c) => {
        const mine = state.sort.replace('-', '') === c.key;
        const down = state.sort[0] === '-';
        return el('div', { class: `cell ${c.cls} of-${c.key}`, role: 'columnheader', 'aria-sort': mine ? (down ? 'descending' : 'ascending') : 'none' },
          el('button', { type: 'button', title: c.title, 'data-sort': c.key, onclick: () => sortBy(c.key) },
            c.text, mine ? (down ? ' \u25be' : ' \u25b4') : ''));
      }));
      if (focused) head.querySelector(`[data-sort="${focused}"]`).focus({ preventScroll: true });
    }
    function sortBy(key) {
      const first = ['path', 'operation', 'slowest'].includes(key) ? key : key === 'rank' ? '-total' : '-' + key;
      state.sort = state.sort === first ? (first[0] === '-' ? key : '-' + key) : first;
      fillList(true);
    }

    function fillList(keepChosen) {
      if (state.merged && !mergedRows) mergeRows();
      const all = state.merged ? mergedRows : rows;
      const matches = state.query.trim() ? matcher(state.query) : () => true;
      const key = state.sort.replace('-', '');
      const value = sortValue[key];
      const down = state.sort[0] === '-' ? -1 : 1;
      shown = all.filter(matches).map((r) => [value(r), r])
        .sort((a, b) => (a[0] < b[0] ? -down : a[0] > b[0] ? down : b[1].listed - a[1].listed)).map((p) => p[1]);
      const total = shown.reduce((s, r) => s + r.whole, 0);
      const n = shown.reduce((s, r) => s + r.count, 0);
      const found = shown.length;
      foldRare();
      matched.textContent = state.query.trim()
        ? `${count(found)} of ${count(all.length)} patterns, ${count(n)} paths, ${share(total, data.total)} of the total latency`
        : `${plural(all.length, linear ? 'path' : 'pattern')}, ${plural(n, linear ? 'message' : 'path')}` + (data.patternCount > rows.length
          ? `; ${count(data.patternCount - rows.length)} more patterns are in ${aStore}` : '');
      drawHead();
      const height = Math.max(1, Math.min(shown.length, 12)) * ROW;
      body.style.height = `${height}px`;
      grid.setAttribute('aria-rowcount', shown.length + 1);
      drawRows();
      if (keepChosen) scrollToChosen();
      dimMap();
      writeFragment();
    }

    // What was found of the rare ones becomes one row at the end, and they are below it where it is open.
    function foldRare() {
      const rare = shown.filter((r) => r.rare);
      if (!rare.length) { state.onRare = false; return; }
      const sum = (f) => rare.reduce((s, r) => s + f(r), 0);
      const group = { group: true, patterns: sum((r) => (r.members ? r.members.length : 1)), count: sum((r) => r.count), total: sum((r) => r.total), whole: sum((r) => r.whole), probability: sum((r) => r.probability * r.count) / sum((r) => r.count),
        drawn: sum((r) => r.drawn), error: Math.sqrt(sum((r) => r.error ** 2)), listed: sum((r) => r.listed) };
      group.mean = group.total / group.count;
      shown = [...shown.filter((r) => !r.rare), group, ...(state.rareOpen ? rare : [])];
    }
    function toggleRare() {
      state.rareOpen = !state.rareOpen;
      state.onRare = true;
      fillList(false);
      const at = shown.findIndex((r) => r.group);
      scrollTo(at, state.rareOpen ? Math.min(shown.length - 1, at + 5) : at);
      body.querySelector('.rare-group').focus({ preventScroll: true });
    }

    const spacer = el('div', { role: 'presentation', class: 'spacer' });
    const ranks = new Map(rows.map((r, i) => [r.id, i + 1]));
    const contains = (row, id) => !row.group && (row.members ? row.members.some((m) => m.id === id) : row.id === id);
    function drawCells(r, at, attributes, cells) {
      const row = el('div', { class: 'row', role: 'row', tabindex: -1, 'aria-rowindex': at + 2, ...attributes },
        columns.map((c) => el('div', { class: `cell ${c.cls} of-${c.key}`, role: 'gridcell', title: c.key === 'path' ? labelOf(r) : null }, cells[c.key])));
      row.style.top = `${at * ROW}px`;
      row.querySelector('.share i').style.width = `${100 * r.whole / Math.max(data.total, 1)}%`;
      return row;
    }
    // Its button takes the focus for it: a row that opens is none of a grid's.
    function drawGroup(r, at) {
      return drawCells(r, at, { class: 'row group', tabindex: null, 'aria-selected': 'false', onclick: toggleRare }, {
        path: el('button', { type: 'button', class: 'plain rare-group', tabindex: -1, 'aria-expanded': String(state.rareOpen) },
          el('span', { 'aria-hidden': 'true' }, state.rareOpen ? '\u25be ' : '\u25b8 '), plural(r.patterns, 'pattern'), el('span', { class: 'few' }, ` of ${data.misassignedPaths} paths or fewer`), ', probably misassigned'),
        count: drawnCount(r), found: count(r.count), total: duration(r.listed), share: [share(r.whole, data.total), el('i')], mean: duration(r.mean), probability: probability(r.probability),
      });
    }
    function drawRow(r, at) {
      if (r.group) return drawGroup(r, at);
      const chosen = contains(r, state.pattern);
      const text = shownNames();
      const about = r.about ? '\u2248' : '';
      const cells = {
        rank: ranks.get(r.id),
        path: cut(r.doubt >= 0 && el('span', { class: 'doubt', title: data.doubts[r.doubt][1] }, el('span', { 'aria-hidden': 'true' }, '? '), el('span', { class: 'hidden' }, 'doubtful: ')),
          r.label && el('span', { class: 'operation in-path' }, r.label + '  '),
          manyClients && [el('span', null, text[treeOf(r).client]), el('span', { class: 'sep' }, ' \u203a ')],
          pathText(treeOf(r).root, 1, text, r.slowest), r.members && r.members.length > 1 && el('span', { class: 'quiet' }, `  (${r.members.length} patterns)`)),
        operation: r.label, count: drawnCount(r), found: count(r.count), total: duration(r.listed),
        share: [share(r.whole, data.total), el('i')],
        mean: duration(r.mean), p50: about + duration(r.p50), p99: about + duration(r.p99), deviation: duration(r.deviation),
        probability: probability(r.probability),
        failed: r.failed ? el('span', { class: 'slower', title: share(r.failed, r.count) }, count(r.failed)) : '',
        slowest: [r.way ? el('em', { title: r.way.name }, r.way.cause) : text[r.slowest], el('span', { class: 'quiet' }, ' ' + share(r.way ? r.way.own : r.slowestOwn, r.completion))],
        latency: spark(r.distribution || parseDistribution(r.latency), low, high, 116, 18),
      };
      return drawCells(r, at, { class: r.rare ? 'row rare' : 'row', 'aria-selected': String(chosen), 'data-id': r.id, onclick: () => { choose(r); reveal(pattern); } }, cells);
    }
    function drawRows() {
      const from = printing ? 0 : Math.max(0, Math.floor(body.scrollTop / ROW) - 6);
      const to = printing ? shown.length : Math.min(shown.length, Math.ceil((body.scrollTop + (body.clientHeight || 400)) / ROW) + 6);
      spacer.style.height = `${shown.length * ROW}px`;
      const fresh = [];
      for (let i = from; i < to; i++) fresh.push(drawRow(shown[i], i));
      const focused = body.contains(document.activeElement);
      // The spacer stays: without it the list would be short for a moment, and where the focus leaves a row just then, scrolled back.
      if (body.firstChild !== spacer) body.prepend(spacer);
      for (const old of [...body.children]) if (old !== spacer) old.remove();
      body.append(...(shown.length ? fresh : [el('div', { class: 'empty', role: 'row' }, el('div', { role: 'gridcell' }, 'No path has that.'))]));
      // One row is where Tab leads to: the chosen one, or one that is in sight.
      const group = body.querySelector('.rare-group');
      const entry = (state.onRare && group) || fresh.find((row) => row.getAttribute('aria-selected') === 'true') || (fresh[0] && fresh[0].querySelector('.rare-group')) || fresh[0];
      if (entry) entry.tabIndex = 0;
      if (group) group.tabIndex = 0;
      if (!entry || !focused) return;
      const { onRare } = state; // also where that row has been scrolled away, and another has to have the focus
      entry.focus({ preventScroll: true });
      state.onRare = onRare;
    }
    narrow.addEventListener('change', () => { ROW = narrow.matches ? 46 : 27; fillList(true); showPattern(); });
    // On paper all rows, and how the page was made; rare patterns as they are on the screen.
    let printing = false;
    let closed = [];
    addEventListener('beforeprint', () => { printing = true; closed = [...document.querySelectorAll('details.made:not([open])')]; closed.forEach((d) => { d.open = true; }); drawRows(); });
    addEventListener('afterprint', () => { printing = false; closed.forEach((d) => { d.open = false; }); drawRows(); });
    const enterList = () => { const row = body.querySelector('.row[tabindex="0"]') || body.querySelector('[tabindex="0"]'); if (row) row.focus(); };
    body.addEventListener('scroll', drawRows, { passive: true });
    body.addEventListener('focusin', (e) => { state.onRare = e.target.classList.contains('rare-group'); });
    function scrollToChosen() {
      const at = cursor();
      if (at >= 0) scrollTo(at, at);
    }
    // So that the rows from one to another are in sight.
    function scrollTo(from, to) {
      const room = body.clientHeight || 12 * ROW;
      if ((to + 1) * ROW > body.scrollTop + room) body.scrollTop = (to + 1) * ROW - room;
      if (from * ROW < body.scrollTop) body.scrollTop = from * ROW;
      drawRows();
    }
    const cursor = () => shown.findIndex((r) => (state.onRare ? r.group : contains(r, state.pattern)));
    function choose(row) {
      state.onRare = false;
      if (row.rare && !state.rareOpen) { state.rareOpen = true; fillList(false); }
      state.pattern = row.members ? row.members[0].id : row.id;
      state.vertex = null;
      state.open.clear();
      drawRows();
      showPattern();
      writeFragment();
    }
    // From the row that has the focus by so many, or to the next pattern.
    function move(by) {
      if (!shown.length) return;
      const to = shown[Math.min(Math.max(cursor() + by, 0), shown.length - 1)];
      if (to.group) { state.onRare = true; drawRows(); } else choose(to);
      scrollToChosen();
    }
    function movePattern(by) {
      const list = shown.filter((r) => !r.group);
      if (!list.length) return;
      const at = list.findIndex((r) => contains(r, state.pattern));
      choose(list[Math.min(Math.max(at + by, 0), list.length - 1)]);
      scrollToChosen();
    }
    grid.addEventListener('keydown', (e) => {
      if (head.contains(e.target)) { // there Enter sorts
        const buttons = [...head.querySelectorAll('button')].filter((b) => b.offsetParent);
        const to = buttons[buttons.indexOf(e.target) + ({ ArrowRight: 1, ArrowLeft: -1 }[e.key] || 1e9)];
        if (to) { e.preventDefault(); to.focus(); }
        if (e.key === 'ArrowDown') { e.preventDefault(); enterList(); }
        return;
      }
      const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 11, PageUp: -11, Home: -1e9, End: 1e9 }[e.key];
      if (by) { e.preventDefault(); move(by); }
      else if (e.target.classList.contains('rare-group')) return; // there Enter and Space open and close
      else if (e.key === 'Enter') { e.preventDefault(); document.getElementById('pattern').scrollIntoView({ block: 'start' }); }
    });

    // --- the head of the page ---

    function facts() {
      const found = new Map();
      for (const c of data.captures)
        for (const line of c.facts.split('\n')) {
          const at = line.indexOf(': ');
          if (at > 0) found.set(line.slice(0, at), [...(found.get(line.slice(0, at)) || []), line.slice(at + 2)]);
        }
      return found;
    }

    // Not all are of calls.
    const KINDS = { unseen: 'Not seen', quic: 'Not seen', 'may-be-multiplexed': 'Note' };
    const sentenceOf = ([reason, text]) => `${KINDS[reason] || 'Doubtful'}: ${text}.`;

    // What was found: [level, sentence, where a click leads].
    function findings() {
      const list = [...data.held.map((text) => ['bad', text]), ...data.shared.map((text) => ['finding', `The slow requests share: ${text}`, () => slowestPanel])];
      const [first] = data.failures;
      if (first) list.push(['bad', `${count(data.failedRequests)} of ${plural(data.paths, 'request')} failed, ${first[3] < data.failedRequests ? `${count(first[3])} of them ` : ''}by ${first[0]} ${first[1]}.`, () => errorsPanel]);
      for (const [text, slow] of data.pauses) if (slow > 0) list.push(['finding', text, () => document.getElementById('over-time-all')]);
      for (const text of data.advice) list.push(['finding', text]);
      return list.map(([level, text, to]) => [level, visible(text), to]);
    }

    // What one should know before trusting the numbers: [level, sentence].
    function quality() {
      const known = facts();
      const sum = (key) => (known.get(key) || []).reduce((s, v) => s + (Number(v) || 0), 0);
      const list = [];
      if (!fit) list.push(['bad', `No probabilities are shown, as what was captured is ${data.judgement}.`]);
      for (const doubt of (data.doubts || []).slice(0, 5)) list.push([fit ? 'note' : 'bad', sentenceOf(doubt)]);
      if ((data.doubts || []).length > 5) list.push(['note', `${plural(data.doubts.length - 5, 'more edge is', 'more edges are')} doubtful.`]);
      if (rows.some((r) => r.doubt >= 0)) list.push(['note', 'In the list, ? is a path with an edge whose calls are doubtful.']);
      const packets = sum('packets');
      const dropped = sum('packets dropped by the kernel') + sum('packets dropped by the interface');
      const holes = sum('holes skipped');
      if (dropped) list.push([dropped > packets / 100 ? 'bad' : 'note', `${plural(dropped, 'packet')} were dropped while capturing, of ${count(packets + dropped)}: calls may be missing.`]);
      if (holes) list.push([holes > packets / 1000 ? 'bad' : 'note', `${plural(holes, 'hole')} in the connections: bytes that nobody captured.`]);
      if (packets && !dropped && !holes) list.push(['good', `None of ${count(packets)} packets was dropped, as far as the capture says.`]);
      if (!packets) list.push(['note', 'The trace does not say how many packets were captured, or dropped.']);
      const clocks = (key) => data.parameters.split('\n').filter((line) => line.startsWith(key + '=')).map((line) => line.slice(key.length + 1)).map((line) => [line.slice(0, line.lastIndexOf('=')), line.slice(line.lastIndexOf('=') + 1)]);
      const bounds = new Map(clocks('skew_bounds_ns'));
      const between = (node) => {
        const [least, most] = (bounds.get(node) || ',').split(',').map((ns) => ns && signed(-ns));
        return least && most ? ` (between ${most} and ${least})` : least ? ` (${least} or less)` : most ? ` (${most} or more)` : '';
      };
      const right = clocks('skew_ns').map(([node, ns]) => `${node} by ${signed(-ns)}${between(node)}`);
      const doubtful = clocks('skew_doubtful_ns').map(([node, ns]) => `${node} by ${signed(-ns)}`);
      if (right.length) list.push(['note', `Clocks put right: ${right.join(', ')}.`]);
      if (doubtful.length) list.push(['note', `May be clocks, and were left as they are: ${doubtful.join(', ')}.`]);
      if (linear) {
        list.push(['note', 'Paths are found by the delays that many messages have in common: their counts are estimates, and rare paths are not seen.']);
        if (fit) list.push([data.probability > 0.95 ? 'good' : 'note', `A path is no accident with a probability of ${probability(data.probability)} in the mean.`]);
        return list;
      }
      const unmatched = data.unmatchedCalls + data.unmatchedReturns;
      if (unmatched) {
        const part = unmatched / Math.max(data.calls + unmatched, 1);
        list.push([part > 0.02 ? 'bad' : 'note', `${plural(data.unmatchedCalls, 'call')} without a return and ${plural(data.unmatchedReturns, 'return')} without a call are left out (${share(unmatched, data.calls + unmatched)}).`]);
      } else list.push(['good', 'Every call has its return.']);
      const hosts = new Set(known.get('captured on host') || []);
      if (known.has('skew removed')) list.push(['good', `The clocks of ${plural(known.get('skew removed').length, 'node')} were set right.`]);
      if (known.has('skew added')) list.push(['note', `The clocks of ${plural(known.get('skew added').length, 'node')} were set wrong on purpose.`]);
      if (hosts.size > 1 && !known.has('skew removed')) list.push(['note', `Stamps are of the clocks of ${hosts.size} hosts, as they were.`]);
      if (data.cutPaths) list.push(['note', `${plural(data.cutPaths, 'path')} cut by the start or the end of the trace ${data.cutPaths === 1 ? 'is' : 'are'} left out.`]);
      const p = data.probability;
      const wrong = 1 - p < 0.01 ? '' : `: about ${Math.max(1, 100 - floored(p))} in 100 have a call that is another's, or lack one`;
      if (!fit) return list;
      if (data.method === 'cheat') list.push(['good', 'The parents of calls are the true ones, which the trace says.']);
      else if (p > 0.9999) list.push(['good', 'Nothing had to be guessed: each call had one possible parent.']);
      else list.push([p > 0.95 ? 'good' : p > 0.7 ? 'note' : 'bad', `A path is right with a probability of ${probability(p)} in the mean${wrong}` +
        (data.parallelism > 1 ? `. A call had ${data.parallelism.toFixed(data.parallelism < 9.995 ? 2 : 1)} possible parents in the mean.` : '.')]);
      if (data.trustInProbabilities) list.push(['note', data.trustInProbabilities]);
      const guessed = data.trust.filter((t) => t[2] > 0).sort((a, b) => a[3] - b[3]);
      if (guessed.length > 1 && data.method !== 'cheat') {
        const named = guessed.slice(0, 3).map(([node, , , q], i) => i ? `of ${names[node]}'s ${share(q, 1)}` : `that ${names[node]} makes ${share(q, 1)} should be right`);
        list.push([guessed[0][3] > 0.95 ? 'good' : guessed[0][3] > 0.7 ? 'note' : 'bad',
          `Of the parents of the calls ${named.join(', ')}` + (guessed[0][3] > 0.95 ? '.' : `: trust what is below ${names[guessed[0][0]]} least.`)]);
      }
      return list;
    }

    const FIRST_LINES = 5;
    const ORDER = ['bad', 'finding', 'note', 'good'];
    function drawTop() {
      const name = data.captures.length === 1 ? data.captures[0].name : plural(data.captures.length, 'capture');
      const length = data.first === null ? 0 : Number(BigInt(data.last) - BigInt(data.first));
      const marks = { good: '\u2713', note: '!', finding: '\u25b2', bad: '\u2715' };
      const words = { good: 'good', note: 'note', finding: 'found', bad: 'beware' };
      // At most five lines before the map: the worst doubt, what was found, then the other doubts.
      const notes = quality().sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]));
      const worst = notes.length && notes[0][0] === 'bad' ? [notes.shift()] : [];
      const known = [...worst, ...findings(), ...notes];
      const firstLines = known.length > FIRST_LINES ? FIRST_LINES - 1 : known.length;
      const lines = (list, label) => el('ul', { class: 'quality', 'aria-label': label }, list.map(([level, text, to]) => el('li', { class: level },
        el('span', { class: 'mark', 'aria-hidden': 'true' }, marks[level]), el('span', null, el('span', { class: 'hidden' }, words[level] + ': '), to ? el('button', { type: 'button', class: 'plain', onclick: () => reveal(to()) }, text) : text))));
      return [
        el('header', { class: 'top' }, el('h1', null, name.replace(/^.*\//, '')),
          el('span', { class: 'what' }, 'Causal paths, found by ravel ' + data.version),
          el('span', { class: 'spring' }),
          el('button', { type: 'button', class: 'plain quiet no-print', onclick: () => help.showModal() }, 'Keys: ?')),
        el('dl', { class: 'facts' },
          tile(linear ? 'messages end a path' : 'paths', count(data.paths)), tile(linear ? 'paths' : 'patterns', count(data.patternCount)), tile('messages', count(data.messages)),
          !linear && tile('calls', count(data.calls)), tile('edges', count(data.edges)), tile('span', span(length)),
          tile('begins', utc(data.first)), tile('method', data.method)),
        lines(known.slice(0, firstLines), 'Findings and quality'),
        known.length > firstLines && el('details', { class: 'made', id: 'more-notes' }, el('summary', null, `${plural(known.length - firstLines, 'more note')}: how far to trust the numbers`), lines(known.slice(firstLines), 'More notes')),
      ];
    }

    const workersOf = (n) => plural(n, 'worker');
    // waiting: {workers, queued}, of a node with a queue before workers: the hatched part of the bar.
    function meterRow(part, whole, cls, waiting) {
      const wide = (ns, hatched) => {
        const i = el('i', { class: hatched ? 'waiting' : null });
        i.style.width = `${100 * Math.min(1, whole > 0 ? ns / whole : 0)}%`;
        return i;
      };
      const queued = waiting && waiting.workers ? Math.min(waiting.queued, part) : 0;
      const words = waiting && waiting.workers ? `queued ${duration(waiting.queued)} of ${duration(part)}, ${workersOf(waiting.workers)}` : '';
      return el('td', { class: 'grow' }, el('span', { class: `meter ${cls || ''}`, role: 'img', 'aria-label': share(part, whole) + (words ? `, ${words}` : '') }, queued > 0 && wide(queued, true), wide(part - queued)),
        words && el('span', { class: 'queued-words quiet' }, words));
    }
    const hatchedWords = 'Hatched: queued, before a worker took the call.';

    function drawOverview() {
      const queued = data.loads.reduce((sum, l) => sum + l[1], 0);
      const beside = data.goesOn && !data.loads.length ? 'queues and network' : 'network';
      const ways = data.calling.flatMap((e) => pairsOf(e[8]).map(([cause, own]) => ({ own, cause, name: wayName(e[0], e[1], cause), network: true })));
      const known = queued + ways.reduce((sum, w) => sum + w.own, 0);
      // Means are rounded: less than that is nothing.
      const rounded = ways.length ? data.blame.reduce((sum, b) => sum + b[1], 0) : 0;
      const all = [...data.blame.map(([own, n, workers, waited], i) => (i < names.length ? { own, n, name: names[i], waiting: { workers, queued: waited } } : { own: own - known > rounded ? own - known : 0, name: beside, network: true })), { own: queued, name: 'in queues', network: true }, ...ways]
        .filter((b) => b.own > 0).sort((a, b) => b.own - a.own);
      const top = firstOf(all, 8);
      const rest = all.slice(top.length).reduce((s, b) => s + b.own, 0);
      const table = el('table', { id: 'blame-all' },
        el('thead', null, el('tr', null, el('th', null, 'Node'), el('th', { class: 'number' }, linear ? 'Messages' : 'Calls'), el('th', { class: 'number' }, OwnTime),
          el('th', { class: 'number' }, 'Share'), el('th', null, el('span', { class: 'hidden' }, 'Bar')))),
        el('tbody', null, top.map((b) => el('tr', null,
          el('td', { class: b.cause === undefined ? 'name' : 'name way', title: b.name }, b.network ? el('em', null, b.name) : el('button', { type: 'button', class: 'plain', title: 'Search for it',
            onclick: () => goTo(b.name) }, b.name)),
          el('td', { class: 'number' }, b.network ? '' : count(b.n)), el('td', { class: 'number' }, duration(b.own)),
          el('td', { class: 'number' }, share(b.own, data.total)), meterRow(b.own, data.total, b.network ? 'network' : '', b.waiting))),
        rest > 0 && el('tr', null, el('td', { class: 'name quiet' }, `${all.length - top.length} more`), el('td'), el('td', { class: 'number' }, duration(rest)),
          el('td', { class: 'number' }, share(rest, data.total)), meterRow(rest, data.total))));
      return el('div', { class: data.firstStart === null || linear ? '' : 'two' },
        el('section', { class: 'panel', 'aria-label': 'Where the time goes, all paths' },
          el('h2', null, 'Where the time goes', el('span', { class: 'hint' }, `${ownTime} on all paths`)), table, remediesOf(top, data.total), data.waits && el('p', { class: 'quiet' }, hatchedWords)),
        linear ? drawGraphs() : data.firstStart !== null && el('section', { class: 'panel', 'aria-label': 'All paths over time' },
          el('h2', null, 'Over time', el('span', { class: 'hint' }, 'a click chooses the requests of a time and latency; a drag, all of a time')),
          drawn(el('div', { class: 'chart-box', id: 'over-time-all' }), (width) => drawOverTime(data.buckets, width, 'all paths', false)),
          data.pauses.length > 0 && el('p', { class: 'quiet', id: 'pauses' }, `\u25be ${firstOf(data.pauses, 3).map((p) => `${visible(p[4])} stood still ${plural(p[5], 'time')}`).join(', ')}${moreThan(data.pauses, 3)}`)));
    }

    // --- the map: all paths as one graph ---

    const MAP_MOST = 120; // nodes that are drawn
    const LABELLED = 30; // edges; more have their figures only when they are pointed at
    const mapNodes = data.map.nodes.map(([node, asked, errors, p99]) => ({ node, asked, errors, p99, own: data.blame[node] ? data.blame[node][0] : 0, calls: data.blame[node] ? data.blame[node][1] : 0, out: [], into: [], states: data.map.states.filter((s) => s[0] === node) }))
      .sort((a, b) => b.asked - a.asked);
    const hiddenNodes = mapNodes.splice(MAP_MOST);
    const mapNodeOf = new Map(mapNodes.map((n) => [n.node, n]));
    const measured = new Map(data.calling.map((e) => [`${e[0]} ${e[1]}`, e]));
    const mapEdges = data.map.edges.map(([caller, callee, calls, on, after, p, per, given, more]) => ({ from: mapNodeOf.get(caller), to: mapNodeOf.get(callee), calls, on, after, p, per, given, more, seen: measured.get(`${caller} ${callee}`) }))
      .filter((e) => e.from && e.to);
    const isRare = (e) => e.p < 0.01 && e.calls < 0.01 * e.to.calls;
    const drawnEdges = mapEdges.filter((e) => !isRare(e)).sort((a, b) => b.calls - a.calls);
    drawnEdges.forEach((e) => { e.from.out.push(e); e.to.into.push(e); });

    // Callers above callees. A call back up the graph counts for no layer.
    const mapLayers = (() => {
      const open = new Set();
      const done = new Set();
      const order = [];
      const visit = (n) => {
        open.add(n);
        n.out.forEach((e) => { e.back = open.has(e.to); if (!e.back && !done.has(e.to)) visit(e.to); });
        open.delete(n);
        done.add(n);
        order.push(n);
      };
      [...mapNodes.filter((n) => !n.into.length), ...mapNodes].forEach((n) => { if (!done.has(n)) visit(n); });
      mapNodes.forEach((n) => { n.layer = 0; });
      order.reverse().forEach((n) => n.out.forEach((e) => { if (!e.back) e.to.layer = Math.max(e.to.layer, n.layer + 1); }));
      const layers = [];
      order.forEach((n) => { (layers[n.layer] = layers[n.layer] || []).push(n); });
      // Each node over or under the middle of its neighbours, by turns from above and from below.
      const place = (layer) => layer.forEach((n, i) => { n.at = (i + 0.5) / layer.length; });
      layers.forEach(place);
      for (let turn = 0; turn < 8; turn++)
        (turn % 2 ? layers.slice().reverse() : layers).forEach((layer) => {
          const middle = new Map(layer.map((n) => {
            const beside = turn % 2 ? n.out.map((e) => e.to) : n.into.map((e) => e.from);
            return [n, beside.length ? beside.reduce((sum, m) => sum + m.at, 0) / beside.length : n.at];
          }));
          layer.sort((x, y) => middle.get(x) - middle.get(y));
          place(layer);
        });
      return layers;
    })();

    const percentOf = (p) => share(Math.round(p * 1e6), 1e6);
    const busyOf = new Map(data.workers.map(([node, n, , served]) => [node, { n, busy: served / n / runTime }]));
    function nodeWords(n) {
      const name = names[n.node];
      const like = data.map.alike.flatMap((to, i) => (i !== n.node && to === data.map.alike[n.node] ? [names[i]] : []));
      const workers = busyOf.get(n.node);
      const words = [n.calls ? `${name} serves ${perSecond(n.calls)}, ${plural(n.calls, linear ? 'message' : 'call')}` : `${name}: a client, ${perSecond(n.asked)}`,
        `in ${share(n.asked, data.paths)} of the ${linear ? 'messages' : 'requests'}`];
      if (n.calls) words.push(`${ownTime} mean ${duration(n.own / n.calls)}, p99 ${duration(n.p99)}, ${share(n.own, data.total)} of all latency`);
      if (workers) words.push(`${workersOf(workers.n)}, busy ${percentOf(workers.busy)}`);
      if (n.errors) words.push(`${share(n.errors, n.calls)} errors`);
      if (like.length) words.push(`behaves as ${firstOf(like, 4).join(', ')}${moreThan(like, 4)}`);
      return words.join('; ');
    }
    // How the node behaves by who calls it, and for what: the probabilities that set each apart.
    function stateWords(n) {
      return n.states.map(([, calls, contexts, makes]) => {
        const from = contexts.slice(0, -1).map(([caller, label]) => visible(label || (caller < 0 ? '' : names[caller])));
        const rest = contexts[contexts.length - 1];
        const apart = pairsOf(makes).map(([callee, p]) => ({ callee, p, off: Math.abs(p - n.out.reduce((sum, e) => sum + (data.map.alike[e.to.node] === callee ? e.p : 0), 0)) }))
          .sort((x, y) => y.off - x.off).slice(0, 3).map((c) => `${names[c.callee]} ${percentOf(c.p)}`);
        return `${share(calls, n.calls)} of its calls, from ${from.join(', ')}${rest ? ` and ${rest} more` : ''}: ${apart.length ? `to ${apart.join(', ')}` : 'no call'}`;
      });
    }
    const edgeShort = (e) => percentOf(e.p) + (e.per > e.p + 0.005 ? ` \u00d7${+(e.per / e.p).toPrecision(3)}` : '');
    function callWords(e) {
      const name = edgeName(e.from.node, e.to.node);
      const words = [`${name}: ${percentOf(e.p)} of ${e.from.calls ? `the calls that ${names[e.from.node]} serves make it` : `what ${names[e.from.node]} asks`}, ${perSecond(e.calls)}`];
      if (e.per > e.p + 0.005) words.push(`${+(e.per / e.p).toPrecision(3)} times each`);
      if (e.after >= 0) words.push(`after ${names[e.after]} with ${percentOf(e.given)}`);
      if (e.more !== undefined) words.push(`with it ${signed(e.more)}`);
      if (e.on) words.push('not waited for');
      if (e.seen) {
        const [, , calls, errors, , , p50, p99, causes] = e.seen;
        words.push(`p50 ${duration(p50)}, p99 ${duration(p99)}`);
        if (errors > 0) words.push(`${share(errors, calls)} errors`);
        pairsOf(causes).sort((x, y) => y[1] - x[1]).slice(0, 2).forEach(([cause, t]) => words.push(`${data.causes[cause][0]} ${duration(t / Math.max(calls, 1))} on the way`));
      }
      return words.join('; ');
    }

    const mapFigures = el('div', { class: 'map-figures', role: 'status', id: 'map-figures' });
    const mapHint = 'Point at a node or a call for its figures; a click, or Enter, leads to the node\u2019s part of this page, or to the paths with the call.';
    function sayMap(item) {
      set(mapFigures, item ? el('p', null, item.node === undefined ? callWords(item) : nodeWords(item)) : el('p', { class: 'quiet' }, mapHint),
        item && item.states && stateWords(item).map((text) => el('p', { class: 'quiet' }, text)));
    }
    function enterMap(item) {
      if (item.node === undefined) { goTo(`${names[item.from.node]}>${names[item.to.node]}`); return; }
      const i = data.details.findIndex((d) => d.vertices.some((v) => v[1] === item.node));
      if (i < 0) { goTo(names[item.node]); return; }
      choose(rows[i]);
      state.vertex = data.details[i].vertices.findIndex((v) => v[1] === item.node);
      showPattern();
      writeFragment();
      reveal(document.getElementById('node'));
    }
    function goTo(text) {
      searchFor(text);
      reveal(search.closest('.panel'));
    }

    let mapAt = null; // where Tab leads to
    // Down from a node to a call that it makes, and on to the callee; up likewise; left and right
    // among the nodes of a row, or the calls of a node.
    function mapStep(item, key) {
      const side = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (item.node === undefined) return key === 'ArrowDown' ? item.to : key === 'ArrowUp' ? item.from : item.from.out[item.from.out.indexOf(item) + side];
      if (side) { const row = mapLayers[item.layer]; return row[row.indexOf(item) + side]; }
      return (key === 'ArrowDown' ? item.out : item.into)[0];
    }

    function drawMap(width) {
      const small = width < 500;
      const [W, H, GAP] = small ? [102, 64, 8] : [132, 50, 16];
      const fits = Math.max(1, Math.floor((width + GAP) / (W + GAP)));
      const shift = small ? 0 : 0.5; // of every other row of a layer, so that lines pass between boxes
      let y = H / 2 + 4;
      mapLayers.forEach((layer, k) => {
        const lines = layer.length <= fits ? 1 : Math.ceil(layer.length / Math.max(1, Math.floor((width + GAP) / (W + GAP) - shift)));
        const each = Math.ceil(layer.length / lines);
        layer.forEach((n, i) => {
          const line = Math.floor(i / each);
          const here = Math.min(each, layer.length - line * each);
          const step = Math.min(width / (lines > 1 ? each + shift : here), 2.2 * W);
          n.x = width / 2 + (i % each - (here - 1) / 2 + (lines > 1 ? (line % 2 - 0.5) * shift : 0)) * step;
          n.y = y + line * (H + 22);
        });
        const below = (mapLayers[k + 1] || []).reduce((sum, n) => sum + n.into.length, 0);
        y += (lines - 1) * (H + 22) + H + 46 + Math.min(below, 60);
      });
      const height = Math.max(...mapNodes.map((n) => n.y)) + H / 2 + 6;
      const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': 'Map of the system', class: drawnEdges.length > LABELLED ? 'many' : '' });
      const parts = new Map();
      const tags = new Map(); // the labels of calls, over all lines
      const spots = [];
      const light = (item) => {
        root.classList.toggle('lit', Boolean(item));
        for (const [other, g] of parts) g.classList.toggle('on', Boolean(item) && (other === item || (item.node === undefined ? other === item.from || other === item.to : other.from === item || other.to === item || [...item.out, ...item.into].some((e) => e.from === other || e.to === other))));
        for (const [e, tag] of tags) tag.classList.toggle('on', parts.get(e).classList.contains('on'));
        sayMap(item);
      };
      const part = (item, title, ...children) => {
        const g = svg('g', { class: item.node === undefined ? `call${item.on ? ' goes-on' : ''}` : `box${item.calls ? '' : ' client'}`, role: 'button', tabindex: (mapAt || mapNodes[0]) === item ? 0 : -1, 'data-map': item.node === undefined ? `${item.from.node}>${item.to.node}` : item.node }, svg('title', null, title), children);
        const go = (to) => { g.setAttribute('tabindex', -1); mapAt = to; parts.get(to).setAttribute('tabindex', 0); parts.get(to).focus({ preventScroll: true }); };
        for (const [event, lit] of [['pointerenter', item], ['pointerleave', null], ['focus', item], ['blur', null]]) g.addEventListener(event, () => light(lit));
        g.addEventListener('click', () => enterMap(item));
        g.addEventListener('keydown', (e) => {
          if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); enterMap(item); }
          if (!e.key.startsWith('Arrow')) return;
          e.preventDefault();
          const to = mapStep(item, e.key);
          if (to) go(to);
        });
        parts.set(item, g);
        root.append(g);
      };
      const port = (list, e, end) => (([...list].sort((a, b) => a[end].x - b[end].x).indexOf(e) + 1) / (list.length + 1) - 0.5) * W * 0.8;
      drawnEdges.forEach((e) => {
        const [x1, y1, x2] = [e.from.x + port(e.from.out, e, 'to'), e.from.y + H / 2, e.to.x + port(e.to.into, e, 'from')];
        const y2 = e.to.y - H / 2 - 5;
        const bend = y2 > y1 ? Math.max(16, (y2 - y1) * 0.45) : 40;
        const path = svg('path', { class: 'line', d: `M${x1.toFixed(1)} ${y1}C${x1.toFixed(1)} ${y1 + bend} ${x2.toFixed(1)} ${y2 - bend} ${x2.toFixed(1)} ${y2}` });
        path.style.strokeWidth = (0.8 + 2.2 * Math.min(e.p, 1)).toFixed(2);
        part(e, callWords(e), svg('path', { class: 'reach', d: path.getAttribute('d') }), path, svg('path', { class: 'tip', d: `M${(x2 - 3.5).toFixed(1)} ${y2 - 2}h7l-3.5 7z` }));
        const on = (t) => [[x1, x1, x2, x2], [y1, y1 + bend, y2 - bend, y2]].map(([a, b, c, d]) => (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d);
        const places = [0.5, 0.64, 0.36, 0.76, 0.24].map(on);
        const at = places.find(([x, y]) => spots.every(([a, b]) => Math.abs(x - a) > 38 || Math.abs(y - b) > 13)) || places[0];
        spots.push(at);
        tags.set(e, svg('text', { class: 'label', x: at[0].toFixed(1), y: (at[1] + 4).toFixed(1), 'aria-hidden': 'true' }, edgeShort(e)));
      });
      root.append(...tags.values());
      mapNodes.forEach((n) => {
        const rect = svg('rect', { x: n.x - W / 2, y: n.y - H / 2, width: W, height: H, rx: 5 });
        if (n.calls) rect.style.fill = shaded(n.own / Math.max(data.total, 1));
        const lines = [['name', names[n.node]], ...(n.calls ? small ? [['small', perSecond(n.calls)], ['small', `own ${duration(n.own / n.calls)}`]] : [['small', `${perSecond(n.calls)}, own ${duration(n.own / n.calls)}`]] : [['small', perSecond(n.asked)]])];
        const state = [n.errors && `errors ${share(n.errors, n.calls)}`, busyOf.has(n.node) && `busy ${percentOf(busyOf.get(n.node).busy)}`].filter(Boolean).join(', ');
        if (state) lines.push([n.errors ? 'small slower' : 'small', state]);
        part(n, nodeWords(n), rect, lines.map(([cls, text], i) => svg('text', { class: cls, x: n.x, y: n.y + 4.5 + (i - (lines.length - 1) / 2) * 14 }, fitName(text, W - 8, cls === 'name' ? 600 : 400, cls === 'name' ? 13 : 11))));
      });
      return root;
    }

    // Of a search: what no path has that it finds is dim.
    function dimMap() {
      const found = new Set();
      const walk = (t, caller) => { found.add(String(t.node)).add(`${caller}>${t.node}`); t.children.forEach((c) => walk(c, t.node)); };
      if (state.query.trim() && !state.merged) shown.filter((r) => !r.group).forEach((r) => { found.add(String(treeOf(r).client)); walk(treeOf(r).root, treeOf(r).client); });
      for (const g of document.querySelectorAll('[data-map]')) g.classList.toggle('dim', found.size > 0 && !found.has(g.dataset.map));
    }

    function drawMapPanel() {
      const rare = mapEdges.length - drawnEdges.length;
      sayMap(null);
      return el('section', { class: 'panel', 'aria-label': 'Map', id: 'map' },
        el('h2', null, 'Map', el('span', { class: 'hint' }, `${data.map.patterns < 2 * data.map.abstract ? '' : `${plural(data.map.patterns, 'pattern')} with 99${NBSP}% of the requests, ${plural(data.map.abstract, 'abstract path')}; `}on a call: how many of the calls that its caller serves make it; the darker a node, the more time is its own`)),
        drawn(el('div', { class: 'map' }), drawMap), mapFigures,
        rare > 0 && el('p', { class: 'quiet' }, `${plural(rare, 'edge')} with less than 1${NBSP}% of the calls of both ends ${rare === 1 ? 'is' : 'are'} not drawn.`),
        hiddenNodes.length > 0 && el('p', { class: 'quiet' }, `${plural(hiddenNodes.length, 'more node')} with fewer requests ${hiddenNodes.length === 1 ? 'is' : 'are'} not drawn.`));
    }

    // --- convolution's graphs: Figure 9 ---

    let graph = 0;
    function drawGraphs() {
      const panel = el('section', { class: 'panel', 'aria-label': 'Graphs', id: 'graphs' });
      const draw = () => {
        const g = data.graphs[graph];
        const stay = g.vertices.map(() => 0);
        for (const v of g.vertices)
          if (v[1] >= 0) stay[v[1]] += v[4].reduce((sum, [delay, n]) => sum + delay * n, 0);
        const all = stay.reduce((sum, t) => sum + t, 0);
        const most = all > 0 ? stay.indexOf(Math.max(...stay)) : -1;
        const boxes = g.boxes.map((b, i) => {
          const [node, parent, n, p, delays] = g.vertices[i];
          const words = firstOf(delays, 2).map(([delay, k]) => (delays.length > 1 ? `${count(k)} after ${duration(delay)}` : `after ${duration(delay)}`)).join(', ') + (delays.length > 3 ? ', \u2026' : '');
          return {
            x: b[0], y: b[1], width: b[2], height: b[3], edge: b[4], vertex: i,
            lines: [['name', names[node]], ['small', plural(n, 'message')], ['small', parent < 0 ? 'a root' : stay[i] > 0 ? `stay ${share(stay[i], all)} of all` : fit ? `probability ${probability(p)}` : '']],
            label: words || null,
            title: `${names[node]}: ${plural(n, 'message')}` + (parent < 0 ? ' that it sends' : ` from ${names[g.vertices[parent][0]]}${withProbability(p)}`) +
              delays.slice(0, 8).map(([delay, k]) => `; ${count(k)} sent ${duration(delay)} after what caused them`).join('') + (i === most ? '; messages stay here longest in all' : ''),
            fill: shaded(all > 0 ? stay[i] / all : 0), classes: [i === most ? 'slowest' : '', parent < 0 ? 'client' : ''].filter(Boolean),
          };
        });
        set(panel, el('div', { class: 'bar-row' }, el('h2', null, 'Graph', el('span', { class: 'hint' }, 'what follows what, from each root')),
          data.graphs.length > 1 && segments('Root', data.graphs.map((h, i) => [i, names[h.vertices[0][0]]]), graph, (i) => { graph = i; draw(); panel.querySelector(`[data-value="${i}"]`).focus(); })),
        el('div', { class: 'tree', tabindex: 0, role: 'region', 'aria-label': 'Graph' }, drawTree(g.width, g.height, boxes, `Graph from ${names[g.vertices[0][0]]}`)),
        g.hidden > 0 && el('p', { class: 'quiet' }, `${plural(g.hidden, 'more vertex', 'more vertices')} not drawn.`));
        requestAnimationFrame(() => { // once it has a width: the root in its middle
          const tree = panel.querySelector('.tree');
          tree.scrollLeft = g.boxes[0][0] - tree.clientWidth / 2;
        });
      };
      draw();
      return panel;
    }

    // --- one pattern ---

    const pattern = el('section', { id: 'pattern', 'aria-label': 'The chosen pattern' });
    const rowOf = (id) => rows.find((r) => r.id === id);

    function showPattern() {
      const row = rowOf(state.pattern);
      if (!row) { pattern.replaceChildren(); return; }
      const detail = data.details[row.i];
      const tree = treeOf(row);
      const group = state.merged && mergedRows ? mergedRows.find((r) => contains(r, row.id)) : null;
      const otherMembers = group ? group.members.filter((m) => m !== row) : [];
      const parts = [el('section', { class: 'panel' },
        el('h2', null, `Pattern ${row.i + 1}`, el('span', { class: 'hint' }, `of ${count(data.patternCount)}, id ${row.id}`)),
        row.label && el('div', { class: 'operation', id: 'operation' }, row.label),
        el('div', { class: 'signature', id: 'signature' }, signatureText(tree.client, tree.root, names)),
        row.doubt >= 0 && el('p', { class: 'doubt' }, sentenceOf(data.doubts[row.doubt])),
        el('dl', { class: 'tiles' }, isDrawn && tile('count by drawings', drawnCount(row)), tile(linear ? 'messages' : isDrawn ? 'paths found' : 'paths', count(row.count)), tile(isDrawn ? 'total of these' : 'total', duration(row.total)), tile('of all', share(row.whole, data.total)), row.failed > 0 && tile('failed', `${count(row.failed)}, ${share(row.failed, row.count)}`),
          row.failed > 0 && row.goodP50 > 0 && tile('p50 of good', duration(row.goodP50)),
          tile('mean', duration(row.mean)), data.goesOn && tile('completion', duration(row.completion)), data.goesOn && tile('its p99', duration(row.completionP99)), tile('deviation', duration(row.deviation)), tile('min', duration(row.min)), tile('p50', duration(row.p50)),
          tile('p90', duration(row.p90)), tile('p99', duration(row.p99)), tile('max', duration(row.max)), tile('probability', probability(row.probability))),
        group && group.members.length > 1 && el('p', null, el('span', { class: 'quiet' }, 'With other replicas: '),
          firstOf(otherMembers, 12).map((m, i) => [i ? ', ' : '', el('button', { type: 'button', class: 'plain mono', onclick: () => { state.pattern = m.id; state.vertex = null; drawRows(); showPattern(); writeFragment(); } },
            titleOf(m))]), moreThan(otherMembers, 12)))];
      if (detail) parts.push(...drawDetail(row, detail));
      else parts.push(el('section', { class: 'panel' }, el('p', null,
        `Only the first ${count(data.details.length)} patterns by total latency are here in full. Everything about this one is in ${aStore}: `,
        el('span', { class: 'mono' }, `pattern.hash = '${row.id}'`), data.store ? ` in ${data.store}.` : '.')));
      set(pattern, parts);
      drawBoxes();
    }

    function vertices(detail) {
      const waits = data.goesOn ? 9 : 7;
      const at = data.waits ? waits + 2 : waits;
      const marks = new Map(detail.missed.map(([i, how]) => [i, MARK[how]]));
      const ways = (i) => detail.ways.filter((w) => w[0] === i).map((w) => [w[1], w[2]]);
      return detail.vertices.map((v, i) => ({ i, parent: v[0], node: v[1], mark: marks.get(i) || '', ways: ways(i), places: v[2], latency: v[3], after: v[4], own: v[5], network: v[6],
        on: data.goesOn ? goesOn(v[7]) : false, queued: data.goesOn ? v[8] : [], workers: data.waits ? v[waits] : 0, waited: data.waits ? v[waits + 1] : [], operation: v[at] ? visible(v[at]) : '',
        n: v[2].length, each: v[0] < 0 ? 1 : v[2].length / detail.vertices[v[0]][2].length,
        depth: 0, parallel: false }));
    }
    const mean = (s) => (s.length ? s[0] : 0);
    const missedWords = { '!': 'gave no answer', '*': 'answered when its caller had gone on' };

    function drawDetail(row, detail) {
      const vs = vertices(detail);
      vs.forEach((v) => { v.depth = v.parent < 0 ? 0 : vs[v.parent].depth + 1; });
      const slowest = vs.reduce((a, b) => (mean(b.own) * b.n > mean(a.own) * a.n ? b : a));
      if (state.vertex === null || !vs[state.vertex]) state.vertex = null;
      const chosen = vs[state.vertex === null ? slowest.i : state.vertex];
      const pick = (v) => { state.vertex = v.i === slowest.i ? null : v.i; redraw(v.i); writeFragment(); };
      // Keyboard focus stays on what was chosen.
      const redraw = (at) => {
        const inTree = document.activeElement && document.activeElement.closest && document.activeElement.closest('.tree');
        const name = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.focus : null;
        showPattern();
        if (inTree || name) focusOn(pattern, inTree ? `.tree [data-vertex="${at}"]` : `[data-focus="${name}"]`);
      };
      const context = { row, detail, vs, slowest, chosen, pick, redraw };
      // Beside a narrow tree there is room for the rest.
      const [tree, blame, timeline] = [drawCallTree(context), drawBlame(context), drawTimeline(context)];
      return [
        detail.width <= 560 && !(state.compared && detail.spent) ? el('div', { class: 'tree-and-blame' }, tree, el('div', null, blame, timeline))
          : [tree, el('div', { class: 'blame-and-timeline' }, blame, timeline)],
        drawNode(context),
        data.firstStart !== null && el('section', { class: 'panel', 'aria-label': 'Over time' },
          el('h2', null, 'Over time', el('span', { class: 'hint' }, 'this pattern: median and peak latency, and how many paths begin')),
          drawn(el('div', { class: 'chart-box', id: 'over-time' }), (width) => drawOverTime(detail.buckets, width, 'this pattern', true))),
      ];
    }

    function edgeWords(v, whole) {
      if (v.parent < 0) return null;
      const after = duration(mean(v.after));
      const [cause, lost] = v.ways[0] || [];
      if (lost > 0.05 * whole) return `${data.causes[cause][0]} ${duration(lost)}`;
      if (linear) return `sent after ${after}`;
      if (mean(v.queued) > 0) return `sent after ${after}, queued ${duration(mean(v.queued))}`;
      return v.each > 1 ? `${v.each} calls, after ${after}` : v.on ? `goes on after ${after}` : `called after ${after}`;
    }

    // What the slowest hundredth of the pattern spends more than its middle, by vertex.
    function comparison(detail, vs, client) {
      if (!detail.spent) return null;
      const [slowCount, slow, middleCount, middle] = detail.parts;
      const lines = [];
      let network = [0, 0];
      vs.forEach((v) => {
        const [own, queued, net, ownMiddle, queuedMiddle, netMiddle] = detail.spent[v.i];
        const times = v.n > 1 ? ` \u00d7${v.n}` : '';
        lines.push({ v, name: names[v.node] + v.mark + times, slow: own, middle: ownMiddle });
        if (queued || queuedMiddle) lines.push({ v: null, name: `${names[v.node]}${times} (in a queue before)`, slow: queued, middle: queuedMiddle });
        network = [network[0] + net, network[1] + netMiddle];
      });
      for (const [i, cause, slowWay, middleWay] of detail.spentWays) {
        lines.push({ v: null, name: wayName(vs[i].parent < 0 ? client : vs[vs[i].parent].node, vs[i].node, cause), slow: slowWay, middle: middleWay });
        network = [network[0] - slowWay, network[1] - middleWay];
      }
      if (detail.spentWays.length) network = network.map((t) => (t > detail.spentWays.length ? t : 0)); // means are rounded
      if (network[0] || network[1]) lines.push({ v: null, name: 'network', slow: network[0], middle: network[1] });
      lines.forEach((l) => { l.more = l.slow - l.middle; });
      return { slowCount, slow, middleCount, middle, lines, of: new Map(lines.filter((l) => l.v).map((l) => [l.v.i, l])), most: Math.max(...lines.map((l) => Math.abs(l.more))) };
    }
    const arrowed = (ns) => (ns > 0 ? '\u25b2 ' : ns < 0 ? '\u25bc ' : '') + signed(ns);
    const percentage = (part) => `${part < -0.005 ? '\u2212' : ''}${Math.round(100 * Math.abs(part))}${NBSP}%`;
    // What of a difference in all is one's: of none nothing can be said.
    const partOf = (more, all) => (all > 0 ? percentage(more / all) : '\u2013');

    function drawComparison(found) {
      return [el('p', { class: 'quiet' }, `The slowest ${plural(found.slowCount, 'path')} took ${duration(found.slow)} in the mean, the ${count(found.middleCount)} in the middle ${duration(found.middle)}.`),
        cards({ id: 'compared' }, el('thead', null, el('tr', null, el('th', null, OwnTime + ' of'), el('th', { class: 'number' }, 'Slowest'), el('th', { class: 'number' }, 'Middle'), el('th', { class: 'number' }, 'More'), el('th', { class: 'number' }, 'Of all more'))),
          el('tbody', null, [...found.lines].sort((a, b) => b.more - a.more).map((l) => el('tr', null, el('td', { class: 'name', title: l.name }, l.name), el('td', { class: 'number' }, duration(l.slow)), el('td', { class: 'number' }, duration(l.middle)),
            el('td', { class: `number ${l.more > 0 ? 'slower' : l.more < 0 ? 'faster' : ''}` }, arrowed(l.more)), el('td', { class: 'number' }, partOf(l.more, found.slow - found.middle))))))];
    }

    function drawCallTree({ row, detail, vs, slowest, chosen, pick }) {
      const found = comparison(detail, vs, treeOf(row).client);
      const compared = state.compared && found;
      const client = names[treeOf(row).client];
      const boxes = detail.boxes.map((b, i) => {
        const box = { x: b[0], y: b[1], width: b[2], height: b[3], edge: b[4] };
        if (i === 0) return Object.assign(box, { lines: [['name', client], ['small', plural(row.count, linear ? 'message' : 'path')], ['small', `${duration(row.total)} in all`]], title: `${client}${linear ? '' : ', the client'}: ${plural(row.count, linear ? 'message' : 'path')}, ${duration(row.total)} in all`, classes: ['client'] });
        const v = vs[i - 1];
        const mine = mean(v.own) * v.n;
        const times = v.n > 1 ? ` \u00d7${v.n}` : '';
        return Object.assign(box, {
          vertex: v.i, on: v.on,
          lines: [['name', names[v.node] + v.mark + times], ...(v.operation ? [['small', v.operation]] : []),
            ...(compared ? [['small', arrowed(found.of.get(v.i).more)], ['small', `${duration(found.of.get(v.i).middle)} \u2192 ${duration(found.of.get(v.i).slow)}`]]
              : [['small', duration(mean(v.latency)) + (v.n > 1 ? ' each' : '')], ['small', `${linear ? 'stay' : 'own'} ${duration(mine)}  ${share(mine, row.completion)}`],
                ...(v.workers ? [['small', `queued ${duration(mean(v.waited) * v.n)}, ${workersOf(v.workers)}`]] : [])])],
          label: edgeWords(v, row.completion),
          title: `${names[v.node]}${v.mark}${times}${v.operation ? ' ' + v.operation : ''}: ${linear ? 'to the end of the path' : 'latency'} ${duration(mean(v.latency))}, ${ownTime} ${duration(mine)} (${share(mine, row.completion)})` +
            (v.workers ? `, of it queued ${duration(mean(v.waited) * v.n)} for ${workersOf(v.workers)}` : '') +
            (v.parent < 0 ? '' : linear ? `; sent to it ${duration(mean(v.after))} after ${names[vs[v.parent].node]} was` : `; ${names[vs[v.parent].node]} calls it ${duration(mean(v.after))} after it was called itself`) + (v === slowest ? '; most time' : '') + (v.mark ? `; ${missedWords[v.mark]}` : '') + v.ways.map(([cause, t]) => `; ${data.causes[cause][0]} ${duration(t)} on the way`).join(''),
          fill: compared ? tinted(found.of.get(v.i).more, found.most) : shaded(mine / Math.max(row.completion, 1)),
          classes: [v === slowest ? 'slowest' : '', v === chosen ? 'chosen' : ''].filter(Boolean),
          choose: () => { pick(v); reveal(document.getElementById('node')); },
        });
      });
      return el('section', { class: 'panel', 'aria-label': linear ? 'Path' : 'Call tree' },
        el('div', { class: 'bar-row' }, el('h2', null, linear ? 'Path' : 'Call tree'),
          !linear && segments('What the tree shows', [['mean', 'Mean of all'], ['compared', 'Slow against fast', found ? 'The slowest hundredth against the middle' : 'Of a pattern with fewer than 100 requests there is no slowest hundredth', !found]], compared ? 'compared' : 'mean',
            (k) => { state.compared = k === 'compared'; showPattern(); writeFragment(); focusOn(pattern, `[data-value="${k}"]`); }),
          el('span', { class: 'hint' }, linear ? 'the time to the end of the path; the darker, the longer messages stay'
            : compared ? `${ownTime} of the slowest hundredth against the middle: orange \u25b2 more, blue \u25bc less` : 'mean latency of each call; the darker, the more of the time is its own')),
        compared ? el('div', { class: detail.width <= 560 ? 'two' : '' }, el('div', { class: 'tree' }, drawTree(detail.width, detail.height, boxes, 'Call tree')), el('div', null, drawComparison(found)))
          : el('div', { class: 'tree' }, drawTree(detail.width, detail.height, boxes, 'Call tree')),
        detail.hidden > 0 && el('p', { class: 'quiet' }, `${plural(detail.hidden, 'more call')} of this pattern ${detail.hidden === 1 ? 'is' : 'are'} not drawn.`));
    }

    function drawBlame({ row, detail, vs, chosen, pick, slowest }) {
      const by = new Map();
      let network = 0;
      let queued = 0;
      for (const v of vs) {
        const b = by.get(v.node) || { node: v.node, own: 0, n: 0, v, waiting: { workers: 0, queued: 0 } };
        b.own += mean(v.own) * v.n;
        b.waiting.workers = Math.max(b.waiting.workers, v.workers);
        b.waiting.queued += mean(v.waited) * v.n;
        b.n += v.n;
        if (mean(v.own) * v.n > mean(b.v.own) * b.v.n) b.v = v;
        by.set(v.node, b);
        network += mean(v.network) * v.n;
        queued += mean(v.queued) * v.n;
      }
      const byWay = new Map();
      for (const [i, cause, own] of detail.ways) {
        const name = wayName(vs[i].parent < 0 ? treeOf(row).client : vs[vs[i].parent].node, vs[i].node, cause);
        byWay.set(name, { name, cause, own: own + (byWay.has(name) ? byWay.get(name).own : 0) });
        network -= own;
      }
      if (detail.ways.length && network < detail.ways.length + vs.length) network = 0; // means are rounded
      const connecting = (detail.connecting || 0) - detail.ways.reduce((sum, w) => sum + (w[1] >= OPENS ? w[2] : 0), 0);
      const list = [...by.values(), ...byWay.values()].sort((a, b) => b.own - a.own);
      return el('section', { class: 'panel', 'aria-label': 'Where the time goes' },
        el('h2', null, 'Where the time goes', el('span', { class: 'hint' }, `${ownTime}, mean of a path`)),
        el('table', { id: 'blame' },
          el('thead', null, el('tr', null, el('th', null, 'Node'), el('th', { class: 'number' }, linear ? 'Times' : 'Calls'), el('th', { class: 'number' }, OwnTime),
            el('th', { class: 'number' }, 'Share'), el('th', null, el('span', { class: 'hidden' }, 'Bar')))),
          el('tbody', null, list.map((b) => (b.cause !== undefined ? el('tr', null, el('td', { class: 'name way', title: b.name }, el('em', null, b.name)), el('td'), el('td', { class: 'number' }, duration(b.own)),
            el('td', { class: 'number' }, share(b.own, row.completion)), meterRow(b.own, row.completion, 'network')) : el('tr', { class: b.node === chosen.node ? 'chosen' : null },
            el('td', { class: 'name', title: names[b.node] }, el('button', { type: 'button', class: `plain ${b.node === slowest.node ? 'hot' : ''}`, 'data-focus': `blame-${b.node}`, onclick: () => pick(b.v) }, names[b.node])),
            el('td', { class: 'number' }, count(b.n)), el('td', { class: 'number' }, duration(b.own)), el('td', { class: 'number' }, share(b.own, row.completion)), meterRow(b.own, row.completion, '', b.waiting)))),
          network > 0 && el('tr', null, el('td', { class: 'name' }, el('em', null, 'network'),
            connecting > 0 && el('span', { class: 'queued-words quiet' }, `of it connecting ${duration(connecting)}`)), el('td'), el('td', { class: 'number' }, duration(network)),
            el('td', { class: 'number' }, share(network, row.completion)), meterRow(network, row.completion, 'network')),
          queued > 0 && el('tr', null, el('td', { class: 'name' }, el('em', null, 'queued')), el('td'), el('td', { class: 'number' }, duration(queued)),
            el('td', { class: 'number' }, share(queued, row.completion)), meterRow(queued, row.completion, 'network')))),
        vs.some((v) => v.workers) && el('p', { class: 'quiet' }, hatchedWords),
        remediesOf(list, row.completion),
        vs.filter((v) => v.mark).map((v) => el('p', { class: 'quiet missed' }, v.mark === '!' ? `${names[v.node]}! gave no answer for ${duration(mean(v.latency))}.` : `${names[v.node]}* answered after ${duration(mean(v.latency))}, when its caller had gone on.`)),
        linear ? el('p', { class: 'quiet' }, `Stay is from when a message is at a node until the next is sent; with the network it adds up to the mean of ${duration(row.mean)}.`)
          : data.goesOn ? el('p', { class: 'quiet' }, `Own time is what only this node accounts for; with the time in queues it adds up to the mean completion time of ${duration(row.completion)}.`)
          : el('p', { class: 'quiet' }, `Own time is what only this node accounts for; it adds up to the mean latency of ${duration(row.mean)}.`));
    }

    // --- the timeline ---

    // The calls to draw: of the mean, or of an instance. Each has its vertex and place.
    function timelineCalls({ detail, vs }) {
      const vertexOf = new Map();
      vs.forEach((v) => v.places.forEach((p) => vertexOf.set(p, v.i)));
      if (state.sample !== 'mean') {
        const s = detail.samples[detail.sample[SAMPLES.indexOf(state.sample)]];
        const label = (c) => (vertexOf.has(c[0]) ? vs[vertexOf.get(c[0])].operation : '');
        return { sample: s, calls: exactPieces(s.calls.map((c) => ({ place: c[0], vertex: vertexOf.get(c[0]), parent: c[1], caller: c[2], start: c[3], enter: c[4], reply: c[5], end: c[6], stored: c[7], probability: c[9], candidates: c[10], label: label(c), ...tailOf(c, 11) }))) };
      }
      const calls = [];
      const held = (v, causes) => vs[v].ways.reduce((sum, [cause, t]) => sum + (causes(cause) ? t / vs[v].n : 0), 0);
      const mk = (place, vertex, parent, delay, latency, network, p10, p90) => {
        const net = network - (vertex === undefined ? 0 : held(vertex, (cause) => cause !== ROUND_TRIP));
        const start = parent < 0 ? 0 : calls[parent].enter + delay;
        calls.push({ place, vertex, parent, on: vertex !== undefined && vs[vertex].on, mark: vertex === undefined ? '' : vs[vertex].mark, label: vertex === undefined ? '' : vs[vertex].operation, queued: vertex === undefined ? 0 : mean(vs[vertex].queued), waited: vertex === undefined ? 0 : mean(vs[vertex].waited), start, enter: start + net / 2, reply: start + Math.max(latency - net / 2, net / 2), end: start + latency, p10, p90 });
      };
      if (detail.places.length)
        detail.places.forEach((p, i) => mk(i, vertexOf.get(i), p[0], p[1], p[2], p[6], p[3], p[4]));
      else
        vs.forEach((v) => mk(v.places[0], v.i, v.parent, mean(v.after), mean(v.latency), mean(v.network), v.latency[2] || 0, v.latency[4] || 0));
      for (const c of ownPieces(calls)) {
        if (c.vertex === undefined) continue;
        takeWay(c, held(c.vertex, (cause) => cause !== ROUND_TRIP && cause < OPENS), sentSlowly(vs[c.vertex].ways));
      }
      return { sample: null, calls };
    }
    // Whether bytes on the way were those of the return.
    const sentSlowly = (ways) => ways.some(([cause]) => cause === SENDING);
    // Of real calls: their own time is the store's.
    function exactPieces(calls) {
      for (const c of ownPieces(calls)) if (c.wayTimes.length) takeWay(c, Math.max(c.own - c.stored, 0), sentSlowly(c.wayTimes));
      return calls;
    }

    // A call's own time, [from, to, whether it waited for a worker then]. What it waited is the first
    // of it: nothing is done, and nothing called, before a worker took it.
    function piecesOf(c) {
      let left = c.waited;
      return [...c.pieces].sort((a, b) => a[0] - b[0]).flatMap(([from, to]) => {
        const until = Math.min(to, from + left);
        left -= until - from;
        return [[from, until, true], [until, to, false]].filter(([a, b]) => b > a);
      });
    }

    // The calls of a path as lanes, and what the colours say. sample: a real one, or null.
    function drawLanes({ vs, calls, sample, chosen, slowest, pick, redraw }) {
      const drawnCalls = calls.filter((c) => c.vertex !== undefined);
      const end = Math.max(1, ...drawnCalls.map((c) => Math.max(c.end + c.callerShift, sample ? 0 : c.start + c.p90)));
      const percent = (t) => `${(100 * t / end).toFixed(3)}%`;
      // Which siblings are open at the same time.
      for (const c of drawnCalls)
        for (const k of c.children)
          for (const other of c.children)
            if (other !== k && Math.min(k.end, other.end) - Math.max(k.start, other.start) > 0.2 * Math.min(k.end - k.start, other.end - other.start)
              && Math.min(k.end - k.start, other.end - other.start) > 0) vs[k.vertex] && (vs[k.vertex].parallel = true);
      const lanes = [];
      const hide = new Set();
      for (const v of vs) {
        if (v.parent >= 0 && hide.has(v.parent)) { hide.add(v.i); continue; }
        const mine = drawnCalls.filter((c) => c.vertex === v.i);
        if (v.n > 1 && state.open.has(v.i)) {
          // Each by itself, with what is below it.
          const below = (c, depth) => {
            lanes.push({ v: vs[c.vertex], calls: [c], depth, opened: c.vertex === v.i && c === mine[0] });
            c.children.filter((k) => k.vertex !== undefined).sort((a, b) => a.start - b.start).forEach((k) => below(k, depth + 1));
          };
          mine.sort((a, b) => a.start - b.start).forEach((c) => below(c, v.depth));
          hide.add(v.i);
        } else lanes.push({ v, calls: mine, depth: v.depth });
      }
      const overlay = [];
      lanes.forEach((lane, i) => lane.calls.forEach((c) => { c.lane = i; }));
      // Where the walk goes from one lane to another.
      const pieces = drawnCalls.filter((c) => c.lane !== undefined).flatMap((c) => c.pieces.map((p) => [p[0], p[1], c.lane])).sort((a, b) => a[0] - b[0]);
      pieces.forEach((p, i) => {
        if (i && pieces[i - 1][2] !== p[2]) overlay.push({ x: p[0], from: pieces[i - 1][2], to: p[2] });
      });
      const links = lanes.map(() => []);
      for (const o of overlay)
        for (let k = Math.min(o.from, o.to); k <= Math.max(o.from, o.to); k++)
          links[k].push([o.x, k === Math.min(o.from, o.to) ? 13 : -1, k === Math.max(o.from, o.to) ? 13 : 27]);
      const marks = ticks(0, end, narrow.matches ? 2 : 5).filter((t) => t <= end);

      const laneOf = (lane, i) => {
        const { v } = lane;
        const chart = svg('svg', { 'aria-hidden': 'true', 'data-vertex': v.i });
        for (const t of marks) chart.append(svg('line', { class: 'tick', x1: percent(t), x2: percent(t), y1: 0, y2: 26 }));
        for (const c of lane.calls) {
          const s = c.callerShift;
          if (c.queued > 0) chart.append(svg('rect', { class: 'queue', x: percent(Math.max(c.start + s - c.queued, 0)), width: percent(Math.min(c.queued, Math.max(c.start + s, 0))), y: 9, height: 8 },
            svg('title', null, `${names[v.node]}: ${duration(c.queued)} in a queue before`)));
          const bar = svg('rect', { class: 'wait', x: percent(c.start + s), width: percent(Math.max(c.end - c.start, end / 2000)), y: 7, height: 12, rx: 1.5, 'data-place': c.place });
          bar.append(svg('title', null, sample
            ? `${names[v.node]}: from ${duration(c.start + s)} to ${duration(c.end + s)}, latency ${duration(c.end - c.start)}, ${ownTime} ${duration(c.own)}` + (c.waited > 0 ? `, of it ${duration(c.waited)} queued for a worker` : '') + (c.candidates > 1 ? `; one of ${c.candidates} possible parents${withProbability(c.probability)}` : '') + c.wayTimes.map(([cause, t]) => `; ${data.causes[cause][0]} ${duration(t)} on the way`).join('')
            : `${names[v.node]}: begins after ${duration(c.start)}, latency ${duration(c.end - c.start)} (p10 ${duration(c.p10)}, p90 ${duration(c.p90)})`));
          chart.append(bar);
        }
        for (const c of lane.calls)
          for (const [from, to] of c.ways)
            chart.append(svg('rect', { class: 'way', x: percent(from), width: percent(to - from), y: 7, height: 12, 'data-place': c.place, 'pointer-events': 'none' }));
        for (const c of lane.calls)
          for (const [from, to, waits] of piecesOf(c))
            chart.append(svg('rect', { class: waits ? 'own waiting' : 'own', x: percent(from), width: percent(to - from), y: 7, height: 12, 'data-place': c.place, 'pointer-events': 'none' }));
        if (!sample)
          for (const c of lane.calls) {
            const [a, b] = [percent(c.start + c.p10), percent(c.start + c.p90)];
            chart.append(svg('line', { class: 'whisker', x1: a, x2: b, y1: 13, y2: 13, 'data-place': c.place }),
              svg('line', { class: 'whisker', x1: a, x2: a, y1: 10, y2: 16 }), svg('line', { class: 'whisker', x1: b, x2: b, y1: 10, y2: 16 }));
          }
        for (const [x, y1, y2] of links[i]) chart.append(svg('line', { class: 'critical', x1: percent(x), x2: percent(x), y1, y2 }));
        const latency = lane.calls.length === 1 ? lane.calls[0].end - lane.calls[0].start : sample ? lane.calls.reduce((x, c) => Math.max(x, c.end - c.start), 0) : mean(v.latency);
        const own = lane.calls.reduce((x, c) => x + c.own, 0);
        const name = el('span', { class: 'call' });
        name.style.paddingLeft = `${Math.min(lane.depth, 12) * 13}px`;
        const repeated = v.n > 1 && (lane.calls.length > 1 || lane.opened || !state.open.has(v.i));
        if (repeated)
          name.append(el('button', { type: 'button', class: 'twist', 'data-focus': `twist-${v.i}`, 'aria-expanded': String(state.open.has(v.i)), 'aria-label': `Each of ${v.n} calls to ${names[v.node]}`,
            onclick: () => { if (state.open.has(v.i)) state.open.delete(v.i); else state.open.add(v.i); redraw(v.i); } }, state.open.has(v.i) ? '\u25be' : '\u25b8'));
        name.append(el('button', { type: 'button', class: `plain ${v === slowest ? 'hot' : ''}`, 'data-focus': `lane-${i}`, 'data-vertex': v.i, onclick: () => pick(v) }, names[v.node] + v.mark));
        if (v.operation) name.append(el('span', { class: 'operation' }, ' ' + v.operation));
        if (lane.calls.length > 1) name.append(el('span', { class: 'times' }, ` \u00d7${lane.calls.length}`));
        if (v.parallel) name.append(el('span', { class: 'parallel', title: 'open at the same time as another call of its caller' }, '\u2225', el('span', { class: 'hidden' }, ' parallel')));
        return el('div', { class: `lane ${v === chosen ? 'chosen' : ''}`, role: 'row' },
          el('div', { class: 'c', role: 'cell', title: names[v.node] }, name),
          el('div', { class: 'c number', role: 'cell' }, duration(latency)),
          el('div', { class: 'c number p99', role: 'cell' }, sample ? (lane.calls.length === 1 ? probability(lane.calls[0].probability) : '') : v.latency.length ? duration(v.latency[5]) : duration(0)),
          el('div', { class: 'c number', role: 'cell' }, duration(own)),
          el('div', { class: 'c chart', role: 'cell' }, chart));
      };

      const axis = svg('svg', { 'aria-hidden': 'true', class: 'axis-row' });
      marks.forEach((t) => {
        const last = t > end * 0.93;
        axis.append(svg('line', { class: 'tick', x1: percent(t), x2: percent(t), y1: 18, y2: 26 }),
          svg('text', { class: 'axis', x: percent(t), y: 14, 'text-anchor': t === 0 ? 'start' : last ? 'end' : 'middle' }, tickLabel(t)));
      });
      const key = (cls, text, y) => el('span', null, svg('svg', { width: 18, height: 12, 'aria-hidden': 'true' },
        cls === 'whisker' ? [svg('line', { class: cls, x1: 1, x2: 17, y1: 6, y2: 6 }), svg('line', { class: cls, x1: 1, x2: 1, y1: 3, y2: 9 }), svg('line', { class: cls, x1: 17, x2: 17, y1: 3, y2: 9 })]
          : cls === 'critical' ? svg('line', { class: cls, x1: 9, x2: 9, y1: 0, y2: 12 }) : svg('rect', { class: cls, x: 1, y: 1, width: 16, height: 10 })), text);
      const queues = drawnCalls.some((c) => c.queued > 0);
      return [
        el('div', { class: 'timeline' }, el('div', { class: 'lanes', role: 'table', 'aria-label': 'Calls of the path' },
          el('div', { class: 'lane head', role: 'row' }, el('div', { class: 'c', role: 'columnheader' }, linear ? 'Node' : 'Call'), el('div', { class: 'c number', role: 'columnheader' }, linear ? 'To end' : 'Latency'),
            el('div', { class: 'c number p99', role: 'columnheader' }, sample ? 'Prob.' : 'p99'), el('div', { class: 'c number', role: 'columnheader' }, linear ? 'Stay' : 'Own'),
            el('div', { class: 'c chart', role: 'columnheader' }, el('span', { class: 'hidden' }, 'Time'), axis)),
          lanes.map(laneOf))),
        el('div', { class: 'legend' }, key('wait', linear ? 'the path goes on' : 'waiting for calls below, or not waited for'), key('own', linear ? 'stay' : 'own time: on the critical path'), drawnCalls.some((c) => c.waited > 0) && key('own waiting', 'of it queued for a worker'), drawnCalls.some((c) => c.ways.length) && key('way', 'its bytes on the way'), queues && key('queue', 'in a queue before'), key('critical', linear ? 'a message goes on' : 'the critical path goes on elsewhere'),
          !sample && key('whisker', 'p10 to p90 of the latency')),
      ];
    }

    function drawTimeline(context) {
      const { row, detail } = context;
      const available = (k) => detail.sample[SAMPLES.indexOf(k)] >= 0;
      if (state.sample !== 'mean' && !available(state.sample)) state.sample = 'mean';
      const { sample, calls } = timelineCalls(context);
      const choices = [['mean', `Mean of ${count(row.count)}`, 'All paths of the pattern, in the mean'],
        ...SAMPLES.map((k) => {
          const s = available(k) ? detail.samples[detail.sample[SAMPLES.indexOf(k)]] : null;
          // Of the other two the figure is the distribution's; one path has another.
          const exact = s && (k === 'fastest' || k === 'slowest') ? ` ${duration(s.latency)}` : '';
          return [k, (k === 'p99' ? 'At p99' : k[0].toUpperCase() + k.slice(1)) + exact, s ? `The ${k} path, a real one` : `Not in this page; ${aStore} has it`, !s];
        })];
      return el('section', { class: 'panel', 'aria-label': 'Timeline', id: 'timeline' },
        el('div', { class: 'bar-row' }, el('h2', null, 'Timeline'),
          detail.samples.length > 0 && segments('Which path', choices, state.sample, (k) => { state.sample = k; showPattern(); writeFragment(); focusOn(pattern, `[data-value="${k}"]`); }),
          sample && el('span', { class: 'quiet' }, `request ${sample.path}, ${duration(sample.latency)}, begun ${utc(sample.start)}${withProbability(sample.probability)}`)),
        drawLanes({ ...context, calls, sample }));
    }

    // --- one node ---

    function chartAxis(low0, high0, width, left, right) {
      const [a, b] = [Math.log(low0), Math.log(high0)];
      return (ns) => left + (width - left - right) * (Math.log(Math.max(ns, 1)) - a) / (b - a || 1);
    }

    function drawDistribution(s, others, width, label) {
      const H = 200, LEFT = 8, RIGHT = 44, TOP = 14, BOTTOM = 22;
      const d = parseDistribution(s[8]);
      const list = edges(d);
      const all = others.map((o) => edges(parseDistribution(o[8])));
      // As wide as this one needs: the table beside it has all on one scale.
      let lo = Math.max(list[0][0], 1), hi = Math.max(list[list.length - 1][1], lo * 1.02);
      const room = Math.max((hi / lo) ** 0.06, 1.01);
      lo /= room;
      hi *= room;
      const x = chartAxis(lo, hi, width, LEFT, RIGHT);
      const y = (part) => TOP + (H - TOP - BOTTOM) * (1 - part);
      const total = list.reduce((n, e) => n + e[2], 0);
      const most = Math.max(...list.map((e) => e[2]));
      const out = svg('svg', { viewBox: `0 0 ${width} ${H}`, role: 'img', 'aria-label': label });
      for (const t of logTicks(lo, hi, Math.max(3, Math.floor(width / 90)))) {
        if (x(t) > width - RIGHT + 1) continue;
        out.append(svg('line', { class: 'tick', x1: x(t), x2: x(t), y1: TOP, y2: H - BOTTOM }),
          svg('text', { class: 'axis', x: x(t), y: H - 7, 'text-anchor': x(t) < 24 ? 'start' : 'middle' }, tickLabel(t)));
      }
      for (const p of [0.5, 0.9, 1]) out.append(svg('text', { class: 'axis', x: width - RIGHT + 6, y: y(p) + 4 }, `${p * 100}${NBSP}%`),
        svg('line', { class: 'tick', x1: LEFT, x2: width - RIGHT, y1: y(p), y2: y(p) }));
      for (const [from, to, n] of list) {
        const bar = svg('rect', { class: 'hist', x: x(from).toFixed(2), width: Math.max(x(to) - x(from) - 0.5, 0.75).toFixed(2), y: y(n / most).toFixed(2), height: (y(0) - y(n / most)).toFixed(2), 'data-count': n });
        bar.append(svg('title', null, `${duration(from)} to ${duration(to)}: ${count(n)} of ${count(total)}`));
        out.append(bar);
      }
      const curve = (e, cls) => {
        const sum = e.reduce((n, b) => n + b[2], 0);
        let below = 0;
        let path = `M${x(e[0][0]).toFixed(1)} ${y(0)}`;
        for (const b of e) { path += `L${x(b[0]).toFixed(1)} ${y(below / sum).toFixed(1)}`; below += b[2]; path += `L${x(b[1]).toFixed(1)} ${y(below / sum).toFixed(1)}`; }
        return svg('path', { class: cls, d: path });
      };
      const clip = svg('clipPath', { id: 'inside' }, svg('rect', { x: LEFT, y: 0, width: width - LEFT - RIGHT, height: H }));
      const rest = svg('g', { 'clip-path': 'url(#inside)' }, all.map((o) => curve(o, 'cdf other')));
      out.append(clip, rest);
      out.append(curve(list, 'cdf'), svg('path', { class: 'frame', d: `M${LEFT} ${y(0)}H${width - RIGHT}` }));
      return out;
    }

    function drawNode({ row, vs, chosen }) {
      const metrics = METRICS.filter(([key]) => vs.some((v) => v[key].length));
      const metric = chosen[state.metric].length ? state.metric : 'latency';
      const at = METRICS.find(([key]) => key === metric);
      const s = chosen[metric];
      // The same node elsewhere.
      const others = [];
      data.details.forEach((d, i) => {
        if (i === row.i) return;
        d.vertices.forEach((v) => { if (v[1] === chosen.node && v[at[2]].length) others.push({ row: rows[i], s: v[at[2]], n: v[2].length }); });
      });
      const besides = firstOf(others, 8);
      const name = names[chosen.node];
      const axisLow = Math.max(1, Math.min(s.length ? s[6] : 1e18, ...besides.map((o) => o.s[6])));
      const axisHigh = Math.max(axisLow * 1.2, s.length ? s[7] : 0, ...besides.map((o) => o.s[7]));
      const line = (text, stats, n, cls, choosing) => el('tr', { class: cls },
        el('td', { class: 'name', title: text }, choosing ? el('button', { type: 'button', class: 'plain', onclick: choosing }, cut(text)) : text),
        el('td', { class: 'number' }, count(n)), el('td', { class: 'number' }, duration(stats[0])), el('td', { class: 'number' }, duration(stats[3])), el('td', { class: 'number' }, duration(stats[5])),
        el('td', null, spark(parseDistribution(stats[8]), axisLow, axisHigh, 116, 18)));
      return el('section', { class: 'panel', 'aria-label': 'The chosen node', id: 'node', 'data-vertex': chosen.i },
        el('div', { class: 'bar-row' }, el('h2', { id: 'node-name' }, name + (chosen.n > 1 ? ` \u00d7${chosen.n}` : ''), chosen.operation && el('span', { class: 'hint' }, chosen.operation)),
          segments('Which delay', metrics.map(([key, text]) => [key, text, null, !chosen[key].length]), metric, (k) => { state.metric = k; showPattern(); writeFragment(); focusOn(pattern, `[data-value="${k}"]`); }),
          s.length ? el('span', { class: 'quiet' }, `mean ${duration(s[0])}, p50 ${duration(s[3])}, p90 ${duration(s[4])}, p99 ${duration(s[5])}, max ${duration(s[7])}`) : null),
        s.length ? el('div', { class: 'two wide-left' },
          el('div', null, drawn(el('div', { class: 'chart-box', id: 'distribution' }), (width) => drawDistribution(s, besides.map((o) => o.s), width,
            `Distribution of the ${at[1].toLowerCase()} of ${name}: median ${duration(s[3])}, 99 of 100 at most ${duration(s[5])}`)),
          el('div', { class: 'legend' }, 'Bars: how many calls. Orange line: the share of calls that took at most so long. Grey lines: the same node in other patterns.')),
          el('div', null, el('h3', null, 'In this pattern and beside it in others'),
            cards({ id: 'beside' }, el('thead', null, el('tr', null, el('th', null, 'Pattern'), el('th', { class: 'number' }, 'Calls'), el('th', { class: 'number' }, 'Mean'), el('th', { class: 'number' }, 'p50'), el('th', { class: 'number' }, 'p99'),
              el('th', null, el('span', { class: 'hidden' }, 'Distribution')))),
            el('tbody', null, line('this one', s, row.count * chosen.n, 'chosen'),
              besides.map((o) => line(`${o.row.i + 1}. ${titleOf(o.row)}`, o.s, o.row.count * o.n, null, () => { choose(o.row); reveal(pattern); })))),
            others.length > besides.length && el('p', { class: 'quiet' }, `${others.length - besides.length} more places in patterns with less latency in all.`)))
          : el('p', { class: 'quiet' }, 'Always 0.'));
    }

    // --- over time ---

    const octaves = heat.map((h) => h[1]);
    const [firstOctave, lastOctave] = [Math.min(...octaves), Math.max(...octaves)];
    const mostHeat = Math.max(...heat.map((h) => h[2]));
    const ofLatency = (ns) => (Math.log2(ns) - firstOctave) / (lastOctave + 1 - firstOctave);
    // Requests by time and latency, and pauses. x, y: of a bucket, and of a latency.
    function drawHeat(out, x, y, w) {
      const columns = Math.ceil(3 / w); // buckets that share one
      const cells = new Map();
      for (const [bucket, octave, n] of heat) {
        const at = bucket - bucket % columns;
        const cell = cells.get(`${at} ${octave}`) || { at, octave, n: 0 };
        cell.n += n;
        cells.set(`${at} ${octave}`, cell);
      }
      const most = columns > 1 ? Math.max(...[...cells.values()].map((c) => c.n)) : mostHeat;
      for (const { at, octave, n } of cells.values()) {
        const to = Math.min(at + columns, data.nBuckets);
        const cell = svg('rect', { class: 'heat', 'data-from': at, 'data-to': to - 1, 'data-octave': octave, 'data-count': n, x: x(at).toFixed(2), width: (x(to) - x(at)).toFixed(2), y: y(2 ** (octave + 1)).toFixed(2), height: (y(2 ** octave) - y(2 ** (octave + 1))).toFixed(2) },
          svg('title', null, `${endOfBrush(at)} to ${endOfBrush(to)}, ${octaveWords(octave)}: ${plural(n, 'path')}`));
        cell.style.fill = `color-mix(in srgb, var(--cold) ${Math.round(16 + 84 * Math.log(1 + n) / Math.log(1 + most))}%, var(--panel))`;
        out.append(cell);
      }
      const end = bucketLength() * data.nBuckets;
      const base = y(2 ** firstOctave);
      for (const [text, , , times] of data.pauses)
        for (const [from, to] of pairsOf(times)) {
          const [left, right] = [from, to].map((t) => x(data.nBuckets * Math.min(Math.max(t / end, 0), 1)));
          out.append(svg('g', { class: 'pause' }, svg('title', null, `${begunAt(from)}, for ${duration(to - from)}: ${visible(text)}`),
            svg('rect', { x: left, width: Math.max(right - left, 1), y: y(2 ** (lastOctave + 1)), height: base - y(2 ** (lastOctave + 1)) }),
            svg('path', { d: `M${(left + right) / 2 - 4} 1h8l-4 7z` })));
        }
    }

    function drawOverTime(buckets, width, what, medians) {
      const LEFT = 62, RIGHT = 10, H1 = 120, H2 = 54, TOP = 10, GAP = 16, BOTTOM = 22;
      const height = TOP + H1 + GAP + H2 + BOTTOM;
      const filled = buckets.map((b) => (typeof b[0] === 'number' ? b : null)).filter((b) => b && b[1] > 0);
      const out = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: requests.length ? 'group' : 'img' });
      if (!filled.length) return out;
      const length = Math.max(1, Number(BigInt(data.lastStart) - BigInt(data.firstStart)));
      const perBucket = length / data.nBuckets;
      const w = (width - LEFT - RIGHT) / data.nBuckets;
      const x = (i) => LEFT + i * w;
      const most = Math.max(...filled.map((b) => b[3]));
      const top = ticks(0, most, 3).slice(-1)[0] < most ? ticks(0, most, 3).slice(-1)[0] + (ticks(0, most, 3)[1] || most) : most;
      const y = (ns) => TOP + H1 * (1 - (medians ? ns / top : ofLatency(ns)));
      const busiest = Math.max(...filled.map((b) => b[1]));
      const base = TOP + H1 + GAP + H2;
      out.setAttribute('aria-label', `Latency and rate of ${what} over time: at most ${duration(most)}, at most ${count(busiest)} paths in ${span(perBucket)}`);
      for (const t of medians ? ticks(0, top, 3) : logTicks(2 ** firstOctave, 2 ** (lastOctave + 1), 5)) out.append(svg('line', { class: 'tick', x1: LEFT, x2: width - RIGHT, y1: y(t), y2: y(t) }), svg('text', { class: 'axis', x: LEFT - 8, y: y(t) + 4, 'text-anchor': 'end' }, tickLabel(t)));
      const rate = busiest / (perBucket / 1e9);
      out.append(svg('text', { class: 'axis', x: LEFT - 8, y: base - H2 + 8, 'text-anchor': 'end' }, rateText(rate)),
        svg('text', { class: 'axis', x: LEFT - 8, y: base, 'text-anchor': 'end' }, '0'),
        svg('line', { class: 'tick', x1: LEFT, x2: width - RIGHT, y1: base - H2, y2: base - H2 }));
      const marks = svg('g');
      for (const [i, n, middle, peak] of filled) {
        const g = svg('g', { 'data-bucket': i }, svg('title', null, `${span(perBucket * i)} after the start, for ${span(perBucket)}: ${plural(n, 'path')}, ${medians ? `median ${duration(middle)}, ` : ''}slowest ${duration(peak)}`));
        g.append(svg('rect', { x: x(i), y: TOP, width: w, height: base - TOP, fill: 'transparent' }));
        if (medians) g.append(svg('line', { class: 'peak', x1: x(i) + w / 2, x2: x(i) + w / 2, y1: y(peak), y2: y(middle) }),
          svg('rect', { class: 'dot', x: x(i), width: Math.max(w, 1.5), y: y(middle) - 1, height: 2 }));
        g.append(svg('rect', { class: 'rate', x: x(i), width: Math.max(w - 0.5, 0.75), y: base - H2 * n / busiest, height: H2 * n / busiest }));
        marks.append(g);
      }
      out.append(marks);
      if (!medians) drawHeat(out, x, y, w);
      for (const t of ticks(0, length, Math.max(2, Math.floor(width / 110)))) {
        const at = LEFT + (width - LEFT - RIGHT) * t / length;
        if (at > width - RIGHT + 1) continue;
        out.append(svg('line', { class: 'tick', x1: at, x2: at, y1: base, y2: base + 4 }), svg('text', { class: 'axis', x: at, y: base + 16, 'text-anchor': at < LEFT + 10 ? 'start' : at > width - 40 ? 'end' : 'middle' }, t === 0 ? 'start' : '+' + span(t)));
      }
      out.append(svg('path', { class: 'frame', d: `M${LEFT} ${TOP}V${TOP + H1}H${width - RIGHT}M${LEFT} ${base}H${width - RIGHT}` }),
        svg('text', { class: 'axis', x: LEFT + 4, y: TOP + 8 }, medians ? 'latency: median, and up to the peak' : ''),
        svg('text', { class: 'axis', x: LEFT + 4, y: base - H2 - 3 }, `paths, in ${span(perBucket)} each`));
      if (requests.length) addBrush(out, { x, width: w, top: TOP, bottom: base, scale: width, rows: medians ? null : (o) => [y(2 ** (o + 1)), y(2 ** o)] });
      return out;
    }

    // --- a stretch of time, chosen in either chart by mouse or by the keys of its two ends ---

    const brushes = new Set(); // what draws each anew
    const lastBucket = data.nBuckets - 1;
    const bucketOf = (q) => Math.floor(q.after * data.nBuckets / (Number(BigInt(data.lastStart) - BigInt(data.firstStart)) + 1));
    const bucketLength = () => Math.max(1, Number(BigInt(data.lastStart) - BigInt(data.firstStart))) / data.nBuckets;
    const endOfBrush = (i) => '+' + span(Math.round(bucketLength() * i));
    // from: null: of all times. octave, failure: null: of all.
    function setBrush(from, to, octave = null, failure = state.failure) {
      const ends = from === null ? null : [Math.max(0, Math.min(from, to)), Math.min(lastBucket, Math.max(from, to))];
      state.brush = ends && (ends[0] > 0 || ends[1] < lastBucket) ? ends : null;
      state.octave = octave;
      state.failure = failure;
      showChoice();
      writeFragment();
    }
    function showChoice() {
      for (const draw of [...brushes]) if (!draw()) brushes.delete(draw);
      fillSlowest();
      fillErrors();
      const words = [state.brush && `that began from ${endOfBrush(state.brush[0])} to ${endOfBrush(state.brush[1] + 1)}`, state.octave !== null && `that took ${octaveWords(state.octave)}`, state.failure !== null && `that failed by ${failures[state.failure].name}`].filter(Boolean);
      rangeBar.hidden = !words.length;
      if (words.length)
        set(rangeBar, el('strong', null, `Requests ${words.join(', ')}`), el('button', { type: 'button', class: 'copy no-print', id: 'clear-brush', onclick: () => { setBrush(null, null, null, null); focusOn(document, '.handle'); } }, 'Show all'),
          el('span', { class: 'quiet' }, `The slowest requests${state.brush && failures.length ? ' and the errors' : ''} follow; everything else is of all requests.`));
    }
    const rangeBar = el('div', { class: 'range', role: 'status', id: 'range', hidden: true });
    function addBrush(out, { x, width, top, bottom, scale, rows: rowOfOctave }) {
      const shade = svg('rect', { class: 'brush', 'pointer-events': 'none' });
      const ends = ['begins', 'ends'].map((word, k) => {
        const handle = svg('g', { class: 'handle', role: 'slider', tabindex: 0, 'aria-label': `The chosen time ${word}`, 'aria-valuemin': 0, 'aria-valuemax': data.nBuckets, 'data-end': word },
          svg('rect', { class: 'grip', x: -4, width: 8, y: top, height: bottom - top }), svg('path', { d: `M0 ${top}V${bottom}M-3 ${top + 48}h6v24h-6z` }));
        handle.addEventListener('keydown', (e) => {
          const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -1e6, End: 1e6 }[e.key];
          if (!by && e.key !== 'Escape') return;
          e.preventDefault();
          e.stopPropagation();
          if (!by) { setBrush(null, null); return; }
          const now = state.brush || [0, lastBucket];
          if (k === 0) setBrush(Math.min(Math.max(now[0] + by, 0), now[1]), now[1], state.octave);
          else setBrush(now[0], Math.max(Math.min(now[1] + by, lastBucket), now[0]), state.octave);
        });
        return handle;
      });
      const draw = () => {
        const [from, to] = state.brush || [0, lastBucket];
        shade.setAttribute('x', x(from));
        const row = rowOfOctave && state.octave !== null;
        const [above, below] = row ? rowOfOctave(state.octave) : [top, bottom];
        shade.setAttribute('y', above);
        shade.setAttribute('height', below - above);
        shade.setAttribute('width', state.brush || row ? x(to + 1) - x(from) : 0);
        ends.forEach((handle, k) => {
          const at = k ? to + 1 : from;
          handle.setAttribute('transform', `translate(${x(at)} 0)`);
          handle.setAttribute('aria-valuenow', at);
          handle.setAttribute('aria-valuetext', endOfBrush(at));
        });
        return out.isConnected;
      };
      const bucketAt = (e) => {
        const box = out.getBoundingClientRect();
        return Math.min(Math.max(Math.floor(((e.clientX - box.left) * scale / box.width - x(0)) / width), 0), lastBucket);
      };
      let from = null; // where it was pressed, and whether it has moved
      let moved = false;
      let cell = null;
      out.addEventListener('pointerdown', (e) => {
        if (e.button !== 0) return;
        cell = e.target.dataset.octave ? e.target.dataset : null;
        const end = e.target.closest && e.target.closest('.handle');
        const now = state.brush || [0, lastBucket];
        from = end ? (end === ends[0] ? now[1] : now[0]) : bucketAt(e);
        moved = Boolean(end);
        out.setPointerCapture(e.pointerId);
      });
      out.addEventListener('pointermove', (e) => {
        if (from === null || (!moved && bucketAt(e) === from)) return;
        moved = true;
        setBrush(from, bucketAt(e));
      });
      out.addEventListener('pointerup', () => {
        if (from !== null && !moved) {
          if (cell) { setBrush(Number(cell.from), Number(cell.to), Number(cell.octave)); reveal(slowestPanel); } else setBrush(null, null);
        }
        from = null;
      });
      out.addEventListener('pointercancel', () => { from = null; });
      out.classList.add('brushed');
      out.append(shade, ...ends);
      draw();
      brushes.add(draw);
    }

    // --- the slowest requests ---

    const SHOWN = 10;
    let allShown = false;
    const slowestPanel = el('section', { class: 'panel', 'aria-label': 'Slowest requests', id: 'slowest' });
    const requestPanel = el('section', { id: 'request', 'aria-label': 'The chosen request' });
    const slowestBody = el('tbody');
    const slowestStatus = el('span', { class: 'quiet', role: 'status', id: 'slowest-status' });
    const slowestMore = el('div', { class: 'no-print' });
    const latencies = el('select', { id: 'octave', 'aria-label': 'Latency', onchange: () => setBrush(...(state.brush || [null, null]), latencies.value === '' ? null : Number(latencies.value)) },
      el('option', { value: '' }, 'any latency'), [...new Set(octaves)].sort((a, b) => b - a).map((o) => el('option', { value: o }, octaveWords(o))));
    const inRange = (bucket) => !state.brush || (bucket >= state.brush[0] && bucket <= state.brush[1]);
    const sumInRange = (list) => list.reduce((sum, [bucket, n]) => sum + (inRange(bucket) ? n : 0), 0);

    // As Wireshark asks for the packets of its calls; '' where their ids or the calls are not here.
    function displayFilter(q) {
      if (!q.calls.length || q.calls.some((c) => !c[11])) return '';
      const start = BigInt(data.firstStart) + BigInt(q.after);
      const seconds = (after) => {
        const t = start + BigInt(after);
        const whole = t / 1000000000n - (t % 1000000000n < 0n ? 1n : 0n);
        return `${whole}.${String(t - whole * 1000000000n).padStart(9, '0')}`;
      };
      return q.calls.map((c) => `((tcp.port == ${c[11]} || udp.port == ${c[11]}) && frame.time_epoch >= ${seconds(Math.min(c[2], c[3]))} && frame.time_epoch <= ${seconds(Math.max(c[4], c[5]))})`).join(' || ');
    }
    const copied = el('span', { class: 'hidden', role: 'status', id: 'copied' });
    async function copy(text, button) {
      let done = true;
      try { await navigator.clipboard.writeText(text); } catch (e) {
        const area = el('textarea', { class: 'hidden', 'aria-hidden': 'true' });
        area.value = text;
        document.body.append(area);
        area.select();
        done = document.execCommand('copy');
        area.remove();
        button.focus({ preventScroll: true });
      }
      const words = done ? 'Copied' : 'Not copied';
      copied.textContent = words;
      const before = button.dataset.text || (button.dataset.text = button.textContent);
      button.textContent = words;
      setTimeout(() => { button.textContent = before; copied.textContent = ''; }, 1500);
    }
    function copyButton(q, text) {
      const filter = displayFilter(q);
      return filter && el('button', { type: 'button', class: 'copy no-print', 'aria-label': `${text}: copy the Wireshark display filter of request ${q.id}`, title: 'Copies the display filter that finds its packets in Wireshark', onclick: (e) => { e.stopPropagation(); copy(filter, e.currentTarget); } }, text);
    }

    const unusualWords = (u) => [/[!*]$/.test(u.where) ? u.where : u.where.split(' / ').includes(u.node) || !u.node || u.where.split(' / ').pop().split('|').includes(u.node) ? u.node || u.where : u.where, el('span', { class: 'slower' }, ` ${signed(u.own - u.usual)}`)];
    const begunAt = (after) => '+' + (after < 120e9 ? duration(after) : span(after));
    const begun = (q) => begunAt(q.after);
    function slowestRow(q) {
      return el('tr', { class: q.id === state.request ? 'chosen' : null, 'data-request': q.id },
        el('td', null, el('button', { type: 'button', class: 'plain mono', 'aria-pressed': String(q.id === state.request), title: 'Shows its calls', onclick: () => openRequest(q) }, q.id)),
        el('td', { class: 'number' }, begun(q)), labelled && el('td', { class: 'operation' }, q.label),
        el('td', { class: 'number' }, duration(q.time)), el('td', { class: 'number' }, duration(q.usual)),
        el('td', { class: 'unusual' }, q.unusual.length && q.unusual[0].own > q.unusual[0].usual ? unusualWords(q.unusual[0]) : '\u2013'),
        el('td', { class: 'number' }, probability(q.probability)),
        el('td', { class: 'number' }, q.row ? el('button', { type: 'button', class: 'plain', title: labelOf(q.row), onclick: () => { choose(q.row); scrollToChosen(); reveal(pattern); } }, ranks.get(q.row.id)) : '\u2013'),
        el('td', { class: 'number' }, copyButton(q, 'Filter') || ''));
    }
    function fillSlowest() {
      const inside = requests.filter((q) => inRange(bucketOf(q)) && (state.octave === null || q.octave === state.octave) && (state.failure === null || q.failure === state.failure));
      // Of a failure and a latency together, only those here are known.
      const began = state.failure === null ? sumInRange(heat.filter((h) => state.octave === null || h[1] === state.octave).map(([bucket, , n]) => [bucket, n]))
        : state.octave === null ? sumInRange(failures[state.failure].at) : inside.length;
      latencies.value = state.octave === null ? '' : state.octave;
      const list = allShown ? inside : firstOf(inside, SHOWN);
      const focused = slowestBody.contains(document.activeElement) ? document.activeElement.closest('tr').dataset.request : null;
      slowestBody.replaceChildren(...(list.length ? list.map(slowestRow) : [el('tr', null, el('td', { colspan: labelled ? 9 : 8 }, 'None of these requests is in this page.'))]));
      if (focused) focusOn(slowestBody, `[data-request="${focused}"] button`);
      slowestStatus.textContent = (state.brush ? `from ${endOfBrush(state.brush[0])} to ${endOfBrush(state.brush[1] + 1)}: ` : '') +
        (inside.length < began ? `${count(inside.length)} of ${count(began)}, the slowest first` : plural(began, 'request'));
      set(slowestMore, inside.length > SHOWN + 1 && el('button', { type: 'button', class: 'plain quiet', 'aria-expanded': String(allShown), onclick: () => { allShown = !allShown; fillSlowest(); slowestMore.firstChild.focus({ preventScroll: true }); } },
        allShown ? 'Show fewer' : `Show all ${count(inside.length)}`));
    }
    slowestBody.addEventListener('keydown', (e) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (!by) return;
      const all = [...slowestBody.rows];
      const to = all[all.indexOf(e.target.closest('tr')) + by];
      if (to && to.querySelector('button')) { e.preventDefault(); to.querySelector('button').focus(); }
    });
    function drawSlowest() {
      const head = ['Request', 'Began', ...(labelled ? ['Operation'] : []), data.goesOn ? 'Time' : 'Latency', 'Usual', 'Most unusual', 'Prob.', 'Pattern', 'Wireshark'];
      const numbers = ['Began', 'Time', 'Latency', 'Usual', 'Prob.', 'Pattern', 'Wireshark'];
      set(slowestPanel, el('div', { class: 'bar-row' }, el('h2', null, 'Slowest requests'), slowestStatus, latencies,
        el('span', { class: 'hint' }, 'usual: the median of the same operation; most unusual: where it spent most more than usual')),
      el('div', { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'Slowest requests' },
        cards({ id: 'slowest-list' }, el('thead', null, el('tr', null, head.map((h) => el('th', { class: numbers.includes(h) ? 'number' : null }, h)))), slowestBody)), slowestMore);
      return slowestPanel;
    }

    // --- errors: the culprits of failed requests ---

    const failures = data.failures.map(([where, outcome, label, n, first, at], i) => ({ i, where: visible(where), name: visible(`${where} ${outcome}`), outcome: visible(outcome), label: visible(label), n, first, at: pairsOf(at) }));
    const errorsBody = el('tbody');
    const errorsPanel = el('section', { class: 'panel', 'aria-label': 'Errors', id: 'errors' });
    function fillErrors() {
      const all = sumInRange(heat.map(([bucket, , n]) => [bucket, n]));
      const focused = errorsBody.contains(document.activeElement) ? document.activeElement.closest('tr').dataset.failure : null;
      set(errorsBody, failures.map((f) => ({ ...f, n: sumInRange(f.at) })).filter((f) => f.n).map((f) => el('tr', { class: f.i === state.failure ? 'chosen' : null, 'data-failure': f.i },
        el('td', { class: 'name', title: f.where }, el('button', { type: 'button', class: 'plain', 'aria-pressed': String(f.i === state.failure), title: 'Shows these requests', onclick: () => chooseFailure(f.i) }, cut(f.where))),
        el('td', null, f.outcome), el('td', null, f.label), number(count(f.n)), number(share(f.n, all)), number(f.first))));
      if (!errorsBody.rows.length) set(errorsBody, el('tr', null, el('td', { colspan: 6 }, 'No request that began then failed.')));
      if (focused) focusOn(errorsBody, `[data-failure="${focused}"] button`);
    }
    function chooseFailure(i) {
      const off = state.failure === i;
      setBrush(...(state.brush || [null, null]), null, off ? null : i);
      if (!off) reveal(slowestPanel);
    }
    function drawErrors() {
      const [failed, good] = data.failedTimes;
      return set(errorsPanel, el('h2', null, 'Errors', el('span', { class: 'hint' }, `${plural(data.failedRequests, 'request')} failed, p50 ${duration(failed)}; of the others ${duration(good)}. The culprit: the call where the error began`)),
        region('Errors', cards({ id: 'error-list' }, el('thead', null, el('tr', null, ['Culprit', 'Outcome', 'Operation'].map((h) => el('th', null, h)), ['Requests', 'Of all', 'First in'].map((h) => el('th', { class: 'number' }, h)))), errorsBody)),
        data.moreFailures > 0 && el('p', { class: 'quiet' }, `${plural(data.moreFailures, 'more culprit')} with fewer requests.`),
        data.retries.map(([text, label, n, vain, first]) => el('p', { class: 'quiet' }, visible(`Tried again: ${text}${label ? ` (${label})` : ''}, ${plural(n, 'time')}${vain ? `, ${count(vain)} in vain` : ''}, first in request ${first}.`))));
    }

    function openRequest(q) {
      state.request = state.request === q.id ? null : q.id;
      state.call = 0;
      fillSlowest();
      showRequest();
      if (state.request !== null) reveal(requestPanel);
      writeFragment();
    }
    // Its calls as if they were a pattern's, each a vertex of its own.
    function requestVertices(q) {
      const vs = q.calls.map((c, i) => ({ i, parent: c[1], node: c[0], places: [i], n: 1, ways: [], ...tailOf(c, 12), operation: c[10] < 0 ? '' : visible(data.labels[c[10]]), depth: 0, parallel: false, own: c[6] }));
      vs.forEach((v) => { v.depth = v.parent < 0 ? 0 : vs[v.parent].depth + 1; });
      return vs;
    }
    function drawRequest(q) {
      const vs = requestVertices(q);
      const redraw = () => {
        const name = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.focus : null;
        showRequest();
        if (name) focusOn(requestPanel, `[data-focus="${name}"]`);
      };
      return drawLanes({ vs, sample: q, chosen: vs[state.call] || vs[0], slowest: vs.reduce((a, b) => (b.own > a.own ? b : a)), redraw, pick: (v) => { state.call = v.i; redraw(); },
        calls: exactPieces(q.calls.map((c, i) => ({ place: i, vertex: i, parent: c[1], start: c[2], enter: c[3], reply: c[4], end: c[5], stored: c[6], probability: c[8], candidates: c[9], label: c[10], ...tailOf(c, 12) }))) });
    }
    // The other requests that were in the node where it spent most, when it came there.
    function drawBeside(q) {
      if (!q.moment) return null;
      const [call, others, ...list] = q.moment;
      const node = names[q.calls[call][0]];
      const beside = list.filter((_, k) => k % 4 === 0).map((id, k) => ({ id, label: list[4 * k + 1] < 0 ? '' : visible(data.labels[list[4 * k + 1]]), since: list[4 * k + 2], more: list[4 * k + 3], request: requests.find((r) => r.id === id) }));
      return el('div', { id: 'beside-request' }, el('h3', null, `In ${node} when it came, at ${begunAt(q.after + q.calls[call][3])}`),
        el('p', { class: 'quiet' }, others ? `${plural(others, 'other request')}${others > beside.length ? `; the ${beside.length} that were there longest:` : ':'}` : 'No other request.'),
        beside.map((b) => el('p', null, b.request ? el('button', { type: 'button', class: 'plain mono', title: 'Shows its calls', onclick: () => openRequest(b.request) }, b.id) : el('span', { class: 'mono' }, b.id),
          ` ${b.label} `, el('span', { class: 'quiet' }, `since ${duration(b.since)}, for ${duration(b.more)} more`))));
    }
    function showRequest() {
      const q = requests.find((r) => r.id === state.request);
      if (!q) { requestPanel.replaceChildren(); return; }
      const start = String(BigInt(data.firstStart) + BigInt(q.after));
      const filter = displayFilter(q);
      set(requestPanel, el('section', { class: 'panel' },
        el('div', { class: 'bar-row' }, el('h2', { id: 'request-name' }, `Request ${q.id}`), q.label && el('span', { class: 'operation' }, q.label),
          el('span', { class: 'quiet' }, `${duration(q.time)}, usually ${duration(q.usual)}; begun ${utc(start)}, ${begun(q)} after the first${withProbability(q.probability)}`), el('span', { class: 'spring' }), copyButton(q, 'Copy Wireshark filter'),
          el('button', { type: 'button', class: 'plain quiet no-print', onclick: () => { openRequest(q); focusOn(slowestBody, `[data-request="${q.id}"] button`); } }, 'Close')),
        el('div', { class: 'two wide-left' },
          el('div', { id: 'request-tree' }, q.calls.length ? drawRequest(q) : el('p', null, `Its calls are not in this page: ravel why, of ${aStore}, shows what it spent.`)),
          el('div', null, el('h3', null, 'More than usual'), cards({ id: 'unusual' }, el('thead', null, el('tr', null, el('th', null, OwnTime + ' of'), el('th', { class: 'number' }, 'This'), el('th', { class: 'number' }, 'Usual'), el('th', { class: 'number' }, 'More'), el('th', { class: 'number' }, 'Calls'), el('th', { class: 'number' }, 'Others there'))),
            el('tbody', null, q.unusual.map((u) => el('tr', null, el('td', { class: 'name', title: u.where }, u.where, u.probability < 0.9 && fit && el('span', { class: 'doubt' }, ` (parent ${probability(u.probability)})`)), el('td', { class: 'number' }, duration(u.own)), el('td', { class: 'number' }, duration(u.usual)),
              el('td', { class: `number ${u.own > u.usual ? 'slower' : u.own < u.usual ? 'faster' : ''}` }, arrowed(u.own - u.usual)), el('td', { class: 'number' }, u.calls === u.usualCalls ? count(u.calls) : `${count(u.calls)}, usually ${count(u.usualCalls)}`), el('td', { class: 'number' }, u.load === u.usualLoad ? count(u.load) : `${count(u.load)}, usually ${count(u.usualLoad)}`))))), drawBeside(q))),
        filter && el('details', { class: 'made' }, el('summary', null, 'Wireshark display filter'), el('pre', { tabindex: 0, id: 'filter' }, filter))));
      drawBoxes();
    }

    // --- what makes latency vary, and how much nodes have to do ---

    const variancePanel = el('section', { class: 'panel', 'aria-label': 'What makes latency vary', id: 'variance' });
    function drawVariance() {
      const entries = data.variance;
      const e = entries[state.entry];
      const nameOf = (x) => visible(`${x.label ? x.label + ' ' : ''}${x.client}>${x.root}`);
      const KIND = [(w) => w, (w) => `${w} (in a queue before)`, (w) => w, () => 'network', () => 'elsewhere'];
      const choice = el('select', { id: 'entry', 'aria-label': 'Entry', onchange: () => { state.entry = choice.selectedIndex; drawVariance(); writeFragment(); document.getElementById('entry').focus({ preventScroll: true }); } },
        entries.map((x, i) => el('option', { selected: i === state.entry }, nameOf(x))));
      set(variancePanel, el('div', { class: 'bar-row' }, el('h2', null, 'What makes latency vary'), choice),
        el('p', { class: 'quiet' }, `${plural(e.count, 'request')}, mean ${duration(e.mean)}, deviation ${duration(e.deviation)}, p99 ${duration(e.p99)}. Half of the variance is in ${count(e.half)} of them.`),
        el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Shares of the variance' }, cards({ id: 'variance-list' },
          el('thead', null, el('tr', null, el('th', null, 'Where'), el('th', { class: 'number' }, 'Of the variance'), el('th', { class: 'number' }, '\u00b1'), el('th', { class: 'number' }, 'By which path'), el('th', { class: 'number' }, 'Of the mean'), el('th', { class: 'number' }, 'Of the tail'), el('th', { class: 'number' }, 'With load'))),
          el('tbody', null, e.rows.map((r) => {
            const where = visible(KIND[r[0]](r[1]));
            return el('tr', null, el('td', { class: 'name', title: where }, where, r[11] && el('span', { class: 'quiet' }, ` (${visible(r[11])} has ${percentage(r[12])})`)), el('td', { class: 'number' }, el('strong', null, percentage(r[3]))), el('td', { class: 'number' }, r[8] < 0 ? '' : percentage(r[8])), el('td', { class: 'number' }, percentage(r[5])),
              el('td', { class: 'number' }, percentage(r[6])), el('td', { class: 'number' }, percentage(r[7])), el('td', { class: 'number', title: r[9] > 0.02 ? `${duration(r[10])} for each other call there` : null }, r[9] > 0.02 ? percentage(r[9]) : ''));
          })))),
        el('p', { class: 'quiet' }, `Own time there: its part of the variance of the latency, of the mean, and of what the slowest hundredth takes longer than the middle. With load: how much of a call\u2019s own variance goes with how many others the node is serving.` +
          (data.varianceEntries > entries.length ? ` ${plural(data.varianceEntries - entries.length, 'more entry', 'more entries')} of ravel variance.` : '')));
      return variancePanel;
    }
    function drawLoads() {
      const list = data.loads.map((l, i) => ({ name: names[i], calls: l[0], queued: l[1], p50: l[2], p95: l[3], most: l[4], own: data.blame[i] ? data.blame[i][0] : 0 })).filter((l) => l.calls).sort((a, b) => b.own - a.own || b.queued - a.queued);
      const waits = list.some((l) => l.queued > 0);
      const workers = new Map(data.workers.map(([node, n, calls, served]) => [names[node], { n, busy: served / n / runTime, full: 1e9 * calls * n / served, calls }]));
      const ofWorkers = (l, text) => workers.size > 0 && el('td', { class: 'number' }, workers.has(l.name) ? text(workers.get(l.name)) : '');
      return el('section', { class: 'panel', 'aria-label': 'Load of nodes', id: 'loads' }, el('h2', null, 'Load', el('span', { class: 'hint' }, 'calls that a node is serving when one comes, itself among them')),
        region('Load of nodes', cards({ id: 'load-list' },
          el('thead', null, el('tr', null, el('th', null, 'Node'), el('th', { class: 'number' }, 'Calls'), el('th', { class: 'number' }, 'p50'), el('th', { class: 'number' }, 'p95'), el('th', { class: 'number' }, 'Most'), el('th', { class: 'number' }, waits ? 'Serving' : 'Own time each'), waits && el('th', { class: 'number' }, 'Queued'), workers.size > 0 && ['Workers', 'Busy', 'Now', 'Full at'].map((h) => el('th', { class: 'number' }, h)))),
          el('tbody', null, list.map((l) => el('tr', null, el('td', { class: 'name', title: l.name }, el('button', { type: 'button', class: 'plain', title: 'Search for it', onclick: () => goTo(l.name) }, l.name)),
            el('td', { class: 'number' }, count(l.calls)), el('td', { class: 'number' }, count(l.p50)), el('td', { class: 'number' }, count(l.p95)), el('td', { class: 'number' }, count(l.most)),
            el('td', { class: 'number' }, duration(l.own / l.calls)), waits && el('td', { class: 'number' }, l.queued ? duration(l.queued / l.calls) : ''),
            ofWorkers(l, (w) => count(w.n)), ofWorkers(l, (w) => `${Math.round(100 * w.busy)}${NBSP}%`), ofWorkers(l, (w) => perSecond(w.calls)), ofWorkers(l, (w) => rateText(w.full))))))),
        waits && el('p', { class: 'quiet' }, 'Serving, and queued before: the mean of a call.'));
    }

    // Calls a second, errors and durations, by edge.
    function drawEdges() {
      const list = data.calling.map(([caller, callee, calls, errors, unanswered, late, p50, p99]) => ({ name: edgeName(caller, callee), search: `${names[caller]}>${names[callee]}`, calls, errors, unanswered, late, p50, p99 }))
        .filter((e) => e.calls).sort((a, b) => b.calls - a.calls);
      const some = (key) => list.some((e) => e[key] > 0);
      const part = (n, calls) => number(n < 0 ? '\u2013' : n ? el('span', { class: 'slower', title: plural(n, 'call') }, share(n, calls)) : '0');
      return list.length > 0 && el('section', { class: 'panel', 'aria-label': 'Edges', id: 'edges' }, el('h2', null, 'Edges', el('span', { class: 'hint' }, 'rate, errors and durations of the calls from a node to another')),
        region('Calls by edge', cards({ id: 'edge-list' },
          el('thead', null, el('tr', null, el('th', null, 'Edge'), ['Calls', 'Rate', 'Errors', some('unanswered') && 'No answer', some('late') && 'Late', 'p50', 'p99'].filter(Boolean).map((h) => el('th', { class: 'number' }, h)))),
          el('tbody', null, list.map((e) => el('tr', null, el('td', { class: 'name', title: e.name }, el('button', { type: 'button', class: 'plain', title: 'Search for it', onclick: () => goTo(e.search) }, cut(e.name))),
            number(count(e.calls)), number(perSecond(e.calls)), part(e.errors, e.calls), some('unanswered') && part(e.unanswered, e.calls), some('late') && part(e.late, e.calls),
            number(e.calls > e.unanswered ? duration(e.p50) : ''), number(e.calls > e.unanswered ? duration(e.p99) : '')))))),
        list.some((e) => e.errors < 0) && el('p', { class: 'quiet' }, '\u2013: nobody could see how these calls ended.'));
    }

    // Statements of databases, by the entry whose requests make them, with the most time first.
    function drawStatements() {
      return data.statements.length > 0 && el('section', { class: 'panel', 'aria-label': 'Statements', id: 'statements' }, el('h2', null, 'Statements', el('span', { class: 'hint' }, 'who asks databases what; share: of the time of all these requests')),
        region('Statements by entry', cards({ id: 'statement-list' },
          el('thead', null, el('tr', null, el('th', null, 'Statement'), el('th', null, 'For'), ['Calls', 'A request', 'Mean', 'Time', 'Share', 'Errors'].map((h) => el('th', { class: 'number' }, h)))),
          el('tbody', null, data.statements.map(([node, text, entry, label, client, calls, each, time, mean, errors, part]) => el('tr', null,
            el('td', { class: 'name', title: text }, cut(visible(`${node}: ${text}`))), el('td', { class: 'name' }, visible(entry === node ? client : label || entry)),
            number(count(calls)), number(each.toFixed(2)), number(duration(mean)), number(duration(time)), number(part === null ? '' : share(part, 1)), number(count(errors))))))));
    }

    // --- keys ---

    const keys = [['/', 'search'], ['j  k', 'next, previous pattern'], ['\u2193 \u2191', 'the same, in the list'], ['n  p', 'next, previous node of the tree'],
      ['1 \u2026 5', 'mean, fastest, median, p99, slowest path'], ['m', 'merge replicas'], ['Esc', 'leave the search, or empty it'], ['?', 'this list']];
    const help = el('dialog', { 'aria-label': 'Keys' }, el('h2', null, 'Keys'), el('dl', null, keys.map(([k, text]) => [el('dt', null, k), el('dd', null, text)])),
      el('button', { type: 'button', onclick: () => help.close() }, 'Close'));
    document.addEventListener('keydown', (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.target === search) {
        if (e.key === 'Escape') { if (search.value) searchFor(''); else search.blur(); }
        if (e.key === 'Enter' || e.key === 'ArrowDown') { e.preventDefault(); enterList(); const first = shown.find((r) => !r.group); if (first && !shown.some((r) => contains(r, state.pattern))) choose(first); }
        return;
      }
      const detail = rowOf(state.pattern) && data.details[rowOf(state.pattern).i];
      const press = { '/': () => search.focus(), j: () => movePattern(1), k: () => movePattern(-1), m: () => merge.click(), '?': () => (help.open ? help.close() : help.showModal()) }[e.key];
      if (press) { e.preventDefault(); press(); return; }
      if (!detail) return;
      if (e.key === 'n' || e.key === 'p') {
        const n = detail.vertices.length;
        const now = Number(document.getElementById('node').dataset.vertex);
        state.vertex = (now + (e.key === 'n' ? 1 : n - 1)) % n;
        showPattern();
        writeFragment();
      }
      if (/^[1-5]$/.test(e.key)) {
        const k = ['mean', ...SAMPLES][Number(e.key) - 1];
        if (k === 'mean' || detail.sample[SAMPLES.indexOf(k)] >= 0) { state.sample = k; showPattern(); writeFragment(); }
      }
    });

    // --- all of it ---

    readFragment();
    search.value = state.query;
    merge.checked = state.merged;
    document.title = document.title || 'ravel report';
    main.append(...drawTop().filter(Boolean));
    if (!rows.length) {
      main.append(el('section', { class: 'panel' }, el('p', null, 'The store has no paths.')));
      return;
    }
    const causes = [data.variance.length > 0 && drawVariance(), data.loads.some((l) => l[0]) && drawLoads()].filter(Boolean);
    main.append(linear ? '' : drawMapPanel(), rangeBar, drawOverview(), failures.length ? drawErrors() : '', ...(requests.length ? [drawSlowest(), requestPanel] : []), el('div', { class: causes.length > 1 && !data.workers.length ? 'two wide-left' : '' }, causes), drawEdges() || '', drawStatements() || '',
      el('section', { class: 'panel', 'aria-label': 'Patterns' },
        el('div', { class: 'bar-row' }, el('h2', null, linear ? 'Paths' : 'Path patterns'), matched, el('span', { class: 'spring' }),
          el('label', { class: 'check no-print', title: 'Patterns that differ only in which replica of a node they went through, as one' }, merge, 'Merge replicas'), search),
        isDrawn && el('p', { id: 'trust-in-counts' }, data.trustInCounts), grid),
      pattern,
      el('details', { class: 'made' }, el('summary', null, 'How this was made'),
        el('pre', { tabindex: 0, 'aria-label': 'Parameters and facts of the capture' }, `${data.store ? 'store' : 'made of'}: ${data.store || data.madeOf}\n${data.parameters}` + data.captures.map((c) => `\n${c.name}\n${c.facts}`).join(''))),
      el('footer', null, `${linear ? '' : 'Latency is what the caller waits. Own time is the part of a path\u2019s latency that only this node accounts for. '}${data.store ? `Made from ${data.store.replace(/^.*\//, '')}, which has everything: ravel query.` : `Made from ${data.madeOf}. ravel nesting -o keeps a store of everything, which ravel query asks.`}`),
      help, copied);
    fillList(false);
    showChoice();
    showRequest();
    showPattern();
    scrollToChosen();
    addEventListener('hashchange', () => {
      readFragment();
      search.value = state.query;
      merge.checked = state.merged;
      fillList(true);
      if (requests.length) { showChoice(); showRequest(); }
      if (data.variance.length) drawVariance();
      showPattern();
    });
  }

  // --- what changed between two runs ---------------------------------------------

  function showDiff() {
    const names = data.nodes.map(visible);
    const [A, B] = data.stores.map((s) => s.replace(/^.*\//, ''));
    const delay = (d) => ({ a: d[0], b: d[1], low: d[2], high: d[3], beyond: d[4] === 1, change: d[1] - d[0] });
    const node = (n) => ({ node: n[0], parent: n[1], repeats: n[2], calls: [n[3], n[4]], mean: [n[5], n[6]], p50: delay(n[7]), p99: delay(n[8]), tail: { limit: n[9][0], a: n[9][1], b: n[9][2], beyond: n[9][3] === 1 }, operation: n[10] ? visible(n[10]) : '' });
    const byNode = data.byNode.map(node);
    const queued = data.queued.map(node);
    const edges = [...data.edges, ...data.causes].map(node).map((n) => ({ ...n, name: `${names[n.parent]} > ${names[n.node]}${n.operation ? ` (${n.operation})` : ''}` }));
    const moved = (n) => n.p50.beyond || n.p99.beyond || n.tail.beyond;
    const patterns = data.patterns.map((p, i) => {
      const q = { i, id: p.id, signature: (p.label ? visible(p.label) + ' ' : '') + visible(p.signature), client: p.client, count: p.count, mean: p.mean, low: p.share[0], high: p.share[1], shareBeyond: p.share[2] === 1,
        share: (p.drawn ? p.drawn.slice(0, 2) : p.count).map((n, side) => n / Math.max(data.paths[side], 1)),
        counts: p.count.map((n, side) => (p.drawn && p.drawn[2 + side] > 0 ? `${count(Math.round(p.drawn[side]))} \u00b1${count(Math.round(p.drawn[2 + side]))}` : count(n))), tested: Boolean(p.vertices) };
      if (q.tested) Object.assign(q, { p50: delay(p.latency[0]), p99: delay(p.latency[1]), vertices: p.vertices.map(node), hidden: p.hidden, width: p.width, height: p.height, boxes: p.boxes });
      q.changed = q.shareBeyond || (q.tested && (q.p50.beyond || q.p99.beyond || p.latency[2][3] === 1 || q.vertices.some(moved)));
      q.size = q.tested ? Math.abs(q.mean[1] - q.mean[0]) * (q.count[0] + q.count[1]) : 0;
      return q;
    }).sort((x, y) => y.changed - x.changed || y.size - x.size || x.i - y.i);
    const changed = patterns.filter((p) => p.changed).length;
    const state = { pattern: null, all: false };
    const fragment = new URLSearchParams(location.hash.slice(1));
    const firstTested = patterns.find((p) => p.tested);
    state.pattern = patterns.some((p) => p.id === fragment.get('p')) ? fragment.get('p') : firstTested ? firstTested.id : null;
    state.all = fragment.get('all') === '1' || !changed;

    const percent = (part, unit) => {
      const size = 100 * Math.abs(part);
      const text = size < 9.95 ? size.toFixed(1) : String(Math.round(size));
      return `${Number(text) === 0 ? '' : part > 0 ? '+' : '\u2212'}${text}${NBSP}${unit || '%'}`;
    };
    const tone = (d) => (!d.beyond ? 'quiet' : d.change > 0 ? 'slower' : 'faster');
    const arrow = (d) => (!d.beyond ? '' : d.change > 0 ? '\u25b2 ' : '\u25bc ');
    const interval = (d) => (d.low === null ? 'too few' : `${signed(d.low)} to ${signed(d.high)}`);
    const relative = (d) => (d.a > 0 ? ` (${percent(d.change / d.a)})` : '');
    // Its own column for each number, so that they align.
    const delayCells = (d) => [el('td', { class: 'number' }, duration(d.a)), el('td', { class: 'number' }, duration(d.b)),
      el('td', { class: `number ${tone(d)}` }, arrow(d) + signed(d.change), relative(d)), el('td', { class: 'number quiet' }, interval(d))];
    const delayHeads = (what) => [el('th', { class: 'number' }, `${what} A`), el('th', { class: 'number' }, 'B'), el('th', { class: 'number' }, 'Change'), el('th', { class: 'number' }, 'Interval')];

    function verdict() {
      const worst = [];
      const add = (what, d) => { if (d.beyond) worst.push([Math.abs(d.change), `${what} ${d.change > 0 ? 'slower' : 'faster'} by ${duration(Math.abs(d.change))}`]); };
      byNode.forEach((n) => add(names[n.node], n.p50));
      const list = worst.sort((x, y) => y[0] - x[0]).slice(0, 3).map((w) => w[1]);
      const own = list.length ? `Own time of a call, median of all paths: ${list.join('; ')}.` : '';
      const waits = queued.filter((n) => n.p50.beyond).sort((x, y) => Math.abs(y.p50.change) - Math.abs(x.p50.change)).slice(0, 3)
        .map((n) => `before ${names[n.node]} ${n.p50.change > 0 ? 'longer' : 'shorter'} by ${duration(Math.abs(n.p50.change))}`);
      if (own || waits.length) return ['bad', [own, waits.length && `Time in queues, median: ${waits.join('; ')}.`].filter(Boolean).join(' ')];
      if (changed || byNode.some(moved)) return ['note', `${plural(changed, 'pattern')} changed beyond chance; no node changed in its median over all paths.`];
      if (queued.some(moved)) return ['note', 'Time in queues changed beyond chance, not in its median; no pattern and no node did.'];
      const ways = edges.filter(moved);
      if (ways.length) return ['note', `Between nodes ${ways.slice(0, 3).map((n) => n.name).join(', ')} changed beyond chance; no pattern and no node did.`];
      return ['good', 'No change beyond chance.'];
    }

    // The share of calls above the limit where it changed most.
    const tailCell = (t) => el('td', { class: `number ${!t.beyond ? 'quiet' : t.b > t.a ? 'slower' : 'faster'}` }, t.limit > 0 && `> ${duration(t.limit)}: ${share(t.a, 1)}, ${share(t.b, 1)}`);
    function timesPanel(title, id, hint, times) {
      times.sort((x, y) => moved(y) - moved(x) || Math.abs(y.p50.change) - Math.abs(x.p50.change));
      return el('section', { class: 'panel', 'aria-label': title }, el('h2', null, title, el('span', { class: 'hint' }, hint)),
        el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, cards({ id },
          el('thead', null, el('tr', null, el('th', null, title.slice(0, -1)), el('th', { class: 'number' }, 'Calls A'), el('th', { class: 'number' }, 'B'), el('th', { class: 'number' }, 'Mean A'), el('th', { class: 'number' }, 'B'), delayHeads('p50'), delayHeads('p99'), el('th', { class: 'number', title: 'Share of the calls above a limit, in A and B, where it changed most' }, 'Tail A, B'))),
          el('tbody', null, times.map((n) => el('tr', null,
            el('td', null, n.name), el('td', { class: 'number' }, count(n.calls[0])), el('td', { class: 'number' }, count(n.calls[1])),
            el('td', { class: 'number' }, duration(n.mean[0])), el('td', { class: 'number' }, duration(n.mean[1])), delayCells(n.p50), delayCells(n.p99), tailCell(n.tail)))))));
    }

    const pattern = el('section', { id: 'pattern', 'aria-label': 'The chosen pattern' });
    const list = el('tbody');
    const status = el('span', { class: 'quiet', role: 'status', id: 'matched' });
    const all = el('input', { type: 'checkbox', id: 'all', onchange: () => { state.all = all.checked; fillList(); } });
    all.checked = state.all;

    function writeFragment() {
      const f = new URLSearchParams();
      if (state.pattern && (!firstTested || state.pattern !== firstTested.id)) f.set('p', state.pattern);
      if (state.all && changed) f.set('all', '1');
      const text = f.toString();
      if (text !== location.hash.slice(1)) history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
    }

    function fillList() {
      const shown = patterns.filter((p) => state.all || p.changed);
      const some = shown.slice(0, 500);
      status.textContent = `${plural(changed, 'pattern')} of ${count(data.patternCount)} changed beyond chance` + (some.length < shown.length ? `; the first ${some.length} are shown` : '');
      list.replaceChildren(...some.map((p) => el('tr', { class: p.id === state.pattern ? 'chosen' : null, 'data-id': p.id },
        el('td', { class: 'name', title: p.signature }, p.tested
          ? el('button', { type: 'button', class: 'plain', 'aria-pressed': String(p.id === state.pattern), onclick: () => { state.pattern = p.id; fillList(); showPattern(); list.querySelector('tr.chosen button').focus({ preventScroll: true }); } }, p.signature) : p.signature),
        el('td', { class: 'number' }, p.counts[0]), el('td', { class: 'number' }, p.counts[1]),
        el('td', { class: `number ${p.shareBeyond ? 'moved' : 'quiet'}` }, !p.count[0] ? 'new' : !p.count[1] ? 'gone' : percent(p.share[1] - p.share[0], 'pp')),
        p.tested ? delayCells(p.p50) : [el('td', { class: 'number' }, p.count[0] ? duration(p.mean[0]) : ''), el('td', { class: 'number' }, p.count[1] ? duration(p.mean[1]) : ''),
          el('td', { class: 'number quiet' }, 'means'), el('td')])));
      if (!some.length) list.replaceChildren(el('tr', null, el('td', { colspan: 8 }, 'None.')));
      writeFragment();
    }

    function showPattern() {
      const p = patterns.find((q) => q.id === state.pattern);
      if (!p || !p.tested) { pattern.replaceChildren(); return; }
      const most = Math.max(0, ...p.vertices.map((v) => (v.p50.beyond ? Math.abs(v.p50.change) : 0)));
      const words = (v) => (v.p50.beyond ? `${arrow(v.p50)}${signed(v.p50.change)}` : 'no change seen');
      const boxes = p.boxes.map((b, i) => {
        const box = { x: b[0], y: b[1], width: b[2], height: b[3], edge: b[4] };
        if (i === 0) return Object.assign(box, { lines: [['name', names[p.client]], ['small', `${count(p.count[0])}, then`], ['small', plural(p.count[1], 'path')]], title: `${names[p.client]}: ${count(p.count[0])} paths in A, ${count(p.count[1])} in B`, classes: ['client'] });
        const v = p.vertices[i - 1];
        const times = v.repeats > 1 ? ` \u00d7${v.repeats}` : '';
        return Object.assign(box, { vertex: i - 1, lines: [['name', names[v.node] + times], ...(v.operation ? [['small', v.operation]] : []), ['small', `own ${duration(v.p50.b)}`], ['small', words(v)]],
          title: `${names[v.node]}${times}: median own time ${duration(v.p50.a)} in A, ${duration(v.p50.b)} in B: ${words(v)}`, fill: v.p50.beyond ? tinted(v.p50.change, most) : 'var(--panel)', classes: [v.p50.beyond ? 'changed' : ''].filter(Boolean) });
      });
      set(pattern, el('section', { class: 'panel' },
        el('h2', null, 'The chosen pattern'), el('div', { class: 'signature', id: 'signature' }, p.signature),
        el('dl', { class: 'tiles' }, tile('paths A', count(p.count[0])), tile('paths B', count(p.count[1])), tile('mean A', duration(p.mean[0])), tile('mean B', duration(p.mean[1])),
          tile('p50 A', duration(p.p50.a)), tile('p50 B', duration(p.p50.b)), tile('p99 A', duration(p.p99.a)), tile('p99 B', duration(p.p99.b)),
          tile('change of p99', interval(p.p99)))),
      el('div', { class: 'tree-and-blame' },
        el('section', { class: 'panel', 'aria-label': 'Call tree' }, el('h2', null, 'Call tree', el('span', { class: 'hint' }, 'change of the median own time: orange \u25b2 slower, blue \u25bc faster')),
          el('div', { class: 'tree', tabindex: 0, role: 'region', 'aria-label': 'Call tree' }, drawTree(p.width, p.height, boxes, 'Call tree')),
          p.hidden > 0 && el('p', { class: 'quiet' }, `${plural(p.hidden, 'more call')} not drawn.`)),
        el('div', null, el('section', { class: 'panel', 'aria-label': 'Calls' }, el('h2', null, 'Own time of its calls'),
          el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Own time of its calls' }, cards({ id: 'calls' },
            el('thead', null, el('tr', null, el('th', null, 'Node'), delayHeads('p50'))),
            el('tbody', null, p.vertices.map((v) => el('tr', null, el('td', null, names[v.node] + (v.repeats > 1 ? ` \u00d7${v.repeats}` : '') + (v.operation ? ' ' + v.operation : '')), delayCells(v.p50))))))))));
      writeFragment();
    }

    const [level, text] = verdict();
    const marks = { good: '\u2713', note: '!', bad: '\u25b2' };
    const dependence = data.dependence.map((d, side) => `${d.toFixed(1)}${data.measured[side] ? '' : ' (a guess)'}`);
    main.append(
      el('header', { class: 'top' }, el('h1', null, `${A} \u2192 ${B}`), el('span', { class: 'what' }, 'What changed, by ravel diff')),
      el('dl', { class: 'facts' }, tile('paths A', count(data.paths[0])), tile('paths B', count(data.paths[1])), tile('patterns A', count(data.patternCounts[0])), tile('patterns B', count(data.patternCounts[1])),
        tile('p50 A', duration(data.latency[0][0])), tile('p50 B', duration(data.latency[0][1])), tile('p99 A', duration(data.latency[1][0])), tile('p99 B', duration(data.latency[1][1]))),
      el('ul', { class: 'quality', 'aria-label': 'Verdict' }, el('li', { class: level }, el('span', { class: 'mark', 'aria-hidden': 'true' }, marks[level]), el('strong', { id: 'verdict' }, text)),
        data.trustInCounts && el('li', { class: 'note' }, el('span', { class: 'mark', 'aria-hidden': 'true' }, '!'), el('span', { id: 'trust-in-counts' }, data.trustInCounts))),
      timesPanel('Nodes', 'nodes', queued.length ? 'own time of a call, and how long what goes on to a node lay in queues before, on all paths' : 'own time of a call, on all paths',
        [...byNode.map((n) => ({ ...n, name: names[n.node] })), ...queued.map((n) => ({ ...n, name: `(queued for ${names[n.node]})` }))]),
      edges.length > 0 && timesPanel('Edges', 'edges', 'latency of the calls from a node to another, and their time on the way by its causes', edges),
      el('section', { class: 'panel', 'aria-label': 'Patterns' },
        el('div', { class: 'bar-row' }, el('h2', null, 'Path patterns'), status, el('span', { class: 'spring' }), el('label', { class: 'check no-print' }, all, 'Show those without a change, too')),
        region('Path patterns', cards({ id: 'patterns' },
          el('thead', null, el('tr', null, el('th', null, 'Path'), el('th', { class: 'number' }, 'Paths A'), el('th', { class: 'number' }, 'B'), el('th', { class: 'number', title: 'Change of its share of all paths, in percentage points' }, 'Of all'), delayHeads('p50'))), list))),
      pattern,
      el('footer', null, `A is ${data.stores[0]}, B is ${data.stores[1]}. An interval holds what the change may be; all of them hold together with a probability of 95${NBSP}%. ` +
        `As paths come in bursts, so many count for one: ${dependence[0]} in A, ${dependence[1]} in B.`));
    fillList();
    showPattern();
  }

  // --- the trend -----------------------------------------------------------------

  function showTrend() {
    const KINDS = [['own', 'Own time'], ['latency', 'Latency'], ['rate', 'Rate'], ['share', 'Share']];
    const FOUND = { creep: 'creeps', step: 'steps', odd: 'odd' };
    const points = data.points.map((p) => ({ name: visible(p[0]), stores: p[1], first: p[2], last: p[3], paths: p[4], parallelism: p[5] }));
    const n = points.length;
    const timed = data.timed === 1;
    const series = data.series.map((s, i) => ({
      i, kind: s.kind, title: visible(s.title), level: s.level, follows: s.follows === 1,
      changes: s.changes.map((c) => ({ kind: c[0], from: c[1], to: c[2], at: c[3], change: c[4], error: c[5] })),
      values: s.values.map((v) => (v === null ? null : { count: v[0], value: v[1], p99: v[2] })),
    }));
    const percent = (part) => {
      const size = 100 * Math.abs(part);
      return `${part > 0 ? '+' : part < 0 ? '\u2212' : ''}${size < 9.995 ? size.toFixed(2) : size < 99.95 ? size.toFixed(1) : Math.round(size)}${NBSP}%`;
    };
    const value = (s, v) => (s.kind === 'rate' ? `${v < 9.995 ? v.toFixed(2) : v < 99.95 ? v.toFixed(1) : Math.round(v)}/s`
      : s.kind === 'share' ? percent(v).replace('+', '') : duration(v));
    const when = (i) => (timed ? utc(points[i].first).slice(0, data.spacing < 120e9 ? 19 : 16) : points[i].name);
    // Where a point stands from 0 to 1: by its time, where they have times.
    const middle = (p) => Number((BigInt(p.first) + BigInt(p.last)) / 2n);
    const whole = timed ? middle(points[n - 1]) - middle(points[0]) : n - 1;
    const place = (i) => (timed ? (middle(points[i]) - middle(points[0])) / whole : i / whole);
    const steps = (c) => (timed ? (place(c.to - 1) - place(c.from)) * whole / data.spacing : c.to - 1 - c.from);
    const inAll = (c) => Math.expm1(c.kind === 'creep' ? c.change * steps(c) : c.change);
    const unit = { store: 'a store', hour: 'an hour', day: 'a day' }[data.unit];
    function words(c) {
      const error = (Math.expm1(c.change + c.error) - Math.expm1(c.change - c.error)) / 2;
      const size = `${percent(Math.expm1(c.change))} \u00b1 ${percent(error).replace('+', '')}`;
      if (c.kind === 'creep') return `${size} ${unit}, ${percent(inAll(c))} in all`;
      return `${size} at ${when(c.at)}`;
    }
    const weight = (s) => (s.changes.length ? (s.follows ? 1 : 2) : 0);
    const size = (s) => Math.max(0, ...s.changes.map((c) => Math.abs(inAll(c))));
    const worse = (s, c) => s.kind === 'own' || s.kind === 'latency' ? (c.change > 0 ? 'slower' : 'faster') : 'moved';
    const arrow = (c) => (c.change > 0 ? '\u25b2 ' : '\u25bc ');
    series.sort((a, b) => weight(b) - weight(a) || size(b) - size(a) || a.i - b.i);
    const changed = series.filter((s) => s.changes.length);
    const state = { chosen: 0, kind: 'all', all: !changed.length };
    const fragment = new URLSearchParams(location.hash.slice(1));
    if (fragment.has('s') && series.some((s) => String(s.i) === fragment.get('s'))) state.chosen = Number(fragment.get('s'));
    else if (series.length) state.chosen = series[0].i;
    if (KINDS.some(([k]) => k === fragment.get('k'))) state.kind = fragment.get('k');
    if (fragment.get('all') === '1') state.all = true;

    function writeFragment() {
      const f = new URLSearchParams();
      if (series.length && state.chosen !== series[0].i) f.set('s', state.chosen);
      if (state.kind !== 'all') f.set('k', state.kind);
      if (state.all && changed.length) f.set('all', '1');
      const text = f.toString();
      if (text !== location.hash.slice(1)) history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
    }

    // The level that the changes say each point has, not the odd ones: a line of pieces.
    function fitted(s) {
      const cuts = [0, ...s.changes.filter((c) => c.kind === 'step').map((c) => c.at), n];
      const odd = new Set(s.changes.filter((c) => c.kind === 'odd').map((c) => c.at));
      const pieces = [];
      for (let k = 0; k + 1 < cuts.length; k++) {
        const inside = s.values.map((v, i) => [i, v]).filter(([i, v]) => v && v.value > 0 && i >= cuts[k] && i < cuts[k + 1] && !odd.has(i));
        if (!inside.length) continue;
        const creep = s.changes.find((c) => c.kind === 'creep' && c.from < cuts[k + 1] && c.to > cuts[k]);
        const slope = creep ? creep.change * (timed ? whole / data.spacing : whole) : 0;
        const mean = inside.reduce((sum, [i, v]) => sum + Math.log(v.value) - slope * place(i), 0) / inside.length;
        const ends = [inside[0][0], inside[inside.length - 1][0]];
        pieces.push(ends.map((i) => [i, Math.exp(mean + slope * place(i))]));
      }
      return pieces;
    }

    function bounds(s) {
      const list = s.values.filter(Boolean).map((v) => v.value);
      const low = Math.min(...list);
      const high = Math.max(...list);
      const margin = Math.max((high - low) * 0.1, high * 0.005, 1e-12);
      return [Math.max(0, low - margin), high + margin];
    }

    function line(s, width, height) {
      const [low, high] = bounds(s);
      const x = (i) => (2 + place(i) * (width - 4)).toFixed(1);
      const y = (v) => (height - 2 - (v - low) / (high - low) * (height - 4)).toFixed(1);
      const root = svg('svg', { class: 'trend-line', width, height, 'aria-hidden': 'true' });
      let path = '';
      let pen = 'M';
      s.values.forEach((v, i) => { if (v) { path += `${pen}${x(i)} ${y(v.value)}`; pen = 'L'; } else pen = 'M'; });
      root.append(svg('path', { class: 'course', d: path }));
      if (s.changes.length) for (const [a, b] of fitted(s)) root.append(svg('path', { class: 'fit', d: `M${x(a[0])} ${y(a[1])}L${x(b[0])} ${y(b[1])}` }));
      for (const c of s.changes) if (c.kind === 'odd' && s.values[c.at]) root.append(svg('circle', { class: 'odd', cx: x(c.at), cy: y(s.values[c.at].value), r: 2.5 }));
      return root;
    }

    const list = el('tbody');
    const status = el('span', { class: 'quiet', role: 'status', id: 'matched' });
    const all = el('input', { type: 'checkbox', id: 'all', onchange: () => { state.all = all.checked; fillList(); } });
    all.checked = state.all;
    const detail = el('section', { id: 'series', 'aria-label': 'The chosen series' });
    const kinds = el('span');

    function choose(i) {
      state.chosen = i;
      fillList();
      showSeries();
      focusOn(list, 'tr.chosen button');
    }

    function fillList() {
      set(kinds, segments('Kind of series', [['all', 'All'], ...KINDS].map(([k, text]) => [k, text]), state.kind, (k) => { state.kind = k; fillList(); const pressed = kinds.querySelector('[aria-pressed=true]'); if (pressed) pressed.focus(); }));
      const shown = series.filter((s) => (state.all || s.changes.length) && (state.kind === 'all' || s.kind === state.kind));
      status.textContent = `${plural(changed.length, 'series', 'series')} of ${count(series.length)} changed beyond chance`;
      list.replaceChildren(...shown.map((s) => el('tr', { class: s.i === state.chosen ? 'chosen' : null, 'data-series': s.i },
        el('td', { class: 'name', title: s.title }, el('button', { type: 'button', class: 'plain', 'aria-pressed': String(s.i === state.chosen), onclick: () => choose(s.i) }, cut(s.title))),
        el('td', null, KINDS.find(([k]) => k === s.kind)[1]),
        el('td', { class: 'number' }, value(s, s.level)),
        el('td', { class: 'course' }, line(s, 180, 26)),
        el('td', null, s.changes.length ? s.changes.slice(0, 3).map((c) => el('div', { class: worse(s, c) }, `${arrow(c)}${FOUND[c.kind]} ${words(c)}`)) : el('span', { class: 'quiet' }, 'steady'),
          s.changes.length > 3 && el('div', { class: 'quiet' }, `and ${s.changes.length - 3} more`), s.follows && el('div', { class: 'quiet' }, s.kind === 'rate' ? 'follows from its entry or share' : 'follows from own times')))));
      if (!shown.length) list.replaceChildren(el('tr', null, el('td', { colspan: 5 }, 'None.')));
      writeFragment();
    }

    function drawSeries(s, width) {
      const height = 220;
      const left = 64;
      const [low, high] = bounds(s);
      const x = (i) => left + 6 + place(i) * (width - left - 16);
      const y = (v) => 10 + (1 - (v - low) / (high - low)) * (height - 40);
      const root = svg('svg', { width, height, role: 'img', 'aria-label': `${s.title} by store` });
      for (const t of ticks(low, high, 4)) {
        root.append(svg('path', { class: 'tick', d: `M${left} ${y(t)}H${width - 6}` }));
        root.append(svg('text', { class: 'axis', x: left - 6, y: y(t) + 4, 'text-anchor': 'end' }, value(s, t)));
      }
      for (const [i, anchor] of [[0, 'start'], [n - 1, 'end']])
        root.append(svg('text', { class: 'axis', x: i ? width - 6 : left, y: height - 6, 'text-anchor': anchor }, fitName(when(i), (width - left) / 2 - 8, 400, 11)));
      let path = '';
      let pen = 'M';
      s.values.forEach((v, i) => { if (v) { path += `${pen}${x(i).toFixed(1)} ${y(v.value).toFixed(1)}`; pen = 'L'; } else pen = 'M'; });
      root.append(svg('path', { class: 'course', d: path }));
      const odd = new Set(s.changes.filter((c) => c.kind === 'odd').map((c) => c.at));
      s.values.forEach((v, i) => {
        if (!v) return;
        const dot = svg('circle', { class: odd.has(i) ? 'odd' : 'dot', cx: x(i).toFixed(1), cy: y(v.value).toFixed(1), r: n > 120 ? 1.5 : 3 });
        dot.append(svg('title', null, `${when(i)}: ${value(s, v.value)}`));
        root.append(dot);
      });
      if (s.changes.length) for (const [a, b] of fitted(s)) root.append(svg('path', { class: 'fit', d: `M${x(a[0])} ${y(a[1])}L${x(b[0])} ${y(b[1])}` }));
      return root;
    }

    function showSeries() {
      const s = series.find((q) => q.i === state.chosen);
      if (!s) { detail.replaceChildren(); return; }
      const p99 = s.kind === 'latency';
      const box = drawn(el('div', { class: 'chart-box' }), (width) => drawSeries(s, width));
      set(detail, el('section', { class: 'panel' }, el('h2', null, KINDS.find(([k]) => k === s.kind)[1], el('span', { class: 'hint' }, 'by store; the line is what the changes say')),
        el('div', { class: 'signature', id: 'title' }, s.title), box,
        s.changes.map((c) => el('p', { class: worse(s, c) }, `${arrow(c)}${FOUND[c.kind]} ${words(c)}`))),
      el('section', { class: 'panel', 'aria-label': 'Its values' }, el('h2', null, 'Store by store'),
        region('Store by store', cards({ id: 'values' },
          el('thead', null, el('tr', null, el('th', null, 'Store'), el('th', null, 'Begins'), el('th', { class: 'number' }, s.kind === 'own' ? 'Calls' : 'Requests'), el('th', { class: 'number' }, s.kind === 'rate' || s.kind === 'share' ? 'Value' : 'Mean'), p99 && el('th', { class: 'number' }, 'p99'), el('th', { class: 'number' }, 'Parallelism'))),
          el('tbody', null, s.values.map((v, i) => el('tr', null, el('td', { class: 'name', title: points[i].name }, points[i].name + (points[i].stores > 1 ? ` and ${points[i].stores - 1} more` : '')), el('td', null, utc(points[i].first)),
            el('td', { class: 'number' }, v ? count(v.count) : ''), el('td', { class: 'number' }, v ? value(s, v.value) : 'too few'), p99 && el('td', { class: 'number' }, v ? duration(v.p99) : ''),
            el('td', { class: 'number' }, points[i].parallelism ? points[i].parallelism.toFixed(2) : ''))))))));
      drawBoxes();
      writeFragment();
    }

    const told = changed.filter((s) => !s.follows);
    const found = data.patterns.length;
    const verdict = told.length || found
      ? [told.length && `${plural(told.length, 'series', 'series')} changed: ${firstOf(told, 3).map((s) => `${s.title} (${KINDS.find(([k]) => k === s.kind)[1].toLowerCase()}) ${s.changes.map((c) => FOUND[c.kind])[0]}`).join('; ')}${moreThan(told, 3)}`, found && `${plural(found, 'pattern')} new or gone`].filter(Boolean).join('; ') + '.'
      : 'No change beyond chance.';
    fill(main, null, [
      el('header', { class: 'top' }, el('h1', null, `${count(points.reduce((sum, p) => sum + p.stores, 0))} stores`), el('span', { class: 'what' }, 'What changed over them, by ravel trend')),
      el('dl', { class: 'facts' }, timed && tile('from', utc(points[0].first)), timed && tile('to', utc(points[n - 1].last)), tile('requests', count(points.reduce((sum, p) => sum + p.paths, 0))), tile('compared', count(data.tests))),
      el('ul', { class: 'quality', 'aria-label': 'Verdict' }, el('li', { class: told.length || found ? 'bad' : 'good' }, el('span', { class: 'mark', 'aria-hidden': 'true' }, told.length || found ? '\u25b2' : '\u2713'), el('strong', { id: 'verdict' }, verdict)),
        data.notes.map((note) => el('li', { class: 'note' }, el('span', { class: 'mark', 'aria-hidden': 'true' }, '!'), visible(note)))),
      found > 0 && el('section', { class: 'panel', 'aria-label': 'New or gone' }, el('h2', null, 'Patterns that are new or gone'),
        region('Patterns that are new or gone', cards({ id: 'begun' },
          el('thead', null, el('tr', null, el('th', null, 'Path'), el('th', null, 'What'), el('th', null, 'At'), el('th', { class: 'number' }, 'Requests'), el('th', { class: 'number' }, 'Of its entry'), el('th', { class: 'number' }, 'In the other stores'))),
          el('tbody', null, data.patterns.map((p) => el('tr', null, el('td', { class: 'name', title: visible(p[0]) }, visible(p[0])), el('td', { class: 'moved' }, p[1] ? 'gone' : 'new'), el('td', null, when(p[2])),
            el('td', { class: 'number' }, count(p[3])), el('td', { class: 'number' }, share(p[3], p[5])), el('td', { class: 'number' }, count(p[4])))))))),
      el('section', { class: 'panel', 'aria-label': 'Series' },
        el('div', { class: 'bar-row' }, el('h2', null, 'Series'), status, el('span', { class: 'spring' }), kinds, el('label', { class: 'check no-print' }, all, 'Show those without a change, too')),
        region('Series', cards({ id: 'list' },
          el('thead', null, el('tr', null, el('th', null, 'Of'), el('th', null, 'Kind'), el('th', { class: 'number' }, 'Mean'), el('th', null, 'Course'), el('th', null, 'Change'))), list))),
      detail,
      el('footer', null, `All that is found holds together with a probability of 99${NBSP}%; \u00b1 is what one change may be off by, with 95${NBSP}%. Own times are of a call, whatever mixture of calls came.`)]);
    fillList();
    showSeries();
  }

  if (data.kind === 'report') showReport();
  else if (data.kind === 'trend') showTrend();
  else showDiff();
})();
