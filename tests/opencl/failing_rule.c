#include "opencl/failing_parts.h"

#include <stdatomic.h>

static struct {
    atomic_flag lock;
    bool is_read, is_told; /* the environment; what is to be said of it */
    char function[64], action[32];
    long first, count, ms;
    long seen, acted; /* calls since the rule holds */
} rule = {.lock = ATOMIC_FLAG_INIT};

static void lock_rule(void)
{
    while (atomic_flag_test_and_set(&rule.lock))
        failing_sleep(1);
}

static void parse_rule(const char *text)
{
    rule.is_read = true;
    rule.function[0] = '\0';
    rule.first = 1;
    rule.count = rule.ms = rule.seen = rule.acted = 0;
    if (text != NULL)
        sscanf(text, "%63[^:]:%31[^:]:%ld:%ld:%ld", rule.function, rule.action, &rule.first,
               &rule.count, &rule.ms);
}

/* Sets another rule, or none for NULL. */
EXPORTED void failing_opencl_set(const char *text);
void failing_opencl_set(const char *text)
{
    lock_rule();
    parse_rule(text);
    rule.is_told = true;
    atomic_flag_clear(&rule.lock);
}

/* Returns how many calls the rule could have told to act so far, and how many it has told. */
EXPORTED long failing_opencl_seen(long *acted);
long failing_opencl_seen(long *acted)
{
    long seen;

    lock_rule();
    seen = rule.seen;
    *acted = rule.acted;
    atomic_flag_clear(&rule.lock);
    return seen;
}

bool failing_rule_acts(const char *function, char action[32], long *ms)
{
    bool result = false, tells = false;
    long call;

    failing_delay();
    lock_rule();
    if (!rule.is_read)
        parse_rule(getenv("CLR_FAIL"));
    if (strcmp(rule.function, function) == 0 ||
        (strcmp(rule.function, "any") == 0 && strncmp(function, "clRelease", 9) != 0)) {
        call = ++rule.seen;
        result = call >= rule.first && (rule.count == 0 || call < rule.first + rule.count);
        if (result) {
            rule.acted++;
            strcpy(action, rule.action);
            *ms = rule.ms;
            tells = !rule.is_told;
            rule.is_told = true;
        }
    }
    atomic_flag_clear(&rule.lock);
    if (tells)
        fprintf(stderr, "failing-opencl: %s, call %ld: %s\n", function, rule.first, action);
    return result;
}

cl_int failing_rule_intercept(const char *function)
{
    char action[32];
    long ms;

    if (!failing_rule_acts(function, action, &ms))
        return CL_SUCCESS;
    if (strcmp(action, "hang") == 0)
        failing_sleep(ms * 1000);
    return (cl_int)strtol(action, NULL, 10);
}
