/* States of the fuzzer's corpus, mutated: each is refused without a trace, or is the one form of
   what was read from it. What each fault is says tests/sql/states.test. */
#include "numeric/state_probe.h"

#include "batch.h"
#include "random.h"

#include <dirent.h>
#include <stdio.h>

enum { SEEDS = 20, LONGEST = 4096, MUTATIONS = 300000, FAULTS = CLR_STATE_TOO_MANY_ROWS };

/* Bytes, and the kind that they are taken for. */
struct bytes {
    enum clr_state_kind kind;
    size_t size;
    unsigned char data[LONGEST];
};

static struct bytes seeds[SEEDS];
static int seed_count;

static void read_seeds(void)
{
    const char *sources = getenv("CLREDUCE_SRCDIR");
    char folder[2048], path[4096];
    struct dirent *entry;
    DIR *files;

    snprintf(folder, sizeof folder, "%s/tests/numeric/corpus", sources != NULL ? sources : ".");
    files = opendir(folder);
    TAP_NEED(files != NULL, "cannot list %s", folder);
    while ((entry = readdir(files)) != NULL && seed_count < SEEDS) {
        struct bytes *seed = &seeds[seed_count];
        FILE *file;
        int kind;

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file == NULL)
            continue;
        kind = getc(file);
        seed->kind = (enum clr_state_kind)(1 + kind % CLR_STATE_BINS);
        seed->size = fread(seed->data, 1, LONGEST / 2, file);
        seed_count += kind != EOF && seed->size > 0;
        fclose(file);
    }
    closedir(files);
}

/* One change, at any place, more often near the beginning, where the counts and heads are. */
static void mutate(struct bytes *bytes, const struct bytes *other)
{
    static const unsigned char interesting[] = {0x00, 0x01, 0x02, 0x03, 0x7f, 0x80, 0xfe, 0xff};
    size_t at, size;

    if (bytes->size == 0)
        bytes->data[bytes->size++] = (unsigned char)random_bits();
    at = random_below(random_bits() & 1 && bytes->size > 12 ? 12 : bytes->size);
    switch (random_below(6)) {
    case 0:
        bytes->data[at] ^= (unsigned char)(1U << random_below(8));
        break;
    case 1:
        bytes->data[at] = interesting[random_below(sizeof interesting)];
        break;
    case 2: /* a byte more */
        if (bytes->size < sizeof bytes->data) {
            memmove(bytes->data + at + 1, bytes->data + at, bytes->size - at);
            bytes->size++;
            bytes->data[at] = interesting[random_below(sizeof interesting)];
        }
        break;
    case 3: /* a byte less */
        memmove(bytes->data + at, bytes->data + at + 1, bytes->size - at - 1);
        bytes->size--;
        break;
    case 4:
        bytes->size = at;
        break;
    default: /* a piece of another state */
        size = random_below(20);
        if (size > other->size)
            size = other->size;
        if (at + size <= bytes->size)
            memcpy(bytes->data + at, other->data + random_below(other->size - size + 1), size);
        break;
    }
}

/* In an allocation of its own size, so that the address sanitizer sees a read past its end. */
TAP_TEST(test_mutations)
{
    static struct bytes bytes;
    long seen[FAULTS + 1] = {0};
    const char *wrong;

    read_seeds();
    tap_ok(seed_count >= 10, "%d states of the corpus", seed_count);
    for (int round = 0; round < MUTATIONS; round++) {
        enum clr_state_fault fault;
        unsigned char *copy;

        bytes = seeds[random_below((uint64_t)seed_count)];
        do
            mutate(&bytes, &seeds[random_below((uint64_t)seed_count)]);
        while (random_below(3) == 0);
        if (random_below(20) == 0)
            bytes.kind = (enum clr_state_kind)random_between(CLR_STATE_SUM, CLR_STATE_BINS);
        copy = malloc(bytes.size + (bytes.size == 0));
        TAP_NEED(copy != NULL, "no memory");
        memcpy(copy, bytes.data, bytes.size);
        wrong = state_probe(copy, bytes.size, bytes.kind, &fault);
        free(copy);
        seen[fault]++;
        batch_ok(wrong == NULL, "mutation %d, as kind %d: %s", round, (int)bytes.kind, wrong);
    }
    batch_end("mutated states");
    /* All but that of too many rows, which takes states that were added before. */
    for (int i = 0; i < FAULTS; i++)
        tap_ok(seen[i] >= MUTATIONS / 1000, "%ld of them: fault %d", seen[i], i);
}
