/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/service.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void service_notify(const char *state)
{
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        const char *name = g_getenv("NOTIFY_SOCKET");
        gsize n = name ? strlen(name) : 0;
        int fd;

        if (n == 0 || n >= sizeof to.sun_path)
                return;
        memcpy(to.sun_path, name, n);
        if (name[0] == '@') /* an abstract socket */
                to.sun_path[0] = 0;
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return;
        if (sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
                g_debug("NOTIFY_SOCKET: no answer");
        close(fd);
}
