#include "numeric/values/zones.h"

#include "base/memory.h"

static size_t find_size(size_t count)
{
    return sizeof(struct clr_zones) + (count + clr_zones_coarse(count)) * sizeof(struct clr_zone);
}

struct clr_zones *clr_zones_new(size_t rows)
{
    const size_t count = clr_zones_of(rows);
    struct clr_zones *zones = clr_memory_alloc(find_size(count));

    if (zones != NULL)
        zones->count = count;
    return zones;
}

void clr_zones_free(struct clr_zones *zones)
{
    clr_memory_free(zones);
}

size_t clr_zones_size(const struct clr_zones *zones)
{
    return zones == NULL ? 0 : find_size(zones->count);
}
