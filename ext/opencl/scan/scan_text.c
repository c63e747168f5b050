#include "opencl/scan/scan_text.h"

#include "opencl/reduction/scan_plan.h"

/* ---- The key. */

/* A step: its kind, whether it takes values, and all of a narrow column's; the instructions that it
   needs; the registers of the filters and operands, or -1; and its base. */
enum { OPERATION, ELEMENT, TAKES, WHOLE, HEAD_WORDS, ROOTS = 4 };

/* Returns the argument of a step's column if it adds what that has, which is narrow and of
   INTEGERs, or else -1. */
static int find_base(const struct clr_row_arguments *arguments, const struct clr_scan_plan *plan,
                     const struct clr_scan_step *step)
{
    const int x = plan->scan->tallies[step->tally].x;
    uint8_t kind;
    int i;

    if (step->operation != CLR_SUM || step->element != CLR_INTEGER || step->whole || x < 0 ||
        plan->scan->instructions[x].opcode != CLR_OP_COLUMN)
        return -1;
    kind = plan->kinds[plan->scan->instructions[x].a];
    if (clr_kind_narrow_bytes(kind) == 0 || clr_kind_has_decimals(kind))
        return -1;
    for (i = 0; arguments->columns[i] != plan->scan->instructions[x].a; i++)
        ;
    return i;
}

static void add_key_step(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                         const struct clr_scan_step *step)
{
    const struct clr_scan *scan = plan->scan;
    const struct clr_tally *tally = &scan->tallies[step->tally];
    /* A filter that all rows pass needs no column. */
    const struct clr_tally looked_at = {
        .x = tally->x, .y = tally->y, .filter = step->whole ? -1 : tally->filter};
    const int roots[ROOTS] = {scan->filter, looked_at.filter, looked_at.x, looked_at.y};
    bool used[CLR_MOST_INSTRUCTIONS];
    int names[CLR_MOST_SCAN_INSTRUCTIONS], i;
    int *base = &key->bases[key->step_count];

    key->steps[key->step_count++] = (struct clr_step_kind){step->operation, step->element};
    clr_row_key_add(&key->row, (int)step->operation);
    clr_row_key_add(&key->row, (int)step->element);
    clr_row_key_add(&key->row, step->takes);
    clr_row_key_add(&key->row, step->whole);
    key->whole = step->whole;
    clr_scan_find_used(scan, &looked_at, used);
    clr_row_key_add_instructions(&key->row, scan, plan->kinds, used, names);
    for (i = 0; i < ROOTS; i++)
        clr_row_key_add(&key->row, roots[i] >= 0 ? names[roots[i]] : -1);
    *base = find_base(&key->row.arguments, plan, step);
    clr_row_key_add(&key->row, *base);
}

void clr_scan_key(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                  const struct clr_scan_bundle *bundle)
{
    int i;

    key->step_count = 0;
    clr_row_key_begin(&key->row);
    for (i = 0; i < bundle->count; i++)
        add_key_step(key, plan, &plan->steps[bundle->steps[i]]);
}

/* ---- The text. */

/* What all steps share. */
static void add_head(struct clr_row_text *text, const struct clr_scan_key *key)
{
    int i;

    clr_row_text_add_arguments(text, &key->row.arguments);
    /* Rows of one step, or of several: as many values, about, as there are registers for. */
    clr_row_text_add(text, "#define LOADS %d\n#define STEPS %d\n#define FOR_EACH_STEP(X)",
                     key->step_count > 1 ? 2 : 4, key->step_count);
    for (i = 0; i < key->step_count; i++) {
        const struct clr_kernel_kind *kind =
            clr_kernel_kind_of(key->steps[i].operation, key->steps[i].element);
        clr_row_text_add(text, " X(%d, %s, %s)", i, kind->name,
                         kind->real           ? "WIDE"
                         : key->bases[i] >= 0 ? "DISTANCES"
                                              : "NARROW");
    }
    clr_row_text_add(text, "\n#define WHOLE %d\n",
                     key->whole ? (int)clr_kind_narrow_bytes(key->row.arguments.kinds[0]) : 0);
    clr_row_text_add(text, "#define WHOLE_SUMS %d\n#define WHOLE_DECIMALS %d\n",
                     key->steps[0].operation == CLR_SUM, key->steps[0].element == CLR_REAL);
    for (i = 0; i < key->step_count; i++)
        if (key->bases[i] >= 0)
            clr_row_text_add(text, "#define BASE_%d b%d\n", i, key->bases[i]);
    clr_row_text_end(text);
}

/* Adds a step, from its first word on. Returns the word after it. */
static const int16_t *add_step(struct clr_row_text *text, const int16_t *word, int number)
{
    static const char *const roots[ROOTS] = {"ROW_FILTER", "ROW_OWN_FILTER", "ROW_X", "ROW_Y"};
    const struct clr_kernel_kind *kind =
        clr_kernel_kind_of((enum clr_operation)word[OPERATION], (enum clr_element)word[ELEMENT]);
    const int takes = word[TAKES];
    int i;

    clr_row_text_add(text, "#undef STEP\n#undef KIND\n#undef REAL\n#undef KEYS\n#undef OPERANDS\n");
    clr_row_text_add(
        text,
        "#define STEP %d\n#define KIND %s\n#define REAL %d\n#define KEYS %d\n#define OPERANDS %d\n",
        number, kind->name, kind->real, kind->keys, kind->operands);
    word = clr_row_text_add_body(text, word + HEAD_WORDS);
    for (i = 0; i < ROOTS; i++, word++) {
        if (*word >= 0)
            clr_row_text_add(text, "#undef %s\n#define %s r%d\n", roots[i], roots[i], *word);
        else
            clr_row_text_add(text, "#undef %s\n#define %s scalar_integer(1)\n", roots[i], roots[i]);
    }
    clr_row_text_add(text, "#undef ROW_TAKES\n#define ROW_TAKES %d\n", takes);
    if (*word >= 0)
        clr_row_text_add(text, "#undef ROW_BASE\n#define ROW_BASE b%d\n", *word);
    else
        clr_row_text_add(text, "#undef ROW_BASE\n#define ROW_BASE 0\n");
    clr_row_text_end(text);
    return word + 1;
}

void clr_scan_text(struct clr_row_text *text, const struct clr_scan_key *key)
{
    const int16_t *word = key->row.words;
    int i;

    clr_row_text_begin(text);
    add_head(text, key);
    for (i = 0; i < key->step_count; i++)
        word = add_step(text, word, i);
}
