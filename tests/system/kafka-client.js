// SPDX-License-Identifier: BSD-2-Clause
//
// node kafka-client.js ROLE ADDRESS PORT SQL N PAUSE: a process of the pipeline of kafka_test.py, by kafkajs.
// Prints "ready", then a line for each text that it has published or taken.
'use strict';
const net = require('net');
const { Kafka, logLevel } = require('kafkajs');

const [role, address, port, sql, n, pause] = process.argv.slice(2);
const kafka = new Kafka({
  clientId: role, brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING,
  socketFactory: ({ host, port, onConnect }) => net.connect({ host, port, localAddress: address }, onConnect),
});
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const say = (...words) => console.log(...words);
const any = () => ({ partitionMetadata }) =>
  partitionMetadata[Math.floor(Math.random() * partitionMetadata.length)].partitionId;

// A client of the stand-in for PostgreSQL.
class Sql {
  async open() {
    this.socket = net.connect({ host: '127.0.0.1', port: sql, localAddress: address });
    this.socket.setNoDelay(true);
    this.waits = [];
    let data = Buffer.alloc(0);
    this.socket.on('data', (more) => {
      data = Buffer.concat([data, more]);
      while (data.length >= 5 && data.length > data.readUInt32BE(1)) {
        const kind = data[0];
        data = data.subarray(1 + data.readUInt32BE(1));
        if (kind === 90) this.waits.shift()();
      }
    });
    await this.send(Buffer.from('\0\x03\0\0user\0ravel\0\0', 'latin1'), '');
  }

  send(body, kind) {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length + 4);
    return new Promise((done) => {
      this.waits.push(done);
      this.socket.write(Buffer.concat([Buffer.from(kind), head, body]));
    });
  }

  query(text) { return this.send(Buffer.from(text + '\0'), 'Q'); }
}

async function main() {
  const producer = kafka.producer({ createPartitioner: any });
  await producer.connect();
  if (role === 'producer') {
    say('ready');
    await new Promise((done) => process.stdin.once('data', done));
    for (let i = 0; i < n; i++) {
      await producer.send({ topic: 'orders', acks: 1, messages: [{ value: `${address}-${i}` }] });
      say('published', `${address}-${i}`);
      await sleep(Math.random() * 2000 * pause);
    }
    process.exit(0);
  }
  const database = new Sql();
  await database.open();
  const consumer = kafka.consumer({ groupId: role, maxWaitTimeInMs: 500, heartbeatInterval: 1000, sessionTimeout: 30000 });
  let last = Date.now();
  consumer.on('consumer.group_join', () => say('ready'));
  await consumer.connect();
  await consumer.subscribe({ topics: [role === 'worker' ? 'orders' : 'mails'], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const text = message.value.toString();
      say('took', text);
      if (role === 'worker') {
        await database.query('SELECT * FROM item');
        await database.query('INSERT INTO orders VALUES (1)');
        await producer.send({ topic: 'mails', acks: 1, messages: [{ value: 'mail ' + text }] });
        say('published', 'mail ' + text);
      } else {
        await database.query('INSERT INTO mail VALUES (1)');
      }
      last = Date.now();
    },
  });
  for (last = Math.max(last, Date.now()); Date.now() - last < 5000;) await sleep(100);
  process.exit(0);
}
main();
