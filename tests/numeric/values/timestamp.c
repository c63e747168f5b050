/* Timestamps: that what is read is what is written, the calendar, bounds and units. */
#include "numeric/values/timestamp.h"

#include "batch.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

enum { FORMATS = 24, TIMES = 2000, DAYS = 3652425 };

static int64_t random_count(clr_time_format format)
{
    return (int64_t)random_below((uint64_t)clr_timestamp_all(format));
}

/* Whether TEXT is either no timestamp, or the one that is written for what was read. */
static bool is_sound(const unsigned char *text, size_t size)
{
    unsigned char written[CLR_TIMESTAMP_MOST];
    int64_t count;
    const clr_time_format format = clr_timestamp_read(text, size, &count);

    return format == 0 || (clr_timestamp_write(format, count, written) == size &&
                           memcmp(written, text, size) == 0);
}

TAP_TEST(test_formats)
{
    static const char odd[] = "0123456789-:. TtZz+9\0\x80\xff/;";
    unsigned char text[CLR_TIMESTAMP_MOST + 1];
    clr_time_format format;
    int64_t count, read;
    size_t size;

    for (format = 1; format <= FORMATS; format++) {
        for (int i = 0; i < TIMES; i++) {
            count = i == 0 ? 0 : i == 1 ? clr_timestamp_all(format) - 1 : random_count(format);
            size = clr_timestamp_write(format, count, text);
            batch_ok(clr_timestamp_read(text, size, &read) == format && read == count,
                     "%.*s is %lld of format %d", (int)size, (const char *)text, (long long)read,
                     format);
            text[random_below(size)] = (unsigned char)odd[random_below(sizeof odd - 1)];
            batch_ok(is_sound(text, size), "%.*s", (int)size, (const char *)text);
            size -= random_below(3);
            batch_ok(is_sound(text, size), "%.*s, cut off", (int)size, (const char *)text);
        }
    }
    batch_end("timestamps of all formats, and such with a byte changed");
}

/* Timestamps and such with a byte changed, one after the other: of a day or the next one, and of
   any. What is read is the same as of each by itself. */
TAP_TEST(test_next)
{
    static const char odd[] = "0123456789-:. TtZz+9\0\x80\xff/;";
    enum { TOGETHER = 5 };
    unsigned char texts[TOGETHER][CLR_TIMESTAMP_MOST];
    const unsigned char *whole[TOGETHER];
    int64_t count, next, counts[TOGETHER], read[TOGETHER];
    clr_time_format format;

    for (format = 1; format <= FORMATS; format++) {
        const int64_t steps = clr_timestamp_steps(format), days = clr_timestamp_all(format) / steps;
        struct clr_timestamp_date date = {{0, 0}, 0}, other = date;

        for (int round = 0; round < TIMES; round++) {
            const int64_t day = round % 20 == 0 ? 0 : (int64_t)random_below((uint64_t)days - 1);
            bool are_all = true, right;

            for (int i = 0; i < TOGETHER; i++) {
                const int64_t time = (int64_t)random_below(2 * (uint64_t)steps);
                size_t size = clr_timestamp_write(format, day * steps + time, texts[i]);
                bool is_one;

                whole[i] = texts[i];
                if (random_below(8) == 0)
                    texts[i][random_below(size)] = (unsigned char)odd[random_below(sizeof odd - 1)];
                counts[i] = -7;
                are_all = clr_timestamp_count(format, texts[i], size, &counts[i]) && are_all;
                size -= random_below(8) == 0 ? random_below(3) : 0;
                size = random_below(50) == 0 ? 0 : size;
                count = next = -7;
                is_one = clr_timestamp_count(format, texts[i], size, &count);
                batch_ok(clr_timestamp_next(format, texts[i], size, &date, &next) == is_one &&
                             (!is_one || next == count),
                         "%.*s of format %d: %lld", (int)size, (const char *)texts[i], format,
                         (long long)next);
            }
            right = clr_timestamps_read(format, whole, TOGETHER, &other, read) == are_all &&
                    (!are_all || memcmp(read, counts, sizeof read) == 0);
            batch_ok(right, "several of format %d, the last one %.*s", format,
                     (int)clr_timestamp_size(format), (const char *)texts[TOGETHER - 1]);
        }
    }
    batch_end("timestamps after others of the same day");
}

TAP_TEST(test_refused)
{
    static const char *const texts[] = {
        "2023-02-29 00:00",       "1900-02-29 00:00",          "2024-04-31 00:00",
        "2024-13-01 00:00",       "2024-00-01 00:00",          "2024-01-00 00:00",
        "2024-01-01 24:00",       "2024-01-01 00:60",          "2024-01-01 00:00:60",
        "2024-01-01t00:00:00",    "2024-01-01 00:00z",         "2024-01-01 00:00:00.0",
        "12024-01-01 00:00",      "2024-01-01  00:00",         "2024-01-01 00:00+01:00",
        "2024-01-01 00:00-00:00", "2024-01-01 00:00:00,000",   "2024-01-01",
        " 024-01-01 00:00",       "2024-01-01 00:00:00.00000", "",
    };
    int64_t count;

    TAP_EACH (i, texts)
        batch_ok(clr_timestamp_read((const unsigned char *)texts[i], strlen(texts[i]), &count) == 0,
                 "\"%s\" is one", texts[i]);
    batch_end("what is nearly a timestamp is none");
}

/* Each day's date, by the rule of Gregory XIII. */
TAP_TEST(test_calendar)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 0, month = 1, day = 1;
    unsigned char text[CLR_TIMESTAMP_MOST];
    char expected[40];

    for (int i = 0; i < DAYS; i++) {
        const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

        snprintf(expected, sizeof expected, "%04d-%02d-%02d 00:00", year, month, day);
        clr_timestamp_write(1, (int64_t)i * 1440, text);
        batch_ok(memcmp(text, expected, 16) == 0, "%s for %s", (const char *)text, expected);
        if (++day > lengths[month - 1] + (month == 2 && leap)) {
            day = 1;
            year += ++month == 13;
            month = month == 13 ? 1 : month;
        }
    }
    batch_end("the days of ten thousand years");
}

static int compare(const unsigned char *a, size_t a_size, const char *b, size_t b_size)
{
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);

    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

TAP_TEST(test_bounds)
{
    static const char *const texts[] = {"",           "2024-01", "2024-01-05T", "x",
                                        "2024-01-05", "-",       "9999-99",     "0000-01-01 00:00",
                                        "2024-02-30", ":",       "\xff"};
    unsigned char text[CLR_TIMESTAMP_MOST];
    clr_time_format format;
    int64_t below;
    size_t size;

    for (format = 1; format <= FORMATS; format++) {
        TAP_EACH (i, texts) {
            below = clr_timestamp_below(format, (const unsigned char *)texts[i], strlen(texts[i]));
            size = clr_timestamp_write(format, below <= 0 ? 0 : below - 1, text);
            batch_ok((below < 0) == (texts[i][0] == '\0'), "empty TEXT and \"%s\"", texts[i]);
            batch_ok(below <= 0 || compare(text, size, texts[i], strlen(texts[i])) < 0,
                     "format %d: too many are below \"%s\"", format, texts[i]);
            if (below < clr_timestamp_all(format))
                size = clr_timestamp_write(format, below, text);
            batch_ok(below == clr_timestamp_all(format) ||
                         compare(text, size, texts[i], strlen(texts[i])) >= 0,
                     "format %d: too few are below \"%s\"", format, texts[i]);
        }
    }
    batch_end("how many timestamps are below a text");
}

/* The first and the last time of a unit are in it, and the next ones are not. */
TAP_TEST(test_text_units)
{
    static const int prefixes[] = {
        [CLR_TIME_MINUTE] = 16, [CLR_TIME_HOUR] = 13, [CLR_TIME_DAY] = 10};
    unsigned char text[CLR_TIMESTAMP_MOST], first[CLR_TIMESTAMP_MOST], last[CLR_TIMESTAMP_MOST];
    clr_time_format format;
    int64_t from, to, count;
    size_t size;
    int unit;

    for (format = 1; format <= FORMATS; format++) {
        for (int i = 0; i < TIMES; i++) {
            unit = random_between(CLR_TIME_MINUTE, CLR_TIME_DAY);
            count = random_count(format);
            size = clr_timestamp_write(format, count, text);
            if (!clr_time_unit_of_text((enum clr_time_unit)unit, false, text, size, first)) {
                batch_ok(size >= 26 && memcmp(text + 17, "59.999", 6) == 0, "%.*s has no unit",
                         (int)size, (const char *)text);
                continue;
            }
            clr_time_unit_of_text((enum clr_time_unit)unit, true, text, size, last);
            batch_ok(clr_timestamp_read(first, size, &from) == format &&
                         clr_timestamp_read(last, size, &to) == format && from <= count &&
                         memcmp(first, text, (size_t)prefixes[unit]) == 0 &&
                         memcmp(last, text, (size_t)prefixes[unit]) == 0,
                     "%.*s to %.*s", (int)size, (const char *)first, (int)size, (const char *)last);
            if (from == 0)
                continue;
            clr_timestamp_write(format, from - 1, text);
            batch_ok(memcmp(first, text, (size_t)prefixes[unit]) != 0, "%.*s is not the first",
                     (int)size, (const char *)first);
        }
    }
    batch_end("units of timestamps");
}

static int64_t unit_of(enum clr_time_unit unit, bool is_last, int64_t seconds)
{
    const struct clr_scalar value = {.tag = CLR_TAG_INTEGER, .bits = seconds};

    return clr_time_unit_of_number(unit, is_last, value).bits;
}

static double real_unit_of(enum clr_time_unit unit, double real)
{
    const struct clr_scalar value = {.tag = CLR_TAG_REAL, .bits = clr_bits_of(real)};

    return clr_real_of(clr_time_unit_of_number(unit, false, value).bits);
}

TAP_TEST(test_number_units)
{
    tap_is_int64(unit_of(CLR_TIME_UNIX_DAY, false, 86399), 0, "a day of seconds");
    tap_is_int64(unit_of(CLR_TIME_UNIX_DAY, false, -1), -86400, "before 1970");
    tap_is_int64(unit_of(CLR_TIME_UNIX_DAY, true, -1), -1, "and its end");
    tap_is_int64(unit_of(CLR_TIME_UNIX_HOUR, false, 7201), 7200, "an hour");
    tap_is_int64(unit_of(CLR_TIME_UNIX_MINUTE, false, 119), 60, "a minute");
    tap_is_int64(unit_of(CLR_TIME_UNIX_DAY, false, 253402300800), 253402300800, "the year 10000");
    tap_is_double(real_unit_of(CLR_TIME_UNIX_DAY, 86399.5), 0.0, "a REAL");
    tap_is_double(real_unit_of(CLR_TIME_UNIX_DAY, 86399.9995), 86399.9995,
                  "that may be rounded up");
    tap_is_double(real_unit_of(CLR_TIME_JULIAN_DAY, 2460000.25), 2459999.5, "a Julian day");
    tap_is_double(real_unit_of(CLR_TIME_JULIAN_DAY, 2460000.5), 2460000.5, "which begins at noon");
}
