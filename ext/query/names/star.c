#include "query/names/names.h"

#include "query/syntax/grammar.h"

/* ---- The terms that join tables: those of WHERE and ON between their ANDs, and equality of the
   columns of USING. */

enum { MOST_TERMS = 128 };

struct terms {
    int count;
    struct clr_node *nodes[MOST_TERMS];
    int sources[MOST_TERMS]; /* the place of the table whose LEFT JOIN has it in its ON; -1: none */
};

/* What is found of a join. */
struct star {
    struct clr_binder *binder;
    struct terms terms;
};

static bool add_term(struct star *star, struct clr_node *node, int source)
{
    struct terms *terms = &star->terms;

    if (clr_node_is_and(node))
        return add_term(star, node->first, source) && add_term(star, node->first->next, source);
    if (terms->count == MOST_TERMS)
        return clr_refuse_name(star->binder->syntax, CLR_WHY_TOO_MANY, "conditions") >= 0;
    terms->nodes[terms->count] = node;
    terms->sources[terms->count++] = source;
    return true;
}

/* Adds what USING says of a column: that of the table is equal to that of the first one that has
   it. */
static bool add_common(struct star *star, const struct clr_node *common, int source)
{
    static const struct clr_token equals = {.kind = CLR_T_EQ, .text = "=", .length = 1};
    const struct clr_from_table *sources = star->binder->from->sources;
    struct clr_syntax *syntax = star->binder->syntax;
    struct clr_node *left, *right, *node;
    int i = 0;

    left = clr_syntax_column(syntax, &common->names[0]);
    right = clr_syntax_column(syntax, &common->names[0]);
    if (left == NULL || right == NULL)
        return false;
    while (i < source && !clr_merge_column(star->binder, left, i))
        i++;
    if (i == source || !clr_merge_column(star->binder, right, source))
        return clr_refuse_name(syntax, CLR_WHY_COLUMN, common->names[0].name) >= 0;
    left->next = right;
    node = clr_syntax_node(syntax, CLR_N_FOLD, &equals, (struct clr_list){left, right});
    if (node == NULL)
        return false;
    node->opcode = CLR_OP_EQUAL;
    node->is_infix = true;
    return add_term(star, node, sources[source].is_left ? source : -1);
}

/* Returns the place of the table that may have no row for the others by a table's ON, or -1. */
static int find_outer(const struct clr_select_tree *from, int source)
{
    if (from->sources[source].is_left)
        return source;
    return source == 1 && from->sources[0].is_left ? 0 : -1;
}

static bool find_terms(struct star *star)
{
    const struct clr_select_tree *from = star->binder->from, *inner;
    struct clr_node *common;
    bool has_inner = false;
    int i;

    for (i = 0; i < from->source_count; i++) {
        const struct clr_from_table *source = &from->sources[i];

        has_inner = has_inner || source->inner != NULL;
        if (has_inner && source->is_natural)
            return clr_refuse_name(star->binder->syntax, CLR_WHY_JOIN, "NATURAL") >= 0;
        /* The rows of a subquery that meet its condition are those that LEFT JOIN may find. */
        for (inner = source->inner; inner != NULL; inner = inner->sources[0].inner) {
            if (inner->where != NULL && !add_term(star, inner->where, source->is_left ? i : -1))
                return false;
        }
        if (source->on != NULL && !add_term(star, source->on, find_outer(from, i)))
            return false;
        for (common = source->common.first; common != NULL; common = common->next) {
            if (!add_common(star, common, i))
                return false;
        }
    }
    for (inner = &star->binder->syntax->select; inner != from; inner = inner->sources[0].inner) {
        if (inner->where != NULL && !add_term(star, inner->where, -1))
            return false;
    }
    return from->where == NULL || add_term(star, from->where, -1);
}

/* ---- Which tables are dimensions. */

/* Stores, in *reads, which column of the table that is scanned an expression follows from, with the
   dimensions that are known. Returns false if it reads other tables, or what is not known. */
static bool find_reads(struct star *star, struct clr_node *node, int *reads)
{
    const struct clr_query *query = star->binder->query;
    const struct clr_known_column *known;
    struct clr_node *child;
    int dimension;

    if (node->kind == CLR_N_COLUMN) {
        known = clr_tables_find(star->binder, node, &node->source);
        dimension = known == NULL ? 0 : clr_tables_dimension(query, node->source - 1);
        if (known == NULL || (dimension == 0 && node->source - 1 != query->fact))
            return false;
        *reads = clr_content_together(
            *reads, dimension == 0 ? known->number : query->dimensions[dimension - 1].column);
    }
    for (child = node->first; child != NULL; child = child->next) {
        if (!find_reads(star, child, reads))
            return false;
    }
    return true;
}

/* Returns the column that an expression is, or NULL. */
static const struct clr_known_column *find_column(struct star *star, struct clr_node *node)
{
    return node->kind == CLR_N_COLUMN ? clr_tables_find(star->binder, node, &node->source) : NULL;
}

/*
 * Whether equality of a key's column with an expression is as fine as the key's own: values of the
 * column that differ by the key's collating sequence are not both equal to one value. An affinity
 * that is applied to the column would make "1" of "1.0". To SQLite's sqlite3ExprAffinity() and
 * sqlite3ExprCollSeq() no other expressions have any but those that are refused here.
 */
static bool is_as_fine(struct star *star, const struct clr_known_column *column,
                       const char *collation, struct clr_node *other, bool is_first)
{
    const struct clr_known_column *typed = find_column(star, other);
    const struct clr_known_column *compared = is_first || typed == NULL ? column : typed;
    const char *sequence = compared->is_binary ? "BINARY" : compared->collation;

    if (typed == NULL &&
        ((other->has & (CLR_HAS_COLLATE | CLR_HAS_SUBQUERY)) != 0 || other->kind == CLR_N_PLUS ||
         other->kind == CLR_N_CAST || other->kind == CLR_N_HINT))
        return false;
    if (!clr_name_equal(sequence, "BINARY") && !clr_name_equal(sequence, collation))
        return false;
    if (column->is_numeric || typed == NULL)
        return true;
    return column->is_text ? !typed->is_numeric : !typed->is_numeric && !typed->is_text;
}

/* What a column of a key is equal to. */
struct equal {
    struct clr_node *term, *other; /* the term that says so, and its other side */
    int reads;                     /* of that side: see find_reads() */
    bool is_part;
};

/*
 * Whether that other side may be one of several parts of a key: then it is an expression instead,
 * which has neither the affinity nor the collating sequence of a column. sqlite3CompareAffinity()
 * would convert numbers to TEXT for it where a column of TEXT is compared with one without a type.
 */
static bool may_be_part(struct star *star, const struct clr_known_column *column,
                        struct clr_node *other)
{
    const struct clr_known_column *typed = find_column(star, other);

    return typed == NULL ||
           (typed->is_binary && column->is_binary && (!column->is_text || typed->is_text));
}

/* Finds something that is known already to which a column of a table is equal. Returns whether
   there is. */
static bool find_equal(struct star *star, int source, int number, const char *collation,
                       struct equal *equal)
{
    const bool is_left = star->binder->from->sources[source].is_left;
    int i, k;

    for (i = 0; i < star->terms.count; i++) {
        struct clr_node *node = star->terms.nodes[i];

        if (star->terms.sources[i] != (is_left ? source : -1) || node->kind != CLR_N_FOLD ||
            node->opcode != CLR_OP_EQUAL)
            continue;
        for (k = 0; k < 2; k++) {
            struct clr_node *column = k == 0 ? node->first : node->first->next;
            struct clr_node *other = k == 0 ? node->first->next : node->first;
            const struct clr_known_column *known = find_column(star, column);

            *equal = (struct equal){.term = node, .other = other, .reads = CLR_READS_NONE};
            if (known == NULL || column->source - 1 != source || known->number != number ||
                !find_reads(star, other, &equal->reads) ||
                !is_as_fine(star, known, collation, other, k == 0))
                continue;
            equal->is_part = may_be_part(star, known, other);
            return true;
        }
    }
    return false;
}

/* Takes all of a LEFT JOIN's ON as the terms of a dimension. Returns whether they follow from its
   column. */
static bool take_on(struct star *star, struct clr_dimension *dimension)
{
    int i, reads = CLR_READS_NONE;

    dimension->term_count = 0;
    for (i = 0; i < star->terms.count; i++) {
        if (star->terms.sources[i] != dimension->source)
            continue;
        if (dimension->term_count == CLR_MOST_KEY_COLUMNS ||
            !(clr_tables_has_part(dimension, star->terms.nodes[i]) ||
              find_reads(star, star->terms.nodes[i], &reads)))
            return false;
        dimension->terms[dimension->term_count++] = star->terms.nodes[i];
    }
    return reads == dimension->column || (reads == CLR_READS_NONE && dimension->part_count > 0);
}

/* Whether there can be derived columns of the table that is tried as the one that is scanned, of
   which parts of UTF-8 are had again as they were. */
static bool has_composites(const struct clr_binder *binder)
{
    return binder->environment->is_utf8 && clr_tables_fact(binder)->derives;
}

/* Adds a table as a dimension if it is one by that key, with the dimensions that are known. */
static bool add_by_key(struct star *star, int source, const struct clr_unique_key *key)
{
    struct clr_query *query = star->binder->query;
    struct clr_dimension *dimension = &query->dimensions[query->dimension_count];
    bool are_parts = has_composites(star->binder);
    int reads = CLR_READS_NONE, i;
    struct equal equal;

    *dimension = (struct clr_dimension){.source = source, .term_count = key->count};
    for (i = 0; i < key->count; i++) {
        if (!find_equal(star, source, key->columns[i], key->collations[i], &equal))
            return false;
        dimension->terms[i] = equal.term;
        if (equal.reads == CLR_READS_NONE)
            continue;
        dimension->parts[dimension->part_count++] = equal.other;
        are_parts = are_parts && equal.is_part;
        reads = clr_content_together(reads, equal.reads);
    }
    if (reads == CLR_READS_NONE || (reads == CLR_READS_SEVERAL && !are_parts))
        return false;
    if (reads >= 0)
        dimension->part_count = 0;
    dimension->column = reads >= 0 ? reads : CLR_COMPOSITE + source;
    query->dimension_count++;
    if (!star->binder->from->sources[source].is_left || take_on(star, dimension))
        return true;
    query->dimension_count--;
    return false;
}

static bool add_dimension(struct star *star, int source)
{
    const struct clr_known_table *table = &star->binder->environment->tables[source];
    int i;

    for (i = 0; i < table->key_count; i++) {
        if (add_by_key(star, source, &table->keys[i]))
            return true;
    }
    return false;
}

static bool is_known(const struct clr_query *query, int source)
{
    return source == query->fact || clr_tables_dimension(query, source) != 0;
}

/* Finds the dimensions of a table. Returns the place of one that is none, or -1. */
static int find_dimensions(struct star *star, int fact)
{
    struct clr_query *query = star->binder->query;
    const int count = star->binder->from->source_count;
    bool goes_on = true;
    int i;

    query->fact = fact;
    query->dimension_count = 0;
    while (goes_on) {
        goes_on = false;
        for (i = 0; i < count; i++)
            goes_on = goes_on || (!is_known(query, i) && add_dimension(star, i));
    }
    for (i = 0; i < count && is_known(query, i); i++)
        ;
    return i == count ? -1 : i;
}

/* Chooses the table that is scanned. */
static bool choose_fact(struct star *star)
{
    const struct clr_select_tree *from = star->binder->from;
    const struct clr_known_table *tables = star->binder->environment->tables;
    int chosen = -1, largest = 0, missing = 0, other, i;

    for (i = 0; i < from->source_count; i++) {
        if (from->sources[i].is_left)
            continue;
        other = find_dimensions(star, i);
        if (other < 0 && (chosen < 0 || tables[i].rows > tables[chosen].rows))
            chosen = i;
        if (i == 0 || tables[i].rows > tables[largest].rows) {
            largest = i;
            missing = other;
        }
    }
    if (chosen < 0)
        return clr_tables_refuse_join(star->binder, missing) >= 0;
    find_dimensions(star, chosen);
    return true;
}

/* ---- What rows must meet. */

static bool add_condition(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_query *query = binder->query;

    if (query->condition_count == CLR_MOST_CONDITIONS)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "conditions") >= 0;
    query->conditions[query->condition_count++] = node;
    return true;
}

/* Takes the conditions of a SELECT from one table, and of those that it reads that by. */
static bool take_one(struct clr_binder *binder)
{
    const struct clr_select_tree *from;

    /* SQLite ranks rows before the condition around that. */
    from = &binder->syntax->select;
    for (from = binder->query->ranking != NULL ? from->sources[0].inner : from; from != NULL;
         from = from->sources[0].inner) {
        if (from->where != NULL && !add_condition(binder, from->where))
            return false;
    }
    return true;
}

/* Finds the fact table and the dimensions of a join, and takes its conditions. */
static bool take_join(struct clr_binder *binder)
{
    struct star star = {.binder = binder};
    int i;

    if (!find_terms(&star) || !choose_fact(&star))
        return false;
    for (i = 0; i < star.terms.count; i++) {
        if (star.terms.sources[i] < 0 && !add_condition(binder, star.terms.nodes[i]))
            return false;
    }
    return true;
}

bool clr_star_find(struct clr_binder *binder)
{
    const struct clr_select_tree *from = binder->from;

    if (!(from->source_count == 1 ? take_one(binder) : take_join(binder)))
        return false;
    if (binder->query->has_rows && from->sources[0].is_left)
        return clr_refuse_name(binder->syntax, CLR_WHY_JOIN, "RIGHT") >= 0;
    /* They are found again by its rowid. */
    return !binder->query->has_rows || binder->query->ranking != NULL ||
           (from == &binder->syntax->select && from->sources[binder->query->fact].inner == NULL) ||
           clr_refuse(binder->syntax, CLR_WHY_ROWS_OF_SUBQUERY) >= 0;
}
