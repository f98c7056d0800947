#include "base/tempfile.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_TEMPFILES 256

static char *volatile in_progress[MAX_TEMPFILES]; /* for tempfile_discard_all */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void tempfile_start(struct tempfile *t, const char *final_path)
{
    const char *slash = strrchr(final_path, '/');
    const char *name = slash ? slash + 1 : final_path;
    t->final_path = mem_strndup(final_path, strlen(final_path));
    t->path = mem_printf("%.*s.%s.%ld.part", (int)(name - final_path), final_path, name, (long)getpid());
    t->slot = -1;
    unlink(t->path);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_TEMPFILES && t->slot < 0; i++)
        if (!in_progress[i]) {
            in_progress[i] = t->path;
            t->slot = i;
        }
    pthread_mutex_unlock(&lock);
}

static void release(struct tempfile *t)
{
    pthread_mutex_lock(&lock);
    if (t->slot >= 0) in_progress[t->slot] = NULL;
    pthread_mutex_unlock(&lock);
    free(t->path);
    free(t->final_path);
    *t = (struct tempfile){0};
}

int tempfile_commit(struct tempfile *t, struct error *err)
{
    int failed = 0;
    if (rename(t->path, t->final_path)) {
        failed = error_set(err, "cannot create %s: %s", t->final_path, strerror(errno));
        unlink(t->path);
    }
    release(t);
    return failed;
}

void tempfile_discard(struct tempfile *t)
{
    if (!t->path) return;
    unlink(t->path);
    release(t);
}

void tempfile_discard_all(void)
{
    for (int i = 0; i < MAX_TEMPFILES; i++)
        if (in_progress[i]) unlink(in_progress[i]);
}
