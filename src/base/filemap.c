#include "base/filemap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int filemap_open(struct filemap *m, const char *path, struct error *err)
{
    *m = (struct filemap){0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) return error_set(err, "cannot open %s: %s", path, strerror(errno));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return error_set(err, "%s is not a regular file", path);
    }
    int failed = 0;
    if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            failed = error_set(err, "cannot map %s: %s", path, strerror(errno));
        } else {
            madvise(p, (size_t)st.st_size, MADV_SEQUENTIAL);
            m->data = p;
            m->size = (size_t)st.st_size;
        }
    }
    close(fd);
    return failed;
}

void filemap_close(struct filemap *m)
{
    if (m->data) munmap((void *)m->data, m->size);
    *m = (struct filemap){0};
}
