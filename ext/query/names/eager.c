#include "query/names/names.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"

/* Which tables an expression reads outside of aggregates, as bits: those whose rows are kept, and
   the last one of the join, whose rows are grouped. */
enum { READS_KEPT = 1, READS_GROUPED = 2, READS_UNKNOWN = 4 };

static int last_table(const struct clr_binder *binder)
{
    return binder->from->source_count - 1;
}

/* ---- What names mean. */

/* Returns the table that has a column, or -1: none has it, or several. Nothing is noted in the
   node, which is looked up among the tables of the groups later. */
static int find_table(const struct clr_binder *binder, const struct clr_node *node,
                      const struct clr_known_column **column)
{
    int source;

    *column = clr_tables_find(binder, node, &source);
    return source - 1;
}

/* takes_items: a name that is none of the tables' may be an item's. */
static unsigned find_reads(const struct clr_binder *binder, const struct clr_node *node,
                           bool takes_items)
{
    const struct clr_known_column *column;
    const struct clr_node *child;
    unsigned reads = 0;
    int table;

    switch (node->kind) {
    case CLR_N_AGGREGATE:
        return 0;
    case CLR_N_COLUMN:
        table = find_table(binder, node, &column);
        child = takes_items && table < 0 ? clr_syntax_find_item(binder->syntax, node) : NULL;
        if (child != NULL)
            return find_reads(binder, child->first, false);
        /* With its schema it means no table that has an alias. */
        return table < 0 || node->name_count > 2 ? READS_UNKNOWN
               : table == last_table(binder)     ? READS_GROUPED
                                                 : READS_KEPT;
    case CLR_N_FUNCTION:
        reads = node->is_deterministic ? 0 : READS_UNKNOWN;
        break;
    case CLR_N_COLLATE:
    case CLR_N_SUBQUERY:
    case CLR_N_STAR:
    case CLR_N_WINDOW:
        return READS_UNKNOWN;
    default:
        break;
    }
    for (child = node->first; child != NULL; child = child->next)
        reads |= find_reads(binder, child, takes_items);
    return reads;
}

/* Whether an expression reads none but those tables. */
static bool reads_alone(const struct clr_binder *binder, const struct clr_node *node,
                        unsigned reads)
{
    return node == NULL || (find_reads(binder, node, false) & ~reads) == 0;
}

/* Returns the table that is kept and whose INTEGER PRIMARY KEY, or rowid, an expression is: no two
   of its rows have the same one, and none has NULL. -1: it is none. */
static int find_keyed(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_known_column *column;
    int table;

    if (node->kind != CLR_N_COLUMN || node->name_count > 2)
        return -1;
    table = find_table(binder, node, &column);
    return table < 0 || table == last_table(binder) ||
                   !clr_known_is_rowid(&binder->environment->tables[table], column)
               ? -1
               : table;
}

/* Whether a column of the other table is unique: then that is a dimension. */
static bool is_unique(const struct clr_binder *binder, const struct clr_known_column *column)
{
    const struct clr_known_table *grouped = &binder->environment->tables[last_table(binder)];
    int i = 0;

    while (i < grouped->key_count &&
           (grouped->keys[i].count > 1 || grouped->keys[i].columns[0] != column->number))
        i++;
    return i < grouped->key_count;
}

/* Whether an expression is a column of the other table of which values that are equal to an INTEGER
   are that INTEGER, in several rows. */
static bool has_integers(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_known_column *column;

    return node->kind == CLR_N_COLUMN && node->name_count <= 2 &&
           find_table(binder, node, &column) == last_table(binder) && column->is_numeric &&
           !column->is_real && column->is_binary && !is_unique(binder, column);
}

/* ---- What the SELECT is. */

/* Whether a term of ON says that the key of groups is equal to a column of the other table, which
   is noted. */
static bool take_equal(const struct clr_binder *binder, struct clr_node *term,
                       struct clr_eager *eager)
{
    struct clr_node *side;

    if (eager->key != NULL || term->kind != CLR_N_FOLD || term->opcode != CLR_OP_EQUAL)
        return false;
    for (side = term->first; side != NULL && eager->key == NULL; side = side->next) {
        struct clr_node *other = side == term->first ? side->next : term->first;

        if (find_keyed(binder, side) == eager->keyed && has_integers(binder, other)) {
            eager->key = side;
            eager->other = other;
        }
    }
    return eager->key != NULL;
}

/* Takes the terms of ON: one joins by the key, and each other one reads the tables that are kept,
   or the last one. */
static bool take_on(struct clr_binder *binder, struct clr_node *node, struct clr_eager *eager)
{
    struct clr_query *query = binder->query;
    struct clr_node *child = node->first;
    unsigned reads;

    if (clr_node_is_and(node)) {
        while (child != NULL && take_on(binder, child, eager))
            child = child->next;
        return child == NULL;
    }
    if (take_equal(binder, node, eager))
        return true;
    if (query->condition_count == CLR_MOST_CONDITIONS || eager->term_count == CLR_MOST_CONDITIONS)
        return false;
    reads = find_reads(binder, node, false);
    if (reads == READS_GROUPED)
        query->conditions[query->condition_count++] = node;
    else
        eager->terms[eager->term_count++] = node;
    return reads == READS_GROUPED || (reads & ~(unsigned)READS_KEPT) == 0;
}

/* Whether an aggregate follows from rows that are grouped alone, in whatever order. */
static bool is_of_groups(const struct clr_binder *binder, const struct clr_node *call)
{
    const struct clr_node *child;

    for (child = call->first; child != NULL; child = child->next) {
        if (!reads_alone(binder, child, READS_GROUPED))
            return false;
    }
    return reads_alone(binder, call->filter, READS_GROUPED) &&
           call->aggregate->needs != CLR_NEEDS_VALUES &&
           !clr_aggregate_gives_json(call->aggregate, call->form);
}

/* Whether a term of ORDER BY means an item, by its number or its name. */
static bool means_item(const struct clr_binder *binder, const struct clr_node *term)
{
    return term->first->kind == CLR_N_LITERAL ||
           clr_syntax_find_item(binder->syntax, term->first) != NULL;
}

/* Whether all columns in an expression are of tables in a set. */
static bool is_of(const struct clr_binder *binder, const struct clr_node *node, unsigned tables)
{
    const struct clr_known_column *column;
    const struct clr_node *child;
    int table = node->kind == CLR_N_COLUMN ? find_table(binder, node, &column) : 0;

    if (node->kind == CLR_N_COLUMN)
        return table >= 0 && (tables >> table & 1) != 0;
    for (child = node->first; child != NULL; child = child->next) {
        if (!is_of(binder, child, tables))
            return false;
    }
    return true;
}

/* Whether a condition finds one row at most of a table for a row of others: it says that the
   table's key is equal to what is of these. */
static bool finds_row(const struct clr_binder *binder, const struct clr_node *node, int table,
                      unsigned others)
{
    const struct clr_node *child;

    if (node == NULL || node->kind != CLR_N_FOLD)
        return false;
    if (node->opcode == CLR_OP_EQUAL)
        return (find_keyed(binder, node->first) == table &&
                is_of(binder, node->first->next, others)) ||
               (find_keyed(binder, node->first->next) == table &&
                is_of(binder, node->first, others));
    child = clr_node_is_and(node) ? node->first : NULL;
    while (child != NULL && !finds_row(binder, child, table, others))
        child = child->next;
    return child != NULL;
}

/* Whether each row of a table has one row at most of each other table that is kept. */
static bool leads_to_all(const struct clr_binder *binder, int table)
{
    const struct clr_from_table *sources = binder->from->sources;
    unsigned known = 1u << table, before = 0;
    int i;

    while (known != before) {
        before = known;
        for (i = 0; i < last_table(binder); i++) {
            if (finds_row(binder, sources[i].on, i, known) ||
                finds_row(binder, binder->from->where, i, known))
                known |= 1u << i;
        }
    }
    return known == (1u << last_table(binder)) - 1;
}

/* Returns what a term of GROUP BY means: an item's expression, by its number or its name. */
static const struct clr_node *find_meant(const struct clr_binder *binder,
                                         const struct clr_node *term)
{
    const struct clr_node *node = term->first, *item = NULL;
    const struct clr_known_column *column;

    if (node->kind == CLR_N_LITERAL)
        item = clr_syntax_find_numbered(binder->syntax, node);
    else if (node->kind != CLR_N_COLUMN || find_table(binder, node, &column) < 0)
        item = clr_syntax_find_item(binder->syntax, node);
    return item == NULL ? node : item->first;
}

/* Whether groups are told apart by a key first, in whose order they come, and each is one row of
   the tables that are kept. Stores the table that has the key. */
static bool groups_by_key(const struct clr_binder *binder, int *keyed)
{
    const struct clr_node *term = binder->from->keys.first;

    *keyed = term == NULL ? -1 : find_keyed(binder, find_meant(binder, term));
    if (*keyed < 0 || binder->from->sources[*keyed].is_left || !leads_to_all(binder, *keyed))
        return false;
    while (term != NULL && reads_alone(binder, find_meant(binder, term), READS_KEPT))
        term = term->next;
    return term == NULL;
}

/* Whether a star stands for the columns of a table that is kept. */
static bool is_kept_star(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_token *name = &node->names[0];
    int i = 0;

    if (node->kind != CLR_N_STAR || name->kind == 0)
        return false;
    while (i < last_table(binder) &&
           !clr_name_equal(name->name, clr_from_name(&binder->from->sources[i])->name))
        i++;
    return i < last_table(binder);
}

/* Whether all that the SELECT gives follows from rows that are kept, and from aggregates. */
static bool follows(const struct clr_binder *binder)
{
    const struct clr_select_tree *select = binder->from;
    const struct clr_node *node;

    for (node = select->items.first; node != NULL; node = node->next) {
        if (!is_kept_star(binder, node->first) && !reads_alone(binder, node->first, READS_KEPT))
            return false;
    }
    for (node = select->terms.first; node != NULL; node = node->next) {
        if (!means_item(binder, node) && !reads_alone(binder, node->first, READS_KEPT))
            return false;
    }
    for (node = binder->syntax->aggregates.first; node != NULL; node = node->listed) {
        if (!is_of_groups(binder, node))
            return false;
    }
    return binder->syntax->aggregates.first != NULL &&
           reads_alone(binder, select->where, READS_KEPT) &&
           (select->having == NULL ||
            (find_reads(binder, select->having, true) & ~(unsigned)READS_KEPT) == 0);
}

/* Whether it is a SELECT from tables, the last one of which LEFT JOIN adds, as its text tells. */
static bool is_outer_join(const struct clr_binder *binder)
{
    const struct clr_select_tree *select = binder->from;
    const struct clr_from_table *last = &select->sources[last_table(binder)];
    int i = 0;

    while (i < last_table(binder) && select->sources[i].inner == NULL &&
           reads_alone(binder, select->sources[i].on, READS_KEPT))
        i++;
    return i > 0 && i == last_table(binder) && select == &binder->syntax->select &&
           last->inner == NULL && last->is_left && last->on != NULL && !select->distinct &&
           binder->syntax->subqueries.first == NULL && !clr_syntax_has_window(binder->syntax);
}

/* Whether ORDER BY has the key of groups. */
static bool orders_by_key(const struct clr_binder *binder, const struct clr_eager *eager)
{
    const struct clr_node *term = binder->from->terms.first;

    while (term != NULL &&
           (means_item(binder, term) || find_keyed(binder, term->first) != eager->keyed))
        term = term->next;
    return term != NULL;
}

/* Makes the tree the SELECT of the groups. Returns false without memory. */
static bool make_select(struct clr_binder *binder, struct clr_eager *eager)
{
    struct clr_select_tree *select = &binder->syntax->select;
    struct clr_node *term = clr_syntax_node(binder->syntax, CLR_N_TERM, NULL,
                                            (struct clr_list){eager->other, eager->other});

    eager->whole = clr_memory_alloc(sizeof *eager->whole);
    if (term == NULL || eager->whole == NULL)
        return clr_syntax_no_memory(binder->syntax) >= 0;
    eager->is_ordered = orders_by_key(binder, eager);
    *eager->whole = *select;
    select->items = select->terms = (struct clr_list){NULL, NULL};
    select->keys = (struct clr_list){term, term};
    select->where = select->having = select->limit = select->offset = NULL;
    select->sources[0] = eager->whole->sources[eager->whole->source_count - 1];
    select->sources[0].on = NULL;
    select->sources[0].is_left = false;
    select->source_count = 1;
    return true;
}

bool clr_eager_find(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    struct clr_eager *eager;
    int keyed;

    if (!is_outer_join(binder) || !groups_by_key(binder, &keyed) || !follows(binder))
        return false;
    eager = clr_memory_alloc_zero(sizeof *eager);
    if (eager == NULL)
        return clr_syntax_no_memory(binder->syntax) >= 0;
    eager->keyed = keyed;
    if (!take_on(binder, binder->from->sources[last_table(binder)].on, eager) ||
        eager->key == NULL || !make_select(binder, eager)) {
        query->condition_count = 0;
        clr_memory_free(eager->whole);
        clr_memory_free(eager);
        return false;
    }
    query->eager = eager;
    query->may_find_rows = query->may_find_extremes = false;
    return true;
}
