/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel-draw: reads requests from standard input (write/drawing.h) and answers them on
 * standard output, until the input ends. Only ravel and ravel-convolution start it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "config.h"
#include "draw/draw.h"

/* FALSE if the input ends before. */
static gboolean read_request_bytes(guint8 *to, gsize n)
{
        while (n > 0) {
                gssize received = read(STDIN_FILENO, to, n);

                if (received == 0 || (received < 0 && errno != EINTR))
                        return FALSE;
                to += MAX(received, 0);
                n -= (gsize)MAX(received, 0);
        }
        return TRUE;
}

static gboolean write_answer_bytes(const void *data, gsize n)
{
        for (const guint8 *from = data; n > 0;) {
                gssize sent = write(STDOUT_FILENO, from, n);

                if (sent < 0 && errno != EINTR)
                        return FALSE;
                from += MAX(sent, 0);
                n -= (gsize)MAX(sent, 0);
        }
        return TRUE;
}

/* Receives the steps of a request. Memory grows as bytes arrive, not by the announced number. */
static gboolean receive_steps(GByteArray *steps, guint64 n)
{
        enum { CHUNK = 1 << 20 };

        while (steps->len < n) {
                guint old = steps->len, more = (guint)MIN(n - old, CHUNK);

                g_byte_array_set_size(steps, old + more);
                if (!read_request_bytes(steps->data + old, more))
                        return FALSE;
        }
        return TRUE;
}

static gboolean send_answer(guint32 how, const void *data, gsize n)
{
        DrawFrame frame = { DRAW_MAGIC, how, n };

        return write_answer_bytes(&frame, sizeof frame) && write_answer_bytes(data, n);
}

/* Serves a request. FALSE if there are no more. */
static gboolean serve(Draw *draw)
{
        g_autoptr(GByteArray) steps = g_byte_array_new(), drawn = NULL;
        g_autoptr(GError) error = NULL;
        DrawFrame frame;

        if (!read_request_bytes((guint8 *)&frame, sizeof frame))
                return FALSE;
        if (frame.magic != DRAW_MAGIC || frame.what >= N_DRAW_KINDS || frame.n > G_MAXINT32) {
                fprintf(stderr,
                        "ravel-draw: found an invalid request (%08x, %u), expected one from ravel "
                        "of this version\n",
                        frame.magic, frame.what);
                return FALSE;
        }
        if (!receive_steps(steps, frame.n))
                return FALSE;
        drawn = draw_steps(draw, frame.what, steps->data, steps->len, &error);
        return drawn ? send_answer(DRAW_DONE, drawn->data, drawn->len)
                     : send_answer(DRAW_FAILED, error->message, strlen(error->message));
}

int main(int argc, char **argv)
{
        g_autoptr(Draw) draw = NULL;
        g_autoptr(Sandbox) sandbox = NULL;
        g_autoptr(GError) error = NULL;

        if (argc > 1 && !strcmp(argv[1], "--version")) {
                puts(PACKAGE_STRING);
                return 0;
        }
        if (argc > 1 || isatty(STDIN_FILENO)) {
                fputs("ravel-draw draws for ravel, which starts it: see ravel(1)\n", stderr);
                return 2;
        }
        sandbox = sandbox_new();
        sandbox_allow(sandbox, "/", SANDBOX_READ); /* plugins, fonts */
        if (!sandbox_enter(sandbox, SANDBOX_DRAW, 0, &error)) {
                fprintf(stderr, "ravel-draw: %s\n", error->message);
                return 2;
        }
        draw = draw_new();
        while (serve(draw))
                ;
        return 0;
}
