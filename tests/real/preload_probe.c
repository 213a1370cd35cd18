/* In place of libdarshan.so in tests: when loaded, adds one line with the program's name to $PRELOAD_PROBE_LOG.
 * That is all one needs to see into which programs LD_PRELOAD brings a library. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void append(const char *path, const char *line, size_t length)
{
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (log < 0)
        return;
    /* One write of one short line: lines of several processes never mix. */
    ssize_t written = write(log, line, length);
    (void)written;
    close(log);
}

__attribute__((constructor)) static void on_load(void)
{
    char line[256];
    const char *path = getenv("PRELOAD_PROBE_LOG");
    if (path == NULL || *path == '\0')
        return;
    int length = snprintf(line, sizeof line, "%s\n", program_invocation_short_name);
    if (length > 0 && (size_t)length < sizeof line)
        append(path, line, (size_t)length);
}
