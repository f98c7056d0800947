/* Samples of CCU channels: ccu?.stat, 2816 bytes with 128 channels, each five 32-bit words: time (low, high), average,
 * least and greatest delay. Channels do not follow each other directly: see `channel_word`. */
#include "base/sort.h"
#include "decode/records.h"
#include "metrics/ccu.h"

#define STAT_RECORD 2816u
#define CHANNELS    128u

enum { WORD_TIME_LOW, WORD_TIME_HIGH, WORD_AVERAGE, WORD_MIN, WORD_MAX, CHANNEL_WORDS };

/* Ten groups of twelve channels, nine spare words apart; then two groups of four whose first channel comes later. */
static unsigned channel_word(unsigned channel)
{
    if (channel < 120) return channel / 12 * 64 + channel % 12 * 5;
    unsigned group = (channel - 120) / 4, member = (channel - 120) % 4;
    return 640 + group * 32 + (member ? 11 + (member - 1) * 5 : 6);
}

static_assert(704 * 4 == STAT_RECORD, "the words of a record");

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct ccu_channels *c = context;
    for (unsigned channel = 0; channel < CHANNELS; channel++) {
        const uint8_t *w = record + channel_word(channel) * 4;
        uint64_t time = (uint64_t)get_u32(w + WORD_TIME_HIGH * 4) << 32 | get_u32(w + WORD_TIME_LOW * 4);
        if (!time) continue;
        array_push(&c->samples, ((struct ccu_sample){
                                    .time = time,
                                    .channel = channel,
                                    .max = get_u32(w + WORD_MAX * 4),
                                    .min = get_u32(w + WORD_MIN * 4),
                                    .average = get_u32(w + WORD_AVERAGE * 4),
                                }));
    }
}

static void index_samples(struct ccu_channels *c)
{
    size_t n = c->samples.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){c->samples.at[i].time, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = c->samples.at[order[i].index].channel;
    sort_keys(order, n);
    uint32_t greatest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t average = c->samples.at[order[i].index].average;
        if (!i || order[i].key != order[i - 1].key || average > greatest) greatest = average;
        array_push(&c->by_channel, order[i].index);
        array_push(&c->greatest, greatest);
    }
    free(order);
}

void ccu_load_channels(struct ccu_channels *c, const struct metric_source *from)
{
    records_each(prof_dir_files(from->dir, INPUT_CCU_STAT), STAT_RECORD, NULL, from->diag, from->progress, visit, c);
    index_samples(c);
}

uint32_t ccu_delay_before(const struct ccu_channels *c, uint16_t channel, uint64_t time)
{
    size_t low = 0, high = c->by_channel.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct ccu_sample *s = &c->samples.at[c->by_channel.at[mid]];
        if (s->channel < channel || (s->channel == channel && s->time < time)) low = mid + 1;
        else high = mid;
    }
    if (!low || c->samples.at[c->by_channel.at[low - 1]].channel != channel) return 0;
    return c->greatest.at[low - 1];
}

void ccu_free_channels(struct ccu_channels *c)
{
    array_free(&c->samples);
    array_free(&c->by_channel);
    array_free(&c->greatest);
}
