/*
 * CLR_DELAYS=SEED in the environment has calls of OpenCL's, and of pthread_mutex_lock() and its
 * like, wait now and then for a random time, to shake out what depends on their order. The numbers
 * that a thread draws depend on the seed and on how many threads have drawn before it.
 */
#ifndef CLR_TESTS_FAILING_DELAYS_H
#define CLR_TESTS_FAILING_DELAYS_H

/* Waits for so many microseconds. */
void failing_sleep(long us);

/* Waits as CLR_DELAYS has it, if at all. */
void failing_delay(void);

#endif
