#include "metrics/queue_waits.h"

#include "decode/aicpu_records.h"

#define NODE   "GetNext_dequeue_wait"
#define PIECES 8

struct queue_wait queue_wait_of(const uint8_t *record)
{
    struct aicpu_queue_record q;
    memcpy(&q, record, sizeof q);
    return (struct queue_wait){
        .node = {NODE, q.tag == 1 ? sizeof NODE - 1 : 0},
        .start_us = q.start_us,
        .end_us = q.end_us,
        .queue_size = q.queue_size,
    };
}

static bool parse(struct text_field text, struct queue_wait *w)
{
    struct text_field pieces[PIECES];
    size_t n = text_split_at(text, ',', pieces, PIECES);
    if (n < 4 || n > PIECES) return false;
    w->node = text_value(pieces[0]);
    return text_u64(text_value(pieces[1]), &w->queue_size) && text_u64(text_value(pieces[2]), &w->start_us) &&
           text_u64(text_value(pieces[3]), &w->end_us);
}

struct reader {
    void (*visit)(const struct queue_wait *w, void *context);
    void *context;
    struct diag *diag;
};

static void read_text(struct text_field text, const struct record_place *place, void *context)
{
    const struct reader *r = context;
    struct queue_wait w;
    if (parse(text, &w)) r->visit(&w, r->context);
    else diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset, "text not understood");
}

void queue_texts_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                      void (*visit)(const struct queue_wait *w, void *context), void *context)
{
    struct reader r = {visit, context, diag};
    texts_each(files, diag, progress, read_text, &r);
}
