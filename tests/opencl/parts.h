/* The parts of the programs that have several files, by program: main() calls them in turn. */
#ifndef CLR_TESTS_OPENCL_PARTS_H
#define CLR_TESTS_OPENCL_PARTS_H

/* core/catalog-t */
void error_names_tests(void);

/* reduction/accumulator-t */
void arithmetic_tests(void);

#endif
