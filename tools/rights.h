/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Root's rights, which only opening interfaces and outputs needs. They are given up before
 * anything that strangers sent is looked at.
 */
#ifndef RAVEL_RIGHTS_H
#define RAVEL_RIGHTS_H

#include <glib.h>
#include <sys/types.h>

typedef struct {
        gboolean keep;  /* root's rights are kept */
        gboolean other; /* another user is to be */
        gboolean asked; /* by name */
        uid_t user;
        gid_t group;
        char *name;
} Rights;

/* Whom to become: user where it is not NULL, and "root" keeps all rights; else, as root, who
 * called sudo, else the owner of the folder of output (NULL or "-": none), else nobody. FALSE and
 * error set where there is no such user. */
gboolean rights_find(Rights *rights, const char *user, const char *output, GError **error);
void rights_clear(Rights *rights);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rights, rights_clear)

/* Becomes that user, without other groups, capabilities, or a way to get any by starting
 * programs. In a namespace that has nobody else, and where none was asked for, the user stays who
 * it is, and *why says so, to be freed. Before there are threads. FALSE: error set. */
gboolean rights_drop(const Rights *rights, char **why, GError **error);

#endif
