/* What a load notes of the leaves that it decodes, for clr_refresh(). */
#ifndef CLR_STORAGE_LEAVES_H
#define CLR_STORAGE_LEAVES_H

#include "storage/load/layout.h"
#include "storage/load/units.h"

/* Makes units that have been found, and not run, note their leaves. Returns false without memory.
 */
bool clr_leaves_note(struct clr_units *units);

/*
 * Hands the notes over to the layout, when the units have run; extents are theirs. If it has leaves
 * already, these are the same ones, and only what was read of them beyond is new. Returns false
 * without memory, and then has changed nothing.
 */
bool clr_leaves_keep(struct clr_units *units, const struct clr_extent *extents,
                     struct clr_layout *layout);

#endif
