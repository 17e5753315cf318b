/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rights of root, which only opening interfaces and outputs needs. They are given up before any
 * input from strangers is read.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct {
        gboolean keep;  /* root's rights are kept */
        gboolean other; /* the process becomes another user */
        gboolean asked; /* the user was named */
        uid_t user;
        gid_t group;
        char *name;
} Rights;

/* Finds the user to become: `user`, if not NULL; "root" keeps all rights. Otherwise root becomes
 * the caller of sudo, the owner of the folder of output (NULL or "-": none), or nobody. FALSE and
 * error set if there is no such user. */
gboolean rights_find(Rights *rights, const char *user, const char *output, GError **error);
void rights_clear(Rights *rights);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rights, rights_clear)

/* Becomes this user, without other groups or capabilities, and without a way to get any by starting
 * programs. A namespace may lack the user. If nobody was named then, the user stays, and *why says
 * so; to be freed. Call it before threads start. FALSE: error set. */
gboolean rights_drop(const Rights *rights, char **why, GError **error);
