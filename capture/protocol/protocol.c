/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/protocol.h"

#include <string.h>

const Protocol protocol_generic = { .name = "generic" };

const Protocol *const protocols[] = {
        &protocol_http,
        &protocol_http2,
        &protocol_tls,
        &protocol_fastcgi,
        &protocol_amqp,
        &protocol_rpc,
        &protocol_dns,
        &protocol_dns_stream,
        &protocol_rpc_udp,
        &protocol_ldap,
        &protocol_redis,
        &protocol_postgres,
        &protocol_memcached,
        &protocol_mysql,
        &protocol_smtp,
        &protocol_zookeeper,
        &protocol_mqtt,
        &protocol_nats,
        &protocol_websocket,
        NULL,
};

const Protocol *protocol_lookup(const char *name)
{
        for (guint i = 0; protocols[i]; i++)
                if (strcmp(protocols[i]->name, name) == 0)
                        return protocols[i];
        return strcmp(name, protocol_generic.name) == 0 ? &protocol_generic : NULL;
}
