/* Records that say how long they are: a stream of packets, each with its length in bytes in a 16-bit word. */
#ifndef DECODE_PACKETS_H
#define DECODE_PACKETS_H

#include "decode/records.h"

/* A whole packet of `size` bytes; it is there during its visit only. */
typedef void (*packet_visit)(const uint8_t *packet, size_t size, const struct record_place *place, void *context);

/* Visit every packet of `files` in order; one may straddle slices. The length is at offset `length_at` and covers the
 * packet from its first byte; a length that does not cover itself ends the file, since what follows cannot be found.
 * What is cut or lost goes to `diag`; progress (may be NULL) advances by bytes. */
void packets_each(const struct input_files *files, size_t length_at, struct diag *diag, struct progress *progress,
                  packet_visit visit, void *context);

#endif
