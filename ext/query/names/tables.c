#include "query/names/tables.h"

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

bool clr_tables_qualify(const struct clr_from_table *source, const char *schema,
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

bool clr_tables_common(const struct clr_from_table *source, const char *name)
{
    const struct clr_node *node = source->common.first;

    while (node != NULL && !clr_name_equal(node->names[0].name, name))
        node = node->next;
    return node != NULL;
}

const struct clr_known_column *clr_tables_look_up(const struct clr_binder *binder,
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
        known = clr_tables_qualify(&from->sources[i], tables[i].schema, node)
                    ? clr_tables_column(&tables[i], name)
                    : NULL;
        if (known == NULL || (found != NULL && clr_tables_common(&from->sources[i], name)))
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

const struct clr_known_column *clr_tables_find(const struct clr_binder *binder,
                                               struct clr_node *node)
{
    return clr_tables_look_up(binder, node, &node->source);
}
