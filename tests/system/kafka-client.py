# SPDX-License-Identifier: BSD-2-Clause
"""kafka-client.py RAVEL ROLE ADDRESS PORT SQL N PAUSE: a process of the pipeline of kafka_test.py, by python3-kafka. Prints
"ready", then a line for each text that it has published or taken."""
import os, random, socket, sys, time

role, address, port, sql, n, pause = sys.argv[2:]
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
connect_ex = socket.socket.connect_ex


class Socket(socket.socket):
    """From the address of the process."""

    def connect_ex(self, to):
        if not self.getsockname()[1]:
            self.bind((address, 0))
        return connect_ex(self, to)


import kafka  # pylint: disable=wrong-import-position
import kafka.conn
from brokers import Sql  # pylint: disable=wrong-import-position
kafka.conn.socket.socket = Socket
server = 'localhost:' + port


def say(*words):
    print(*words, flush=True)


def consumer(topic, group):
    return kafka.KafkaConsumer(topic, bootstrap_servers=server, group_id=group, auto_offset_reset='earliest',
                               consumer_timeout_ms=5000, session_timeout_ms=30000, heartbeat_interval_ms=1000)


def producer():
    return kafka.KafkaProducer(bootstrap_servers=server, acks=1, partitioner=lambda key, every, there: random.choice(every))


if role == 'producer':
    out = producer()
    out.partitions_for('orders')
    say('ready')
    sys.stdin.readline()
    for i in range(int(n)):
        text = '%s-%d' % (address, i)
        out.send('orders', text.encode()).get(10)
        say('published', text)
        time.sleep(random.random() * 2 * float(pause))
else:
    topic = 'orders' if role == 'worker' else 'mails'
    source, out = consumer(topic, role), producer()
    out.partitions_for('mails')
    database = Sql(address, int(sql))
    while not source.assignment():
        source.poll(100)
    say('ready')
    for record in source:
        text = record.value.decode()
        say('took', text)
        if role == 'worker':
            database.query('SELECT * FROM item')
            database.query('INSERT INTO orders VALUES (1)')
            out.send('mails', ('mail ' + text).encode()).get(10)
            say('published', 'mail ' + text)
        else:
            database.query('INSERT INTO mail VALUES (1)')
