/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/metrics-server.h"

#include "base/error.h"
#include "config.h"

#if HAVE_MICROHTTPD
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
        CONNECTIONS = 16, /* at once */
        PATIENCE = 10,    /* seconds that a connection may be silent */
};

struct MetricsServer {
        struct MHD_Daemon *daemon;
        char *path; /* of the Unix socket; NULL: none */
        GMutex lock;
        GBytes *plain, *open; /* under lock */
};

/* --- sockets ------------------------------------------------------------------ */

/* Removes a socket that a watch has left. */
static void remove_dead_socket(const struct sockaddr_un *at)
{
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) < 0 &&
            errno == ECONNREFUSED)
                unlink(at->sun_path);
        if (fd >= 0)
                close(fd);
}

/* A socket that listens; -1 with errno set. */
static int listen_at(const struct sockaddr *at, socklen_t n)
{
        int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1, wrong;

        if (fd < 0)
                return -1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (bind(fd, at, n) == 0 && listen(fd, CONNECTIONS) == 0)
                return fd;
        wrong = errno;
        close(fd);
        errno = wrong;
        return -1;
}

static int listen_unix(const char *path, GError **error)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        int fd;

        if (!*path || strlen(path) >= sizeof at.sun_path) {
                ravel_fail(error, RAVEL_ERROR_USAGE,
                           "--metrics unix:%s: expected a path of 1 to %zu bytes", path,
                           sizeof at.sun_path - 1);
                return -1;
        }
        strcpy(at.sun_path, path);
        remove_dead_socket(&at);
        fd = listen_at((struct sockaddr *)&at, sizeof at);
        if (fd < 0)
                ravel_fail(error, RAVEL_ERROR_OUTPUT, "--metrics unix:%s: %s", path,
                           g_strerror(errno));
        return fd;
}

/* "[::1]:9464" in host and port; FALSE if it is not that. */
static gboolean split_address(const char *address, char **host, const char **port)
{
        const char *colon = strrchr(address, ':');
        gsize n = colon ? (gsize)(colon - address) : 0;

        if (n == 0 || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
                return FALSE;
        *port = colon + 1;
        *host = *address == '[' && colon[-1] == ']' ? g_strndup(address + 1, n - 2)
                                                    : g_strndup(address, n);
        return TRUE;
}

static gboolean is_loopback(const struct sockaddr *at)
{
        if (at->sa_family == AF_INET)
                return ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == 127;
        return at->sa_family == AF_INET6 &&
               IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)at)->sin6_addr);
}

static int listen_loopback(const char *address, GError **error)
{
        struct addrinfo like = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
        struct addrinfo *found = NULL;
        g_autofree char *host = NULL;
        const char *port;
        int fd = -1;

        if (!split_address(address, &host, &port) || getaddrinfo(host, port, &like, &found) != 0 ||
            !is_loopback(found->ai_addr))
                ravel_fail(error, RAVEL_ERROR_USAGE,
                           "--metrics %s: expected unix:PATH, or an address of this host alone, "
                           "such as 127.0.0.1:9464",
                           address);
        else if ((fd = listen_at(found->ai_addr, found->ai_addrlen)) < 0)
                ravel_fail(error, RAVEL_ERROR_OUTPUT, "--metrics %s: %s", address,
                           g_strerror(errno));
        if (found)
                freeaddrinfo(found);
        return fd;
}

/* --- answers -------------------------------------------------------------------- */

static void free_bytes(void *bytes)
{
        g_bytes_unref(bytes);
}

static enum MHD_Result send_bytes(struct MHD_Connection *connection, GBytes *bytes, guint status,
                                  const char *type)
{
        gsize n;
        const void *data = g_bytes_get_data(bytes, &n);
        struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
                n, (void *)data, free_bytes, bytes);
        enum MHD_Result result;

        if (!response) {
                g_bytes_unref(bytes);
                return MHD_NO;
        }
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        result = MHD_queue_response(connection, status, response);
        MHD_destroy_response(response);
        return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, guint status, const char *text)
{
        return send_bytes(connection, g_bytes_new_static(text, strlen(text)), status,
                          "text/plain; charset=utf-8");
}

/* In libmicrohttpd's thread. */
static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
        MetricsServer *s = data;
        const char *accept;
        gboolean open;
        GBytes *bytes;

        (void)version, (void)upload, (void)upload_size, (void)state;
        if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
                return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET /metrics\n");
        if (strcmp(url, "/metrics"))
                return send_text(connection, MHD_HTTP_NOT_FOUND, "GET /metrics\n");
        accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
        open = accept && strstr(accept, "application/openmetrics-text");
        g_mutex_lock(&s->lock);
        bytes = g_bytes_ref(open ? s->open : s->plain);
        g_mutex_unlock(&s->lock);
        return send_bytes(connection, bytes, MHD_HTTP_OK,
                          open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                               : "text/plain; version=0.0.4; charset=utf-8");
}

MetricsServer *metrics_server_new(const char *address, GError **error)
{
        const char *path = g_str_has_prefix(address, "unix:") ? address + 5 : NULL;
        int fd = path ? listen_unix(path, error) : listen_loopback(address, error);
        MetricsServer *s;

        if (fd < 0)
                return NULL;
        s = g_new0(MetricsServer, 1);
        g_mutex_init(&s->lock);
        s->path = g_strdup(path);
        s->plain = g_bytes_new(NULL, 0);
        s->open = g_bytes_new(NULL, 0);
        s->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, s,
                                     MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                                     CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE,
                                     MHD_OPTION_END);
        if (s->daemon)
                return s;
        close(fd);
        metrics_server_free(s);
        ravel_fail(error, RAVEL_ERROR_OUTPUT, "--metrics %s: cannot be served", address);
        return NULL;
}

void metrics_server_free(MetricsServer *s)
{
        if (!s)
                return;
        if (s->daemon)
                MHD_stop_daemon(s->daemon);
        if (s->path)
                unlink(s->path);
        g_bytes_unref(s->plain);
        g_bytes_unref(s->open);
        g_mutex_clear(&s->lock);
        g_free(s->path);
        g_free(s);
}

static void swap_text(GBytes **bytes, GString *text)
{
        g_bytes_unref(*bytes);
        *bytes = g_bytes_new(text->str, text->len);
        g_string_truncate(text, 0);
}

void metrics_server_put(MetricsServer *s, GString *plain, GString *open)
{
        g_mutex_lock(&s->lock);
        swap_text(&s->plain, plain);
        swap_text(&s->open, open);
        g_mutex_unlock(&s->lock);
}

#else

MetricsServer *metrics_server_new(const char *address, GError **error)
{
        ravel_fail(error, RAVEL_ERROR_USAGE,
                   "--metrics %s: this ravel was built without libmicrohttpd; --metrics-file works",
                   address);
        return NULL;
}

void metrics_server_free(MetricsServer *server)
{
        (void)server;
}

void metrics_server_put(MetricsServer *server, GString *plain, GString *open)
{
        (void)server, (void)plain, (void)open;
}
#endif
