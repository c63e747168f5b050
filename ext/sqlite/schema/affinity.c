#include "sqlite/schema/affinity.h"

#include "sqlite/api.h"

#include <string.h>

enum clr_affinity clr_affinity_of(const char *type)
{
    static const struct {
        const char *part;
        enum clr_affinity affinity;
    } rules[] = {{"INT", CLR_AFFINITY_INTEGER}, {"CHAR", CLR_AFFINITY_TEXT},
                 {"CLOB", CLR_AFFINITY_TEXT},   {"TEXT", CLR_AFFINITY_TEXT},
                 {"BLOB", CLR_AFFINITY_BLOB},   {"REAL", CLR_AFFINITY_REAL},
                 {"FLOA", CLR_AFFINITY_REAL},   {"DOUB", CLR_AFFINITY_REAL}};
    const char *at;
    size_t i;

    if (type == NULL)
        return CLR_AFFINITY_BLOB;
    if (sqlite3_stricmp(type, "ANY") == 0)
        return CLR_AFFINITY_ANY;
    for (i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        for (at = type; *at != '\0'; at++) {
            if (sqlite3_strnicmp(at, rules[i].part, (int)strlen(rules[i].part)) == 0)
                return rules[i].affinity;
        }
    }
    return CLR_AFFINITY_NUMERIC;
}

const char *clr_affinity_declaration(enum clr_affinity affinity)
{
    static const char *const types[] = {
        [CLR_AFFINITY_BLOB] = "",        [CLR_AFFINITY_TEXT] = " TEXT",
        [CLR_AFFINITY_ANY] = " NUM",     [CLR_AFFINITY_NUMERIC] = " NUM",
        [CLR_AFFINITY_INTEGER] = " INT", [CLR_AFFINITY_REAL] = " REAL"};

    return types[affinity];
}
