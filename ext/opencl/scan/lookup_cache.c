#include "opencl/scan/lookup_cache.h"

#include "base/memory.h"
#include "numeric/scan/lookup_results.h"
#include "opencl/core/buffers.h"
#include "opencl/core/device_private.h"
#include "opencl/memory/upload.h"

#include <string.h>

/* What is kept beyond the lookups of one scan: so many bytes at most, and a part of the device's
   memory. */
enum { MOST_BYTES = 256 << 20, MEMORY_PART = 64 };

/* Results of so few entries are compared with those that are there: they are evaluated for each
   query, and mostly come to the same. */
enum { FEW_ENTRIES = 4096 };

static void drop(struct clr_kept_lookup *kept)
{
    clr_buffer_release(&kept->values);
    clr_buffer_release(&kept->tags);
    clr_lookup_results_release(kept->lookup.results);
    memset(kept, 0, sizeof *kept);
}

void clr_lookup_cache_clear(struct clr_lookup_cache *cache)
{
    int i;

    for (i = 0; i < CLR_MOST_LOOKUPS; i++)
        drop(&cache->kept[i]);
}

static bool is_same(const struct clr_lookup *a, const struct clr_lookup *b)
{
    if (a->results == b->results || a->count != b->count || a->count > FEW_ENTRIES)
        return a->results == b->results;
    return a->kind == b->kind && a->is_short == b->is_short &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0 &&
           memcmp(a->tags, b->tags, a->count) == 0;
}

static struct clr_kept_lookup *find(struct clr_lookup_cache *cache, const struct clr_lookup *lookup)
{
    int i;

    for (i = 0; i < CLR_MOST_LOOKUPS; i++) {
        struct clr_kept_lookup *kept = &cache->kept[i];
        if (kept->lookup.results != NULL && is_same(&kept->lookup, lookup))
            return kept;
    }
    return NULL;
}

/* Returns a place for results of that size; what has not been used for longest makes room. There
   are as many places as a scan has lookups. */
static struct clr_kept_lookup *make_place(struct clr_lookup_cache *cache,
                                          const struct clr_device *device, size_t size)
{
    const uint64_t part = device->info.memory / MEMORY_PART;
    const size_t most = part < MOST_BYTES ? (size_t)part : (size_t)MOST_BYTES;
    struct clr_kept_lookup *empty, *oldest;
    size_t sum;
    int i;

    for (;;) {
        empty = oldest = NULL;
        sum = size;
        for (i = 0; i < CLR_MOST_LOOKUPS; i++) {
            struct clr_kept_lookup *kept = &cache->kept[i];
            sum += kept->size;
            if (kept->lookup.results == NULL)
                empty = kept;
            else if (kept->used != cache->scan && (oldest == NULL || kept->used < oldest->used))
                oldest = kept;
        }
        if (oldest == NULL || (empty != NULL && sum <= most))
            return empty;
        drop(oldest);
    }
}

/* Sends the values as bytes. */
static enum clr_code send_short(struct clr_upload *upload, cl_command_queue queue,
                                const struct clr_kept_lookup *kept, struct clr_status *status)
{
    const struct clr_lookup *lookup = &kept->lookup;
    int8_t *bytes = clr_memory_alloc(lookup->count);
    uint32_t i;

    if (bytes == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a lookup");
    for (i = 0; i < lookup->count; i++)
        bytes[i] = (int8_t)lookup->values[i];
    clr_upload_send(upload, queue, kept->values, 0, bytes, lookup->count, status);
    clr_memory_free(bytes);
    return status->code;
}

static enum clr_code send(struct clr_device *device, cl_command_queue queue,
                          struct clr_kept_lookup *kept, struct clr_status *status)
{
    const struct clr_lookup *lookup = &kept->lookup;
    const size_t value_size = lookup->is_short ? 1 : sizeof *lookup->values;
    const bool has_tags = lookup->kind == CLR_TAG_MIXED;
    const struct clr_wanted_buffer wanted[] = {
        {&kept->values, CL_MEM_READ_ONLY, lookup->count * value_size},
        {&kept->tags, CL_MEM_READ_ONLY, lookup->count},
    };
    struct clr_upload *upload;

    if (clr_upload_open(device, status) != CLR_OK ||
        clr_buffers_make(device->context, wanted, has_tags ? 2 : 1, status) != CLR_OK)
        return status->code;
    upload = clr_upload_of(device);
    if (lookup->is_short)
        send_short(upload, queue, kept, status);
    else
        clr_upload_send(upload, queue, kept->values, 0, lookup->values, lookup->count * value_size,
                        status);
    if (status->code == CLR_OK && has_tags)
        clr_upload_send(upload, queue, kept->tags, 0, lookup->tags, lookup->count, status);
    return status->code;
}

static enum clr_code bring(struct clr_lookup_cache *cache, struct clr_device *device,
                           cl_command_queue queue, const struct clr_lookup *lookup,
                           const struct clr_kept_lookup **found, struct clr_status *status)
{
    const bool has_values = clr_kind_has_values(lookup->kind);
    const size_t entry_size =
        (lookup->is_short ? 1 : sizeof *lookup->values) + (lookup->kind == CLR_TAG_MIXED);
    const size_t size = has_values ? lookup->count * entry_size : 0;
    struct clr_kept_lookup *kept = find(cache, lookup);

    if (kept == NULL) {
        kept = make_place(cache, device, size);
        kept->lookup = *lookup;
        clr_lookup_results_retain(lookup->results);
        kept->size = size;
        if (has_values && send(device, queue, kept, status) != CLR_OK) {
            /* What lies on a device that has failed is left there. */
            if (clr_device_unless_lost(device, status) == NULL)
                kept->values = kept->tags = NULL;
            drop(kept);
            return status->code;
        }
    }
    kept->used = cache->scan;
    *found = kept;
    return CLR_OK;
}

enum clr_code clr_lookup_cache_bring(struct clr_lookup_cache *cache, struct clr_device *device,
                                     cl_command_queue queue, const struct clr_scan *scan,
                                     const struct clr_kept_lookup *found[CLR_MOST_LOOKUPS],
                                     struct clr_status *status)
{
    int i;

    cache->scan++;
    for (i = 0; i < scan->lookup_count && status->code == CLR_OK; i++)
        bring(cache, device, queue, &scan->lookups[i], &found[i], status);
    return status->code;
}
