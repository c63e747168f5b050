#include "sqlite/columns/table_choice.h"

#include "storage/snapshot/tree.h"

/* An index that is read in the place of a table of at least so many leaves has so many times fewer.
 */
enum { LEAST_LEAVES = 64, SMALLER = 2 };

/* Whether the index's b-tree is so much smaller than the table's that it is worth columns of its
   own. How large they are is a guess. */
static bool is_index_smaller(struct clr_column_request *request)
{
    struct clr_source *source = &request->snapshot.source;
    uint64_t of_table, of_index;

    if (clr_snapshot_open(request->database, &request->snapshot) != CLR_WHY_NONE)
        return false;
    source->is_index = request->own_table->without_rowid;
    if (!clr_tree_guess_leaves(source, request->own_table->root, &of_table))
        return false;
    source->is_index = true;
    return clr_tree_guess_leaves(source, request->index->root, &of_index) &&
           of_table >= LEAST_LEAVES && of_index <= of_table / SMALLER;
}

bool clr_table_choose_kept(struct clr_column_request *request, struct clr_known_file *file)
{
    if (request->index == NULL || clr_column_request_seems_kept(request, request->own_table, file))
        return true;
    if (!clr_column_request_seems_kept(request, request->index, file))
        return false;
    request->table = request->index;
    return true;
}

void clr_table_choose_smaller(struct clr_column_request *request)
{
    if (!clr_table_choose_kept(request, request->snapshot.known) && is_index_smaller(request))
        request->table = request->index;
    if (request->table == request->own_table)
        return;
    clr_cache_turn_back(&request->arrival);
    clr_column_request_arrive(request);
}
