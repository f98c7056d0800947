/* The metadata files of one directory, read leniently: a key may be missing or of another type than usual (numbers as
 * text, text as numbers); what cannot be understood has its default. */
#ifndef SESSION_METADATA_H
#define SESSION_METADATA_H

#include "session/session.h"

/* Tolerant access to keys of info.json and sample.json. `object` may be NULL; it is not touched. */
int64_t meta_i64(const json_t *object, const char *key, int64_t missing); /* text must be a number as a whole */
double meta_f64(const json_t *object, const char *key, double missing);
bool meta_on(const json_t *object, const char *key);                         /* "on" */
char *meta_text(const json_t *object, const char *key, const char *missing); /* free() it */

/* What host_start.log and dev_start.log say. */
struct start_log {
    bool found;       /* both clock_monotonic_raw and cntvct are there */
    int64_t mono_ns;  /* clock_monotonic_raw */
    uint64_t counter; /* cntvct */
    int64_t diff;     /* cntvct_diff, host ticks; 0 = none */
};

/* The files of a directory, before facts that its siblings know are filled in. */
struct metadata_files {
    json_t *info, *sample, *start, *end;    /* NULL = missing or unreadable; owned */
    struct start_log host_start, dev_start; /* host_start.log, dev_start.log */
};

/* Read the metadata files of directory `path` (`shown` in messages; device_id picks among several of a kind). Damaged
 * files are noted and treated as missing. */
void metadata_read(struct metadata_files *files, const char *path, const char *shown, bool is_host, uint16_t device_id,
                   struct diag *diag);
void metadata_files_free(struct metadata_files *files);

/* Fill *m. info, sample and start are what to use for this directory: its own files or a sibling's, NULL = none. *m
 * keeps references to info and sample. */
void metadata_fill(struct metadata *m, json_t *info, json_t *sample, const json_t *start, const json_t *end);
void metadata_free(struct metadata *m);

/* Frequencies in Hz, 0 = not given or not usable. */
uint64_t metadata_device_hz(const json_t *info); /* DeviceInfo[0].hwts_frequency */
uint64_t metadata_host_hz(const json_t *info);   /* last CPU[].Frequency; empty text -> 1000 MHz */

/* Does a start_info tell when the collection began? */
bool metadata_start_usable(const json_t *start);

/* Does a file of that name (info.json.0, start_info …) belong to a collection? Used to recognise directories. */
bool metadata_is_file(const char *name);

#endif
