/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

enum { NOBODY = 65534 };

static void set_user(Rights *r, const struct passwd *user)
{
        r->other = user->pw_uid == 0 || getuid() != user->pw_uid || geteuid() != user->pw_uid;
        r->user = user->pw_uid;
        r->group = user->pw_gid ? user->pw_gid : NOBODY;
        r->name = g_strdup(user->pw_name);
}

/* Sets the user, which may have no name; group is used if the user has none. FALSE: it is root. */
static gboolean set_number(Rights *r, uid_t user, gid_t group)
{
        const struct passwd *known = getpwuid(user);
        if (user == 0)
                return FALSE;
        if (known) {
                set_user(r, known);
                return TRUE;
        }
        r->other = TRUE;
        r->user = user;
        r->group = group ? group : NOBODY;
        r->name = g_strdup_printf("%u", user);
        return TRUE;
}

/* The number in an environment variable; 0: none. */
static guint32 number_of_variable(const char *variable)
{
        guint64 number;
        const char *text = g_getenv(variable);
        return text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT32 - 1, &number, NULL)
                       ? (guint32)number
                       : 0;
}

static gboolean set_owner(Rights *r, const char *output)
{
        struct stat st;
        if (!output || strcmp(output, "-") == 0)
                return FALSE;
        g_autofree char *folder = g_path_get_dirname(output);
        return stat(folder, &st) == 0 && set_number(r, st.st_uid, st.st_gid);
}

gboolean rights_find(Rights *r, const char *user, const char *output, GError **error)
{
        const struct passwd *known = user ? getpwnam(user) : NULL;
        memset(r, 0, sizeof *r);
        if (user && !known)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-Z %s: there is no such user", user);
        if (user) {
                r->asked = TRUE;
                r->keep = known->pw_uid == 0;
                set_user(r, known);
                return TRUE;
        }
        if (geteuid() != 0 ||
            set_number(r, number_of_variable("SUDO_UID"), number_of_variable("SUDO_GID")) ||
            set_owner(r, output))
                return TRUE;
        if ((known = getpwnam("nobody")))
                set_user(r, known);
        else
                set_number(r, NOBODY, NOBODY);
        return TRUE;
}

void rights_clear(Rights *r)
{
        g_clear_pointer(&r->name, g_free);
}

static gboolean become(const Rights *r)
{
        return setgroups(0, NULL) == 0 && setresgid(r->group, r->group, r->group) == 0 &&
               setresuid(r->user, r->user, r->user) == 0;
}

static gboolean drop_capabilities(void)
{
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        return syscall(SYS_capset, &header, none) == 0 &&
               prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

gboolean rights_drop(const Rights *r, char **why, GError **error)
{
        *why = NULL;
        if (r->keep)
                return TRUE;
        if (r->other && !become(r)) {
                int code = errno;
                if (r->asked)
                        return ravel_fail(error, RAVEL_ERROR_USAGE,
                                          "-Z %s: cannot become that user: %s", r->name,
                                          g_strerror(code));
                *why = g_strdup_printf("cannot become %s (%s): going on as root, but without "
                                       "root's capabilities",
                                       r->name, g_strerror(code));
        }
        return drop_capabilities() ||
               ravel_fail(error, RAVEL_ERROR_USAGE, "cannot give up capabilities: %s",
                          g_strerror(errno));
}
