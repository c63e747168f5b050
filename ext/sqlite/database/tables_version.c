#include "sqlite/database/tables_version.h"

#include "storage/snapshot/tree.h"

void clr_tables_version_forget(struct clr_tables_version *version)
{
    clr_page_set_free(version->pages);
    version->pages = NULL;
    version->is_known = false;
}

/* Whether none of the tables' pages has changed. */
static bool are_unchanged(const struct clr_tables_version *version, struct clr_database *database,
                          struct clr_snapshot *snapshot, const struct clr_watch *watch)
{
    struct clr_page_set *changes = clr_snapshot_changes(database, snapshot, &version->token, watch);
    const bool unchanged = changes != NULL && !clr_page_set_meets(version->pages, changes);

    clr_page_set_free(changes);
    return unchanged;
}

/* Returns the pages of the tables, to be freed with clr_page_set_free(), or NULL if not all are
   known. */
static struct clr_page_set *find_pages(const struct clr_snapshot *snapshot,
                                       const struct clr_table_root *roots, int count, size_t most,
                                       const struct clr_watch *watch)
{
    struct clr_source source = snapshot->source;
    struct clr_pages pages = {
        .source = &source, .visited = clr_page_set_new(source.page_count), .watch = watch};
    enum clr_load_outcome outcome = pages.visited == NULL ? CLR_LOAD_FAILED : CLR_LOAD_DONE;
    int i;

    for (i = 0; i < count && outcome == CLR_LOAD_DONE; i++) {
        if (clr_page_set_has(pages.visited, roots[i].page))
            continue; /* the same table twice */
        source.is_index = roots[i].is_index;
        outcome = clr_tree_pages(&pages, roots[i].page, most);
    }
    if (outcome == CLR_LOAD_DONE)
        return pages.visited;
    clr_page_set_free(pages.visited);
    return NULL;
}

void clr_tables_version_renew(struct clr_tables_version *version, struct clr_database *database,
                              struct clr_snapshot *snapshot, unsigned data_version,
                              const struct clr_table_root *roots, int count, size_t most,
                              const struct clr_watch *watch)
{
    if (version->is_known && version->data_version == data_version)
        return;
    if (snapshot != NULL &&
        (!snapshot->is_wal || clr_snapshot_open(database, snapshot, watch) != CLR_WHY_NONE))
        snapshot = NULL;
    if (!version->is_known || version->pages == NULL || snapshot == NULL ||
        !are_unchanged(version, database, snapshot, watch)) {
        clr_tables_version_forget(version);
        version->number++;
        if (snapshot != NULL)
            version->pages = find_pages(snapshot, roots, count, most, watch);
    }
    version->is_known = true;
    version->data_version = data_version;
    if (version->pages != NULL)
        version->token = snapshot->token;
}
