#include "query/names/tables.h"

#include "query/syntax/word.h"

#include <string.h>

bool clr_tables_name_rowid(const char *name)
{
    int i;

    for (i = 0; i < CLR_ROWID_NAMES; i++) {
        if (clr_name_equal(name, clr_rowid_names[i]))
            return true;
    }
    return false;
}

const struct clr_known_column *clr_tables_column(const struct clr_known_table *table,
                                                 const char *name)
{
    int i;

    for (i = 0; i < table->column_count; i++) {
        const struct clr_known_column *column = &table->columns[i];

        if (column->is_rowid ? clr_tables_name_rowid(name) : clr_name_equal(column->name, name))
            return column;
    }
    return NULL;
}

const struct clr_known_column *clr_tables_number(const struct clr_binder *binder, int number)
{
    static const struct clr_known_column composite = {.name = CLR_ROW_KEY, .number = -1};
    const struct clr_known_column *column = clr_tables_fact(binder)->columns;

    if (number >= CLR_COMPOSITE)
        return &composite;
    while (column->number != number)
        column++;
    return column;
}

const char *clr_tables_rowid(const struct clr_known_table *table)
{
    int i;

    for (i = 0; i < CLR_ROWID_NAMES; i++) {
        const struct clr_known_column *known = clr_tables_column(table, clr_rowid_names[i]);

        if (known != NULL && known->is_rowid)
            return clr_rowid_names[i];
    }
    return NULL;
}

bool clr_tables_have(const struct clr_binder *binder, const char *name)
{
    int i;

    for (i = 0; i < binder->from->source_count; i++) {
        if (clr_tables_column(&binder->environment->tables[i], name) != NULL)
            return true;
    }
    return false;
}

int clr_tables_refuse_join(struct clr_binder *binder, int source)
{
    const struct clr_from_table *table = &binder->from->sources[source];

    return clr_refuse_name(binder->syntax, CLR_WHY_JOIN_KEY,
                           table->alias.kind != 0   ? table->alias.name
                           : table->table.kind != 0 ? table->table.name
                                                    : clr_from_leaf(table)->table.name);
}

int clr_tables_part(const struct clr_dimension *dimension, const struct clr_node *node)
{
    int i = dimension->part_count - 1;

    while (i >= 0 && dimension->parts[i] != node)
        i--;
    return i;
}

bool clr_tables_has_part(const struct clr_dimension *dimension, const struct clr_node *term)
{
    return term->kind == CLR_N_FOLD && term->opcode == CLR_OP_EQUAL &&
           (clr_tables_part(dimension, term->first) >= 0 ||
            clr_tables_part(dimension, term->first->next) >= 0);
}

int clr_tables_dimension(const struct clr_query *query, int source)
{
    int i = query->dimension_count;

    while (i > 0 && query->dimensions[i - 1].source != source)
        i--;
    return i;
}

/* Whether a column's qualifier, all but the last of its names, means a table of FROM; schema: that
   of tables whose own is not named, or NULL. */
static bool qualifies(const struct clr_from_table *source, const char *schema,
                      const struct clr_node *node)
{
    const struct clr_token *alias = clr_from_name(source);
    const struct clr_token *names = node->names;

    if (source->schema.kind != 0)
        schema = source->schema.name;
    if (node->name_count == 1)
        return true;
    if (node->name_count == 2)
        return alias->kind != 0 && clr_name_equal(names[0].name, alias->name);
    return source->alias.kind == 0 && source->inner == NULL && schema != NULL &&
           clr_name_equal(names[0].name, schema) &&
           clr_name_equal(names[1].name, source->table.name);
}

/* Whether USING joins a table by a column of that name: a name without a table's means the column
   of the first table that has it. */
static bool is_common(const struct clr_from_table *source, const char *name)
{
    const struct clr_node *node = source->common.first;

    while (node != NULL && !clr_name_equal(node->names[0].name, name))
        node = node->next;
    return node != NULL;
}

const struct clr_known_column *clr_tables_find(const struct clr_binder *binder,
                                               const struct clr_node *node, int *source)
{
    const struct clr_select_tree *from = binder->from;
    const struct clr_known_table *tables = binder->environment->tables;
    const char *name = node->names[node->name_count - 1].name;
    const struct clr_known_column *found = NULL, *known;
    int i;

    *source = node->source;
    if (node->source != 0)
        return clr_tables_column(&tables[node->source - 1], name);
    for (i = 0; i < from->source_count && !node->is_hidden; i++) {
        known = qualifies(&from->sources[i], tables[i].schema, node)
                    ? clr_tables_column(&tables[i], name)
                    : NULL;
        if (known == NULL || (found != NULL && is_common(&from->sources[i], name)))
            continue;
        if (found != NULL || (known->is_rowid && node->name_count == 1 && from->source_count > 1)) {
            *source = 0;
            return NULL;
        }
        found = known;
        *source = i + 1;
    }
    return found;
}

/* ---- Which item of a subquery has a name. */

/* UNKNOWN: there may be one, but SQLite does not say what it calls some of the items. */
enum finding { FINDING_NONE, FINDING_UNKNOWN, FINDING_COLUMN, FINDING_ITEM };

static const char *last_name(const struct clr_node *column)
{
    return column->names[column->name_count - 1].name;
}

/* Returns what SQLite calls an item that is a column, or has AS; else NULL. */
static const char *find_name(const struct clr_binder *binder, const struct clr_node *item)
{
    struct clr_node *x = item->first;
    const struct clr_known_column *known;

    if (item->names[0].kind != 0)
        return item->names[0].name;
    if (x->written != NULL)
        return last_name(x->written);
    if (x->kind != CLR_N_COLUMN)
        return NULL;
    known = clr_tables_find(binder, x, &x->source);
    return known == NULL || known->is_rowid ? NULL : last_name(x);
}

/* Whether SQLite may call a rowid that: as it is written, in a subquery; in a view as the INTEGER
   PRIMARY KEY, or "rowid". */
static bool may_name_rowid(const struct clr_binder *binder, const struct clr_node *x,
                           const char *name)
{
    const struct clr_known_table *table = &binder->environment->tables[x->source - 1];
    const struct clr_known_column *key = &table->columns[table->rowid];

    return clr_tables_name_rowid(name) || (!key->is_rowid && clr_name_equal(key->name, name));
}

/* Whether an item for which SQLite makes up a name, mostly of its text, may have this one. */
static bool may_have_name(const struct clr_binder *binder, const struct clr_node *x,
                          const char *name)
{
    if (x->kind == CLR_N_COLUMN)
        return x->source == 0 || may_name_rowid(binder, x, name);
    return x->kind == CLR_N_LITERAL || x->kind == CLR_N_HINT || x->kind == CLR_N_COLLATE ||
           *clr_word_end(name) != '\0';
}

static enum finding find_item(const struct clr_binder *binder, const struct clr_select_tree *tree,
                              int *place, const char *name, const struct clr_node **found);

/* Finds the column of something in FROM that leads to the table with a place from 1; 0: to all that
   are joined, of which the place of one is stored. */
static enum finding find_column(const struct clr_binder *binder,
                                const struct clr_from_table *source, int *place, const char *name,
                                const struct clr_node **found)
{
    if (source->inner != NULL)
        return find_item(binder, source->inner, place, name, found);
    return clr_tables_column(&binder->environment->tables[*place - 1], name) != NULL
               ? FINDING_COLUMN
               : FINDING_NONE;
}

/* Whether a star stands for the columns of a table. */
static bool has_columns(const struct clr_node *star, const struct clr_select_tree *tree,
                        const struct clr_from_table *source)
{
    const struct clr_token *name = clr_from_name(source);

    return star->names[0].kind == 0 || tree->source_count == 1 ||
           (name->kind != 0 && clr_name_equal(star->names[0].name, name->name));
}

/* All columns are those of the tables without their rowids. */
static enum finding find_in_star(const struct clr_binder *binder, const struct clr_node *star,
                                 const struct clr_select_tree *tree, int *place, const char *name,
                                 const struct clr_node **found)
{
    enum finding finding = FINDING_NONE;
    int i;

    for (i = 0; i < tree->source_count && finding == FINDING_NONE; i++) {
        int at = tree == binder->from ? i + 1 : *place;

        if (!has_columns(star, tree, &tree->sources[i]))
            continue;
        finding = find_column(binder, &tree->sources[i], &at, name, found);
        if (finding == FINDING_COLUMN &&
            clr_tables_column(&binder->environment->tables[at - 1], name)->is_rowid)
            finding = FINDING_NONE;
        if (finding != FINDING_NONE)
            *place = at;
    }
    return finding;
}

/* Finds the item of a subquery that a name outside of it means: of several the first, as SQLite
   gives others another name, which has a colon. */
static enum finding find_item(const struct clr_binder *binder, const struct clr_select_tree *tree,
                              int *place, const char *name, const struct clr_node **found)
{
    const struct clr_node *item;
    enum finding finding = strchr(name, ':') != NULL ? FINDING_UNKNOWN : FINDING_NONE;

    for (item = tree->items.first; item != NULL && finding == FINDING_NONE; item = item->next) {
        const char *own = item->first->kind == CLR_N_STAR ? NULL : find_name(binder, item);

        if (item->first->kind == CLR_N_STAR) {
            finding = find_in_star(binder, item->first, tree, place, name, found);
        } else if (own == NULL) {
            finding = may_have_name(binder, item->first, name) ? FINDING_UNKNOWN : FINDING_NONE;
        } else if (clr_name_equal(own, name)) {
            *found = item;
            finding = FINDING_ITEM;
        }
    }
    return finding;
}

/* ---- Names that become what they mean. */

/* Makes the node of a name what an item is. */
static void substitute(struct clr_syntax *syntax, struct clr_node *node, const struct clr_node *x)
{
    struct clr_node *written =
        clr_syntax_node(syntax, CLR_N_COLUMN, NULL, (struct clr_list){NULL, NULL});
    struct clr_node result = *x;

    if (written == NULL)
        return;
    memcpy(written->names, node->names, sizeof written->names);
    written->name_count = node->name_count;
    written->is_enclosed = node->is_enclosed;
    written->at = node->at;
    result.next = node->next;
    result.allocated = node->allocated;
    result.listed = node->listed;
    result.at = node->at;
    result.is_ordering = node->is_ordering;
    result.is_enclosed = true;
    result.written = written;
    *node = result;
}

/* Whether an expression may be another number as a column of rows that SQLite keeps, which have its
   affinity: -10 for -10.0. Values of other affinities are of their type already. */
static bool may_change(const struct clr_node *node)
{
    while (node->kind == CLR_N_COLLATE)
        node = node->first;
    return node->kind == CLR_N_CAST && node->cast == CLR_CAST_TO_NUMERIC;
}

/* Has a name mean what was found of a source. In a row that LEFT JOIN has found nothing for,
   columns are NULL, and no other expressions are. */
static void take(struct clr_binder *binder, struct clr_node *node,
                 const struct clr_from_table *source, int place, const struct clr_node *found)
{
    if (found == NULL)
        node->source = place;
    else if (source->is_left && found->first->kind != CLR_N_COLUMN)
        clr_refuse(binder->syntax, CLR_WHY_LEFT_EXPRESSION);
    else if (may_change(found->first))
        clr_refuse(binder->syntax, CLR_WHY_INNER_NUMERIC);
    else
        substitute(binder->syntax, node, found->first);
}

bool clr_merge_column(struct clr_binder *binder, struct clr_node *node, int source)
{
    const struct clr_from_table *table = &binder->from->sources[source];
    const struct clr_node *found = NULL;
    int place = source + 1;

    if (find_column(binder, table, &place, last_name(node), &found) < FINDING_COLUMN)
        return false;
    take(binder, node, table, place, found);
    return binder->syntax->code == CLR_OK;
}

/* Whether a name is a rowid's that may be that of several tables. */
static bool is_any_rowid(const struct clr_binder *binder, const struct clr_select_tree *tree,
                         const struct clr_node *node, int place)
{
    return node->name_count == 1 && tree->source_count > 1 &&
           clr_tables_column(&binder->environment->tables[place - 1], last_name(node))->is_rowid;
}

/* Finds out what a name in a SELECT means. inner: the place from 1 of the table that it leads to,
   or 0. */
static void resolve(struct clr_binder *binder, const struct clr_select_tree *tree, int inner,
                    struct clr_node *node)
{
    const char *name = last_name(node);
    const struct clr_node *item = NULL, *found;
    int place = 0, source = -1, i;

    for (i = 0; i < tree->source_count && !node->is_hidden; i++) {
        int at = inner == 0 && tree == binder->from ? i + 1 : inner;
        const char *schema = at == 0 ? NULL : binder->environment->tables[at - 1].schema;
        enum finding finding = FINDING_NONE;

        found = NULL;
        if (qualifies(&tree->sources[i], schema, node))
            finding = find_column(binder, &tree->sources[i], &at, name, &found);
        if (finding == FINDING_NONE ||
            (finding >= FINDING_COLUMN && source >= 0 && is_common(&tree->sources[i], name)))
            continue;
        node->is_hidden = finding == FINDING_UNKNOWN || source >= 0 ||
                          (finding == FINDING_COLUMN && is_any_rowid(binder, tree, node, at));
        place = at;
        source = i;
        item = found;
    }
    node->is_hidden = node->is_hidden || source < 0;
    if (!node->is_hidden)
        take(binder, node, &tree->sources[source], place, item);
}

/* Resolves all names in a SELECT and in those that it reads. Returns false once it has failed. */
static bool resolve_all(struct clr_binder *binder, const struct clr_select_tree *tree, int inner)
{
    struct clr_node *node;
    int i;

    if (tree->source_count > 1 && tree != binder->from)
        return clr_refuse(binder->syntax, CLR_WHY_SUBQUERY) >= 0;
    for (i = 0; i < tree->source_count; i++) {
        if (tree->sources[i].inner != NULL &&
            !resolve_all(binder, tree->sources[i].inner,
                         inner == 0 && tree == binder->from ? i + 1 : inner))
            return false;
    }
    for (node = binder->syntax->nodes; node != NULL && binder->syntax->code == CLR_OK;
         node = node->allocated) {
        if (node->kind == CLR_N_COLUMN && node->at == tree)
            resolve(binder, tree, inner, node);
    }
    return binder->syntax->code == CLR_OK;
}

/* Whether a subquery calls no aggregate that is none of those known here: it has one row then, also
   where nothing reads what is computed. */
static bool check_calls(struct clr_binder *binder, const struct clr_select_tree *select)
{
    const struct clr_node *node = binder->syntax->functions.first;

    while (node != NULL &&
           (node->at == select || node->kind != CLR_N_FUNCTION || node->is_deterministic))
        node = node->listed;
    return node == NULL ||
           clr_refuse_name(binder->syntax, CLR_WHY_NOT_DETERMINISTIC, node->names[0].name) >= 0;
}

bool clr_merge_all(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;

    if (!clr_select_has_inner(select))
        return true;
    return check_calls(binder, select) && resolve_all(binder, select, 0);
}
