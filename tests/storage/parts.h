/* The parts of the programs that have several files, by program: main() calls them in turn. */
#ifndef CLR_TESTS_STORAGE_PARTS_H
#define CLR_TESTS_STORAGE_PARTS_H

/* load/load-t */
void failures_tests(void);
void places_tests(void);

/* stream/stream-t */
void stream_codes_tests(void);

#endif
