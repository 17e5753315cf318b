/* SPDX-License-Identifier: BSD-2-Clause
 *
 * usage COMMAND...: runs it with its output thrown away, and prints what it took:
 * CPU time (user and system, seconds) and memory (resident at most, KiB). Its exit
 * status is the command's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
        return t.tv_sec + t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
        struct rusage used;
        int status, null;
        pid_t child;

        if (argc < 2)
                return 2;
        if ((child = fork()) == 0) {
                null = open("/dev/null", O_WRONLY);
                dup2(null, STDOUT_FILENO);
                execvp(argv[1], argv + 1);
                perror(argv[1]);
                _exit(127);
        }
        if (child < 0 || wait4(child, &status, 0, &used) != child) {
                perror("usage");
                return 1;
        }
        printf("%.6f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
