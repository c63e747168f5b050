/*
 * The floating-point environment: how a thread's processor rounds, whether it flushes subnormal
 * numbers to zero, and which exceptions trap. It is the caller's: one library built with
 * -ffast-math sets it in the thread that loads it, and threads inherit it. Arithmetic that has to
 * be exact needs the default one: rounding to nearest even, subnormal numbers, no traps.
 *
 * Arithmetic goes between clr_float_environment_begin() and clr_float_environment_end(), in
 * functions that are called there and that get their numbers through memory: a compiler does not
 * know that the environment matters to it.
 */
#ifndef CLR_BASE_FLOAT_ENVIRONMENT_H
#define CLR_BASE_FLOAT_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__SSE2__)

/* The MXCSR, whose lowest six bits are flags, which say what has happened; and the x87's control
   word, since SQLite may read numbers from text in long double. */
struct clr_float_environment {
    uint32_t control;
    uint16_t x87;
};

/* The bits that make a difference. */
#define CLR_FLOAT_CONTROL UINT32_C(0xffc0)
#define CLR_FLOAT_DEFAULT UINT32_C(0x1f80)
#define CLR_FLOAT_X87_CONTROL 0x0f3f
#define CLR_FLOAT_X87_DEFAULT 0x033f

static inline struct clr_float_environment clr_float_environment_read(void)
{
    struct clr_float_environment here;

    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(here.control), "=m"(here.x87) : : "memory");
    return here;
}

static inline void clr_float_environment_write(const struct clr_float_environment *environment)
{
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1"
                     :
                     : "m"(environment->control), "m"(environment->x87)
                     : "memory");
}

static inline bool clr_float_environment_is_default(const struct clr_float_environment *environment)
{
    return ((environment->control & CLR_FLOAT_CONTROL) ^ CLR_FLOAT_DEFAULT) +
               ((environment->x87 & CLR_FLOAT_X87_CONTROL) ^ CLR_FLOAT_X87_DEFAULT) ==
           0;
}

static inline struct clr_float_environment
clr_float_environment_default(const struct clr_float_environment *here)
{
    return (struct clr_float_environment){
        (here->control & ~CLR_FLOAT_CONTROL) | CLR_FLOAT_DEFAULT,
        (uint16_t)((here->x87 & ~CLR_FLOAT_X87_CONTROL) | CLR_FLOAT_X87_DEFAULT)};
}

#elif defined(__aarch64__)

/* The FPCR; what has happened is in a register of its own. */
struct clr_float_environment {
    uint64_t control;
};

/* FIZ, AH, NEP, the traps, FZ16, the rounding mode, FZ and DN. */
#define CLR_FLOAT_CONTROL UINT64_C(0x07c89f07)
#define CLR_FLOAT_DEFAULT UINT64_C(0)

static inline struct clr_float_environment clr_float_environment_read(void)
{
    struct clr_float_environment here;

    __asm__ volatile("mrs %0, fpcr" : "=r"(here.control) : : "memory");
    return here;
}

static inline void clr_float_environment_write(const struct clr_float_environment *environment)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(environment->control) : "memory");
}

static inline bool clr_float_environment_is_default(const struct clr_float_environment *environment)
{
    return (environment->control & CLR_FLOAT_CONTROL) == CLR_FLOAT_DEFAULT;
}

static inline struct clr_float_environment
clr_float_environment_default(const struct clr_float_environment *here)
{
    return (struct clr_float_environment){(here->control & ~CLR_FLOAT_CONTROL) | CLR_FLOAT_DEFAULT};
}

#else

#include <fenv.h>

/* What C knows of it: of flushing to zero it may know nothing. */
struct clr_float_environment {
    fenv_t all;
    bool is_default;
};

#endif

#ifdef CLR_FLOAT_CONTROL

/* Sets the calling thread's environment to the default one. Returns the one before, which
   clr_float_environment_end() takes. */
static inline struct clr_float_environment clr_float_environment_begin(void)
{
    const struct clr_float_environment before = clr_float_environment_read();

    if (__builtin_expect(!clr_float_environment_is_default(&before), 0)) {
        const struct clr_float_environment plain = clr_float_environment_default(&before);

        clr_float_environment_write(&plain);
    }
    return before;
}

/* Sets the environment back. */
static inline void clr_float_environment_end(const struct clr_float_environment *before)
{
    __asm__ volatile("" : : : "memory");
    if (__builtin_expect(!clr_float_environment_is_default(before), 0))
        clr_float_environment_write(before);
}

#else

static inline bool clr_float_environment_is_default(const struct clr_float_environment *environment)
{
    return environment->is_default;
}

static inline struct clr_float_environment clr_float_environment_begin(void)
{
    struct clr_float_environment before;

    before.is_default = fegetround() == FE_TONEAREST;
    fegetenv(&before.all);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void clr_float_environment_end(const struct clr_float_environment *before)
{
    fesetenv(&before->all);
}

#endif

#endif
