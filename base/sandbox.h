/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a process can still do while it parses the bytes of strangers. Whoever takes it over by a
 * fault of a parser can then open no other file, no socket, and start no program. Landlock bounds
 * the files if the kernel has it, and seccomp the system calls if ravel was built with libseccomp.
 */
#pragma once

#include <glib.h>

/* The rights to a path. */
typedef enum {
        SANDBOX_READ,    /* to read a file, or all files below a folder */
        SANDBOX_WRITE,   /* to write a file; to make, write, replace and remove those in a folder */
        SANDBOX_SCRATCH, /* both */
} SandboxAccess;

/* The list of system calls. */
typedef enum {
        SANDBOX_CAPTURE, /* files and packets of interfaces that are open */
        SANDBOX_FILES,   /* files and threads; waits for and ends one helper program */
        SANDBOX_DRAW,    /* like these, and loads libraries */
} SandboxKind;

typedef struct Sandbox Sandbox;

/* Nothing is allowed yet. */
Sandbox *sandbox_new(void);
void sandbox_free(Sandbox *sandbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sandbox, sandbox_free)

/* Allows a path; a link is the file that it names. Does nothing if there is no such file. */
void sandbox_allow(Sandbox *sandbox, const char *path, SandboxAccess access);

/* Leaves files to the user's rights: Landlock hides the descriptors of other processes in /proc. */
void sandbox_allow_all_files(Sandbox *sandbox);

/* Enters it for good: this thread, and all threads and programs that it starts. helper: the one
 * process that may be sent signals, or 0. Call it before threads start. A kernel without Landlock
 * or seccomp is no error. FALSE: error set. Takes less than a millisecond. */
gboolean sandbox_enter(Sandbox *sandbox, SandboxKind kind, GPid helper, GError **error);
