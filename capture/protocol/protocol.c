/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

const Protocol protocol_generic = { .name = "generic" };

/* MongoDB and CQL are asked before MySQL, which would take their bytes for its commands. */
const Protocol *const protocols[] = {
        &protocol_http,       &protocol_http2,      &protocol_tls,
        &protocol_fastcgi,    &protocol_amqp,       &protocol_rpc,
        &protocol_dns,        &protocol_dns_stream, &protocol_rpc_udp,
        &protocol_ldap,       &protocol_mongodb,    &protocol_cql,
        &protocol_tds,        &protocol_memcached,  &protocol_redis,
        &protocol_postgres,   &protocol_mysql,      &protocol_smtp,
        &protocol_zookeeper,  &protocol_mqtt,       &protocol_nats,
        &protocol_websocket,  &protocol_redis_bus,  &protocol_gossip,
        &protocol_gossip_udp, &protocol_kafka,      NULL,
};

const Protocol *protocol_lookup(const char *name)
{
        for (guint i = 0; protocols[i]; i++)
                if (strcmp(protocols[i]->name, name) == 0)
                        return protocols[i];
        return strcmp(name, protocol_generic.name) == 0 ? &protocol_generic : NULL;
}

char *protocol_list_names(void)
{
        const char *names[G_N_ELEMENTS(protocols) + 1] = { NULL };
        guint n = 0;
        for (guint i = 0; protocols[i]; i++)
                names[n++] = protocols[i]->name;
        names[n++] = protocol_generic.name;
        qsort(names, n, sizeof names[0], compare_strings);
        guint kept = 1; /* over UDP a protocol may have a row of its own */
        for (guint i = 1; i < n; i++)
                if (strcmp(names[i], names[kept - 1]) != 0)
                        names[kept++] = names[i];
        names[kept] = NULL;
        return g_strjoinv(", ", (char **)names);
}
