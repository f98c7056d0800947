/* Typed growable arrays.
 *
 *     ARRAY(struct api) apis = {0};
 *     array_reserve(&apis, 1000);
 *     struct api *a = array_add(&apis);      // uninitialised slot at the end
 *     for (size_t i = 0; i < apis.n; i++) use(&apis.at[i]);
 *     array_free(&apis);
 *
 * Pointers into an array are good until the next array_add. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdlib.h>

#include "base/mem.h"

#define ARRAY(T)                                                                                                       \
    struct {                                                                                                           \
        T *at;                                                                                                         \
        size_t n;                                                                                                      \
        size_t room;                                                                                                   \
    }

/* The next capacity for an array that must hold `need` elements and has room for `room`. */
static inline size_t array_room(size_t room, size_t need)
{
    size_t bigger = room + room / 2 + 16;
    return bigger > need ? bigger : need;
}

#define array_reserve(a, count)                                                                                        \
    do {                                                                                                               \
        size_t want_ = (count);                                                                                        \
        if ((a)->room < want_) {                                                                                       \
            (a)->at = mem_resize((a)->at, want_, sizeof *(a)->at);                                                     \
            (a)->room = want_;                                                                                         \
        }                                                                                                              \
    } while (0)

#define array_add(a)                                                                                                   \
    (((a)->n == (a)->room ? (void)((a)->room = array_room((a)->room, (a)->n + 1),                                      \
                                   (a)->at = mem_resize((a)->at, (a)->room, sizeof *(a)->at))                          \
                          : (void)0),                                                                                  \
     &(a)->at[(a)->n++])

#define array_push(a, value) ((void)(*array_add(a) = (value)))

/* Give unused room back. */
#define array_trim(a)                                                                                                  \
    do {                                                                                                               \
        if ((a)->n < (a)->room && (a)->n) {                                                                            \
            (a)->at = mem_resize((a)->at, (a)->n, sizeof *(a)->at);                                                    \
            (a)->room = (a)->n;                                                                                        \
        }                                                                                                              \
    } while (0)

#define array_free(a)                                                                                                  \
    do {                                                                                                               \
        free((a)->at);                                                                                                 \
        (a)->at = NULL;                                                                                                \
        (a)->n = (a)->room = 0;                                                                                        \
    } while (0)

#endif
