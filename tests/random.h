/*
 * Random numbers for tests: the same ones in every run, unless the environment variable
 * CLREDUCE_SEED says otherwise. For one thread at a time.
 */
#ifndef CLR_TESTS_RANDOM_H
#define CLR_TESTS_RANDOM_H

#include <stdint.h>

/* Where the sequence is: who puts back a value of before has the same numbers again. */
extern uint64_t random_state;

/* Starts the sequence, and says in the test's log how to have the same one again. */
void random_start(void);

/* 64 bits of xorshift64* (Vigna 2016). */
uint64_t random_bits(void);

/* 0 .. limit-1, nearly uniform. */
uint64_t random_below(uint64_t limit);

/* 0 .. count-1. */
int random_pick(int count);

/* low .. high, both included. */
int random_between(int low, int high);

/* A double of the given sign bit, biased exponent (0 .. 2047) and 52 bits of significand. */
double random_compose(uint64_t sign, uint64_t biased, uint64_t significand);

/* Any finite double, every exponent as likely as another. */
double random_finite(void);

/*
 * A double whose biased exponent lies between low and high, with a significand that is often hard
 * on rounding: all ones, all zeros, or few bits at either end.
 */
double random_hard(int low, int high);

/* An integer of any size: about as many of each length in bits. */
int64_t random_integer(void);

#endif
