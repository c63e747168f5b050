#include "storage/load.h"

#include "base/memory.h"

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->offsets);
}

enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count,
                               struct clr_layout *layout, struct clr_column **columns,
                               const struct clr_watch *watch, struct clr_load_report *report,
                               struct clr_status *status)
{
    (void)source, (void)root, (void)fields, (void)count, (void)layout, (void)columns;
    (void)watch, (void)report, (void)status;
    return CLR_LOAD_UNSUPPORTED;
}
