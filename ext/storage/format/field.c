#include "storage/format/field.h"

#include "base/memory.h"
#include "storage/format/record.h"

#include <stddef.h>
#include <stdlib.h>

static int compare_wants(const void *a, const void *b)
{
    const struct clr_want *first = a, *second = b;

    return (first->index > second->index) - (first->index < second->index);
}

struct clr_want *clr_field_wants(const struct clr_field *fields, int count)
{
    struct clr_want *wants = clr_memory_alloc(((size_t)count + 1) * sizeof *wants);
    int i;

    if (wants == NULL)
        return NULL;
    for (i = 0; i < count; i++)
        wants[i] = (struct clr_want){.index = fields[i].index,
                                     .position = i,
                                     .is_real = fields[i].is_real,
                                     .with_bytes =
                                         fields[i].with_bytes && fields[i].index != CLR_FIELD_ROWID,
                                     .never_null = fields[i].never_null,
                                     .missing = fields[i].missing};
    qsort(wants, (size_t)count, sizeof *wants, compare_wants);
    return wants;
}
