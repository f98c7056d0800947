/* Formats, data types and shapes are joined by ';', the dimensions of a shape by ','; a scalar has an empty shape. */
#include "host/tensors.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "host/names.h"

#define FORMAT_UNDEFINED UINT32_MAX

typedef ARRAY(char) text;

static void put(text *t, const char *s, size_t n)
{
    if (t->room < t->n + n) array_reserve(t, array_room(t->room, t->n + n));
    memcpy(t->at + t->n, s, n);
    t->n += n;
}

static void put_z(text *t, const char *s)
{
    put(t, s, strlen(s));
}

static void put_number(text *t, uint64_t value)
{
    char buf[FORMAT_U64];
    put(t, buf, (size_t)(format_u64(buf, value) - buf));
}

/* Captured operators know two formats by their newer names. */
static const char *format_name(uint32_t base, enum tensor_style style)
{
    static const char *const captured[] = {[45] = "NYUV", [46] = "NYUV_A"};
    if (style == TENSORS_CAPTURED && base < sizeof captured / sizeof *captured && captured[base]) return captured[base];
    return ge_format_name(base);
}

/* Bits 0-7 are the format, 8-23 a sub-format (0 = none). */
static void put_format(text *t, uint32_t word, enum tensor_style style)
{
    uint32_t base = word & 0xFF, sub = (word & 0xFFFF00) >> 8;
    const char *name = format_name(base, style);
    if (word == FORMAT_UNDEFINED) {
        put_z(t, "UNDEFINED");
        return;
    }
    if (!name && style == TENSORS_CAPTURED) {
        put_number(t, word);
        return;
    }
    if (name) put_z(t, name);
    else put_number(t, base);
    if (sub) {
        put(t, ":", 1);
        put_number(t, sub);
    }
}

static void put_type(text *t, uint32_t type, enum tensor_style style)
{
    const char *name = ge_data_type_name(type);
    if (name) put_z(t, name);
    else if (style == TENSORS_CAPTURED) put_z(t, "UNDEFINED");
    else put_number(t, type);
}

static void put_shape(text *t, const uint32_t shape[TENSOR_DIMS], enum tensor_style style)
{
    bool any = false;
    for (int i = 0; i < TENSOR_DIMS; i++) {
        if (!shape[i]) {
            if (style == TENSORS_LAUNCHED) return;
            continue;
        }
        if (any) put(t, ",", 1);
        put_number(t, shape[i]);
        any = true;
    }
}

struct tensor_texts tensors_none(void)
{
    struct tensor_texts none = {0};
    for (int s = 0; s < TENSOR_SIDES; s++) none.side[s].formats = none.side[s].types = none.side[s].shapes = STR_NA;
    return none;
}

struct tensor_texts tensors_describe(struct strpool *strings, const void *tensors, size_t n, enum tensor_style style)
{
    struct tensor_texts d = tensors_none();
    text formats = {0}, types = {0}, shapes = {0};
    d.count = (uint32_t)n;
    for (uint32_t side = 0; side < TENSOR_SIDES; side++) {
        formats.n = types.n = shapes.n = 0;
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            struct tensor_record r;
            uint32_t shape[TENSOR_DIMS];
            memcpy(&r, (const char *)tensors + i * sizeof r, sizeof r);
            if (r.kind != side) continue;
            memcpy(shape, r.shape, sizeof shape);
            if (any) {
                put(&formats, ";", 1);
                put(&types, ";", 1);
                put(&shapes, ";", 1);
            }
            put_format(&formats, r.format, style);
            put_type(&types, r.data_type, style);
            put_shape(&shapes, shape, style);
            any = true;
        }
        if (!any) continue;
        d.present[side] = true;
        d.side[side].formats = strpool_add(strings, formats.at, formats.n);
        d.side[side].types = strpool_add(strings, types.at, types.n);
        d.side[side].shapes = shapes.n ? strpool_add(strings, shapes.at, shapes.n) : STR_EMPTY;
    }
    array_free(&formats);
    array_free(&types);
    array_free(&shapes);
    return d;
}
