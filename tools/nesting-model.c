/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/nesting-report.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "nesting/models.h"
#include "tracefmt/output-file.h"

static GMappedFile *map_file(const char *path, GError **error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        GMappedFile *file = fd < 0 ? NULL : g_mapped_file_new_from_fd(fd, FALSE, NULL);

        if (!file)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot open: %s", path,
                            fd < 0 ? g_strerror(errno) : "expected a file");
        if (fd >= 0)
                close(fd);
        return file;
}

gboolean nesting_model_load(const char *path, NestingOptions *options, char **id, GError **error)
{
        g_autoptr(GMappedFile) file = map_file(path, error);
        g_autoptr(GError) wrong = NULL;
        const guint8 *data;
        gsize n;

        if (!file)
                return FALSE;
        data = (const guint8 *)g_mapped_file_get_contents(file);
        n = g_mapped_file_get_length(file);
        options->model = models_from_bytes(data, n, &wrong);
        if (!options->model)
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: %s", path, wrong->message);
        *id = models_id(data, n);
        return models_fit(options->model, options) ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s: learned with another --skew-window, --max-call or --no-fold: "
                          "expected the same",
                          path);
}

gboolean nesting_model_save(const char *path, Models *models, const char *trace, GError **error)
{
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(OutputFile) out = NULL;
        gconstpointer data;
        gsize n;

        g_free(models->trace);
        models->trace = g_path_get_basename(trace);
        bytes = models_to_bytes(models);
        data = g_bytes_get_data(bytes, &n);
        return (out = output_file_new(path, FALSE, error)) &&
               output_file_write(out, data, n, error) &&
               output_file_close(g_steal_pointer(&out), error);
}
