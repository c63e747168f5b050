#include "opencl/scan/row_programs.h"

#include "base/memory.h"

#include <string.h>

/* ---- Lookups. */

/* What is kept beyond the lookups of one scan: so many bytes at most, and a part of the device's
   memory. */
enum { MOST_BYTES = 256 << 20, MEMORY_PART = 64 };

/* Results of so few entries are compared with those that are there: they are evaluated for each
   query, and mostly come to the same. */
enum { FEW_ENTRIES = 4096 };

static void drop_lookup(struct clr_kept_lookup *kept)
{
    clr_buffer_release(&kept->values);
    clr_buffer_release(&kept->tags);
    clr_buffer_release(&kept->truths);
    clr_lookup_results_release(kept->lookup.results);
    memset(kept, 0, sizeof *kept);
}

void clr_lookup_cache_clear(struct clr_lookup_cache *cache)
{
    int i;

    for (i = 0; i < CLR_MOST_LOOKUPS; i++)
        drop_lookup(&cache->kept[i]);
}

static bool is_same(const struct clr_kept_lookup *kept, const struct clr_lookup *lookup)
{
    const struct clr_lookup *other = &kept->lookup;

    if (kept->id == lookup->results->id)
        return true;
    return other->results != NULL && other->count == lookup->count && other->kind == lookup->kind &&
           other->is_short == lookup->is_short &&
           memcmp(other->values, lookup->values, lookup->count * sizeof *lookup->values) == 0 &&
           memcmp(other->tags, lookup->tags, lookup->count) == 0;
}

static struct clr_kept_lookup *find_lookup(struct clr_lookup_cache *cache,
                                           const struct clr_lookup *lookup)
{
    int i;

    for (i = 0; i < CLR_MOST_LOOKUPS; i++) {
        if (cache->kept[i].id != 0 && is_same(&cache->kept[i], lookup))
            return &cache->kept[i];
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
            if (kept->id == 0)
                empty = kept;
            else if (kept->used != cache->scan && (oldest == NULL || kept->used < oldest->used))
                oldest = kept;
        }
        if (oldest == NULL || (empty != NULL && sum <= most))
            return empty;
        drop_lookup(oldest);
    }
}

/* Sends the values as bytes. */
static enum clr_code send_short(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                                const struct clr_lookup *lookup, struct clr_status *status)
{
    int8_t *bytes = clr_memory_alloc(lookup->count);
    uint32_t i;

    if (bytes == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a lookup");
    for (i = 0; i < lookup->count; i++)
        bytes[i] = (int8_t)lookup->values[i];
    clr_upload_send(upload, queue, buffer, 0, bytes, lookup->count, status);
    clr_memory_free(bytes);
    return status->code;
}

/* Returns the bytes of a lookup's truths. */
static size_t truths_size(const struct clr_lookup *lookup)
{
    return (lookup->count / 32 + (size_t)1) * sizeof *lookup->truths;
}

static enum clr_code send(struct clr_device *device, cl_command_queue queue,
                          const struct clr_lookup *lookup, struct clr_kept_lookup *kept,
                          struct clr_status *status)
{
    const size_t values_size = lookup->count * (lookup->is_short ? 1 : sizeof *lookup->values);
    const bool has_tags = lookup->kind == CLR_TAG_MIXED;
    const struct clr_wanted_buffer wanted[] = {
        {&kept->values, CL_MEM_READ_ONLY, values_size},
        {&kept->truths, CL_MEM_READ_ONLY, truths_size(lookup)},
        {&kept->tags, CL_MEM_READ_ONLY, lookup->count},
    };
    struct clr_upload *upload = clr_upload_open(device, status);

    if (upload == NULL ||
        clr_buffers_make(device->context, wanted, has_tags ? 3 : 2, status) != CLR_OK)
        return status->code;
    if (lookup->is_short)
        send_short(upload, queue, kept->values, lookup, status);
    else
        clr_upload_send(upload, queue, kept->values, 0, lookup->values, values_size, status);
    if (status->code == CLR_OK)
        clr_upload_send(upload, queue, kept->truths, 0, lookup->truths, truths_size(lookup),
                        status);
    if (status->code == CLR_OK && has_tags)
        clr_upload_send(upload, queue, kept->tags, 0, lookup->tags, lookup->count, status);
    return status->code;
}

/* Returns the bytes that a lookup takes there. */
static size_t size_of(const struct clr_lookup *lookup)
{
    const size_t value_size = lookup->is_short ? 1 : sizeof *lookup->values;

    return clr_kind_has_values(lookup->kind)
               ? lookup->count * (value_size + (lookup->kind == CLR_TAG_MIXED)) +
                     truths_size(lookup)
               : 0;
}

static enum clr_code bring(struct clr_lookup_cache *cache, struct clr_device *device,
                           cl_command_queue queue, const struct clr_lookup *lookup,
                           const struct clr_kept_lookup **found, struct clr_device_work *work,
                           struct clr_status *status)
{
    const size_t size = size_of(lookup);
    struct clr_kept_lookup *kept = find_lookup(cache, lookup);

    if (kept == NULL) {
        kept = make_place(cache, device, size);
        if (size > 0 && send(device, queue, lookup, kept, status) != CLR_OK) {
            /* What lies on a device that has failed is left there. */
            if (clr_device_unless_lost(device, status) == NULL)
                kept->values = kept->tags = kept->truths = NULL;
            drop_lookup(kept);
            return status->code;
        }
        kept->id = lookup->results->id;
        kept->size = size;
        work->bytes += (int64_t)size;
        if (lookup->count <= FEW_ENTRIES) {
            kept->lookup = *lookup;
            clr_lookup_results_retain(lookup->results);
        }
    }
    kept->used = cache->scan;
    *found = kept;
    return CLR_OK;
}

enum clr_code clr_lookup_cache_bring(struct clr_lookup_cache *cache, struct clr_device *device,
                                     cl_command_queue queue, const struct clr_scan *scan,
                                     const struct clr_kept_lookup *found[CLR_MOST_LOOKUPS],
                                     struct clr_device_work *work, struct clr_status *status)
{
    int i;

    cache->scan++;
    for (i = 0; i < scan->lookup_count && status->code == CLR_OK; i++)
        bring(cache, device, queue, &scan->lookups[i], &found[i], work, status);
    return status->code;
}

/* ---- Arguments. */

/* Finds the words of a column that are within the bounds that the filter has for it. Returns
   whether there are any. */
static bool find_words(const struct clr_scan *scan, int number,
                       const struct clr_resident_column *column, cl_uint *least, cl_uint *more)
{
    const struct clr_frame *frame = &column->frame;
    const uint64_t most = UINT32_MAX >> (32 - 8 * frame->bytes);
    int64_t from, to;
    uint64_t last;

    *least = *more = 0;
    clr_terms_bound(scan, number, frame->power, &from, &to);
    if (from < frame->least)
        from = frame->least;
    if (from > to || (uint64_t)from - (uint64_t)frame->least > most)
        return false;
    last = (uint64_t)to - (uint64_t)frame->least;
    *least = (cl_uint)((uint64_t)from - (uint64_t)frame->least);
    *more = (cl_uint)(last < most ? last : most) - *least;
    return true;
}

cl_uint clr_row_arguments_list(const struct clr_row_arguments *arguments,
                               const struct clr_scan *scan,
                               struct clr_resident_column *const *columns,
                               const struct clr_kept_lookup *const *lookups,
                               struct clr_row_bounds *bounds, struct clr_argument *list)
{
    cl_uint count = 0;
    int i;

    for (i = 0; i < arguments->column_count; i++) {
        const struct clr_resident_column *column = columns[arguments->columns[i]];
        list[count++] = CLR_VALUE(column->values);
        if (clr_kind_wide(column->kind) == CLR_TAG_MIXED)
            list[count++] = CLR_VALUE(column->tags);
        if (clr_kind_narrow_bytes(column->kind) > 0)
            list[count++] = CLR_VALUE(column->frame.least);
        if (clr_kind_has_decimals(column->kind)) {
            list[count++] = CLR_VALUE(column->power);
            list[count++] = CLR_VALUE(column->reciprocal);
        }
    }
    for (i = 0; i < arguments->lookup_count; i++) {
        const struct clr_kept_lookup *kept = lookups[arguments->lookups[i]];
        list[count++] = CLR_VALUE(kept->values);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            list[count++] = CLR_VALUE(kept->tags);
    }
    for (i = 0; i < arguments->constant_count; i++)
        list[count++] = CLR_VALUE(scan->constants[arguments->constants[i]].bits);
    for (i = 0; i < arguments->truth_count; i++)
        list[count++] = CLR_VALUE(lookups[arguments->truths[i]]->truths);
    bounds->any = 1;
    for (i = 0; i < arguments->bound_count; i++) {
        const int column = arguments->bounds[i];
        cl_uint *least = &bounds->columns[i].least, *more = &bounds->columns[i].more;
        bounds->any &= find_words(scan, column, columns[column], least, more);
        list[count++] = CLR_VALUE(*least);
        list[count++] = CLR_VALUE(*more);
    }
    if (arguments->bound_count > 0)
        list[count++] = CLR_VALUE(bounds->any);
    return count;
}

/* ---- Programs. */

static void drop(struct clr_row_programs *programs, struct clr_row_program **program)
{
    if (*program == NULL)
        return;
    programs->kind->release(*program);
    clr_memory_free((*program)->trial);
    clr_memory_free((*program)->key);
    clr_memory_free(*program);
    *program = NULL;
}

void *clr_row_programs_open(struct clr_device *device, const struct clr_row_programs_kind *kind,
                            struct clr_status *status)
{
    struct clr_row_programs *programs = clr_device_find(device, &kind->part);

    if (programs != NULL) {
        *status = programs->status;
        return status->code == CLR_OK ? programs : NULL;
    }
    programs = clr_device_attach(device, &kind->part, status);
    if (programs == NULL)
        return NULL;
    programs->kind = kind;
    programs->kept_from = UINT64_MAX;
    if (clr_queue_make(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE,
                       &programs->queue, status) == CLR_OK &&
        kind->make != NULL)
        kind->make(device, programs, status);
    if (status->code == CLR_OK)
        return programs;
    clr_device_detach(device, &programs->attachment); /* the next one tries again */
    return NULL;
}

void clr_row_programs_close(struct clr_row_programs *programs)
{
    int i;

    for (i = 0; i < CLR_ROW_PROGRAMS; i++)
        drop(programs, &programs->programs[i]);
    clr_lookup_cache_clear(&programs->lookup_cache);
    clr_queue_release(programs->queue);
}

struct clr_row_program *clr_row_programs_find(struct clr_row_programs *programs,
                                              const struct clr_row_key *key)
{
    int i;

    for (i = 0; i < CLR_ROW_PROGRAMS; i++) {
        struct clr_row_program *program = programs->programs[i];
        if (program != NULL && program->key_length == key->length &&
            memcmp(program->key, key->words, key->length * sizeof *key->words) == 0) {
            program->used = programs->scan;
            return program;
        }
    }
    return NULL;
}

/* Returns the place that is empty, or whose program has not been used for longest. */
static int find_place(const struct clr_row_programs *programs)
{
    int i, place = 0;

    for (i = 1; i < CLR_ROW_PROGRAMS && programs->programs[place] != NULL; i++) {
        const struct clr_row_program *other = programs->programs[i];
        if (other == NULL || other->used < programs->programs[place]->used)
            place = i;
    }
    return place;
}

struct clr_row_program *clr_row_programs_add(struct clr_row_programs *programs, size_t size,
                                             void *trial, const struct clr_row_key *key,
                                             struct clr_status *status)
{
    struct clr_row_program **place = &programs->programs[find_place(programs)];
    const bool has_room = *place == NULL || (*place)->used < programs->kept_from;
    struct clr_row_program *program = has_room ? clr_memory_alloc_zero(size) : NULL;
    int16_t *words = has_room ? clr_memory_alloc(key->length * sizeof *words) : NULL;

    if (program == NULL || words == NULL || trial == NULL) {
        if (has_room)
            clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", programs->kind->part.what);
        clr_memory_free(trial);
        clr_memory_free(words);
        clr_memory_free(program);
        return NULL;
    }
    memcpy(words, key->words, key->length * sizeof *words);
    program->phase = CLR_ROW_PROGRAM_REQUESTED;
    program->used = programs->scan;
    program->key_length = key->length;
    program->key = words;
    program->trial = trial;
    drop(programs, place);
    *place = program;
    return program;
}

/* Returns the place of a program that is to be built, or NULL. */
static struct clr_row_program **find_requested(struct clr_row_programs *programs)
{
    int i;

    for (i = 0; i < CLR_ROW_PROGRAMS; i++)
        if (programs->programs[i] != NULL &&
            programs->programs[i]->phase == CLR_ROW_PROGRAM_REQUESTED)
            return &programs->programs[i];
    return NULL;
}

bool clr_row_programs_build(struct clr_device *device, struct clr_device_part *attachment,
                            char **log, struct clr_status *status)
{
    struct clr_row_programs *programs = (struct clr_row_programs *)(void *)attachment;
    const struct clr_row_programs_kind *kind = programs->kind;
    struct clr_row_program **place = find_requested(programs), *program;

    if (programs->status.code != CLR_OK || place == NULL)
        return false;
    program = *place;
    if (kind->compile(device, program, log, status) == CLR_OK) {
        kind->test(device, program, status);
        if (clr_device_unless_lost(device, status) == NULL) {
            programs->status = *status;
            return true;
        }
        /* The trial's lookups are of no more use. */
        clr_lookup_cache_clear(&programs->lookup_cache);
    }
    program->phase = status->code == CLR_OK ? CLR_ROW_PROGRAM_BUILT : CLR_ROW_PROGRAM_UNBUILDABLE;
    clr_memory_free(program->trial);
    program->trial = NULL;
    if (status->code == CLR_NOMEM)
        drop(programs, place);
    else if (status->code != CLR_OK)
        kind->release(program);
    return true;
}
