// SPDX-License-Identifier: BSD-2-Clause
// processes.js NAME PORT [BACKEND...]: an HTTP service on 127.0.0.1, which asks its backends one
// after the other, on a new connection each, and appends to NAME.truth the ports of who asked it
// and of what it asked for that. With PORT 0: asks the first backend 200 times.
const fs = require('fs');
const http = require('http');
const [name, port, ...back] = process.argv.slice(2);
process.title = name;
const ask = (to, from) => new Promise((good, bad) => {
  const request = http.get({ host: '127.0.0.1', port: to, path: '/', agent: false }, (reply) => {
    fs.appendFileSync(name + '.truth', `${from} ${request.socket.localPort}\n`);
    reply.resume();
    reply.on('end', good);
  }).on('error', bad);
});
if (port !== '0') {
  http.createServer(async (request, reply) => {
    for (const to of back) await ask(to, request.socket.remotePort);
    setTimeout(() => reply.end(name), 1 + Math.random() * 2);
  }).listen(port, '127.0.0.1');
} else {
  (async () => { for (let i = 0; i < 200; i++) await ask(back[0], '-'); })();
}
