#include "storage/format/shape.h"

#include "base/memory.h"

enum { HEADER_BYTES = sizeof(struct clr_header), LONGEST_HEADER = 127 };

/* What is in a slot that is free: it allows no size of a payload in a page. */
static const struct clr_shape no_shape = {.least = UINT32_MAX};

bool clr_shapes_init(struct clr_shapes *shapes, const struct clr_field *fields, int count,
                     uint32_t most)
{
    int last = count > 0 ? fields[count - 1].index : CLR_FIELD_ROWID;
    size_t i;

    *shapes = (struct clr_shapes){.fields = fields, .count = count, .most = most};
    shapes->shapes = clr_memory_alloc(CLR_SHAPES * sizeof *shapes->shapes);
    shapes->places = clr_memory_alloc(((size_t)count + 1) * CLR_SHAPES * sizeof *shapes->places);
    if (shapes->shapes == NULL || shapes->places == NULL)
        return false;
    for (i = 0; i < CLR_SHAPES; i++)
        shapes->shapes[i] = no_shape;
    if (last + 2 <= HEADER_BYTES)
        memset(&shapes->mask, 0xff, (size_t)(last + 2));
    return true;
}

void clr_shapes_free(struct clr_shapes *shapes)
{
    clr_memory_free(shapes->shapes);
    clr_memory_free(shapes->places);
}

void clr_shapes_learn(struct clr_shapes *shapes, const unsigned char *payload)
{
    const struct clr_header header = clr_shapes_header(payload, shapes->mask);
    uint32_t header_size = payload[0], end = header_size, slot = clr_shapes_slot(header);
    struct clr_shape shape = {.header = header};
    int i, index = -1; /* of the column that ends at end */
    struct clr_place place = {0};

    shapes->shapes[slot] = no_shape;
    if (shapes->mask.first == 0 || header_size < 2 || header_size > LONGEST_HEADER)
        return;
    for (i = 0; i < shapes->count; i++) {
        int wanted = shapes->fields[i].index;

        if (wanted != CLR_FIELD_ROWID && (uint32_t)wanted + 2 > header_size)
            return;
        for (; index < wanted; index++) {
            place = (struct clr_place){.at = (uint16_t)end, .type = payload[index + 2]};
            end += clr_serial_sizes[place.type];
            if (end > shapes->most)
                return;
        }
        shapes->places[(size_t)i * CLR_SHAPES + slot] = place;
    }
    /* What the header's last serial type is of has to end with the payload. */
    shape.least = end;
    if (index < 0 || (uint32_t)index + 2 < header_size)
        shape.range = shapes->most - end;
    shapes->shapes[slot] = shape;
    shapes->slot = slot;
}
