#include "numeric/values/timestamp.h"

#include <math.h>
#include <string.h>

/* ---- Formats. */

/* Where the time ends, and how many bytes are behind it, which no two formats have the same size
   by. A format's number is 1 + twice that of its shape, and one more with T. */
static const struct shape {
    uint8_t end, behind;
    int64_t steps; /* of a day */
} shapes[] = {
    {16, 0, 1440},     {16, 1, 1440},        {16, 6, 1440},        {19, 0, 86400},
    {19, 1, 86400},    {19, 6, 86400},       {23, 0, 86400000},    {23, 1, 86400000},
    {23, 6, 86400000}, {26, 0, 86400000000}, {26, 1, 86400000000}, {26, 6, 86400000000},
};

static const char behind[] = "+00:00";

/* Of a size the shape's number + 1, or 0. */
static const uint8_t shapes_by_size[CLR_TIMESTAMP_MOST + 1] = {
    [16] = 1, [17] = 2, [22] = 3, [19] = 4,  [20] = 5,  [25] = 6,
    [23] = 7, [24] = 8, [29] = 9, [26] = 10, [27] = 11, [32] = 12,
};

static const struct shape *shape_of(clr_time_format format)
{
    return &shapes[(format - 1) / 2];
}

int64_t clr_timestamp_steps(clr_time_format format)
{
    return shape_of(format)->steps;
}

/* ---- Dates: proleptic Gregorian, from 0000-01-01 on. */

enum { DAYS_OF_400_YEARS = 146097, MOST_YEAR = 9999 };

static const uint16_t days_before_month[] = {0,   0,   31,  59,  90,  120, 151,
                                             181, 212, 243, 273, 304, 334};
static const uint8_t days_of_month[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

static bool is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 25 != 0 || year % 16 == 0);
}

static int64_t days_before_year(unsigned year)
{
    return 365 * (int64_t)year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
}

static unsigned length_of_month(unsigned year, unsigned month)
{
    return (unsigned)days_of_month[month] + (month == 2 && is_leap(year));
}

/* ---- Reading. */

/* The numbers of a timestamp; fraction: of a second, its digits as a number. */
struct parts {
    unsigned year, month, day, hour, minute, second, fraction;
};

/* Returns eight bytes, the first one as the highest. */
static inline uint64_t big_word(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/*
 * Takes eight bytes that are digits and separators: in each byte of the result, but the first, is
 * the number of two digits that ends there. *is_wrong gets bits if they are something else.
 * pattern: zeros and separators; room: of each byte 127 less the most that may be left of it.
 */
static inline uint64_t take_pattern(const unsigned char *text, uint64_t pattern, uint64_t room,
                                    uint64_t *is_wrong)
{
    const uint64_t left = big_word(text) ^ pattern;

    *is_wrong |= (left | (left + room)) & UINT64_C(0x8080808080808080);
    return left + 10 * (left >> 8);
}

/* Returns the number that ends so many bytes before the last. */
static inline unsigned number_at(uint64_t numbers, int at)
{
    return (unsigned)(numbers >> (8 * at)) & 255;
}

static bool read_digits(const unsigned char *text, size_t count, unsigned *number)
{
    size_t i;

    *number = 0;
    for (i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (text[i] - '0');
    }
    return true;
}

/* Reads the fraction of a second, if there is one, and what is behind the time. */
static inline bool read_end(const struct shape *shape, const unsigned char *text,
                            struct parts *parts)
{
    if (shape->end > 19 &&
        (text[19] != '.' || !read_digits(text + 20, shape->end - 20u, &parts->fraction)))
        return false;
    return shape->behind == 0 ||
           (shape->behind == 1 ? text[shape->end] == 'Z'
                               : memcmp(text + shape->end, behind, sizeof behind - 1) == 0);
}

/* Takes "00 00:00", the end of a date and the beginning of a time. */
static inline uint64_t take_middle(const unsigned char *text, bool has_t, uint64_t *is_wrong)
{
    return take_pattern(text + 8, UINT64_C(0x30302030303a3030) ^ (has_t ? UINT64_C(0x74) << 40 : 0),
                        UINT64_C(0x76767f76767f7676), is_wrong);
}

/* Reads what is behind the date of a timestamp, which is one. Returns whether it is a time.
   Inlined, so that the shape may be known. */
static inline __attribute__((always_inline)) bool
read_time(const struct shape *shape, const unsigned char *text, bool has_t, struct parts *parts)
{
    const bool has_seconds = shape->end > 16;
    uint64_t wrong = 0, time;

    if (has_seconds) /* "00:00:00" */
        time = take_pattern(text + 11, UINT64_C(0x30303a30303a3030), UINT64_C(0x76767f76767f7676),
                            &wrong);
    else
        time = take_middle(text, has_t, &wrong);
    parts->hour = number_at(time, has_seconds ? 6 : 3);
    parts->minute = number_at(time, has_seconds ? 3 : 0);
    parts->second = has_seconds ? number_at(time, 0) : 0;
    return wrong == 0 && parts->hour < 24 && parts->minute < 60 && parts->second < 60 &&
           read_end(shape, text, parts);
}

/* Returns the format, or 0. */
static inline clr_time_format read_parts(const unsigned char *text, size_t size,
                                         struct parts *parts)
{
    const uint8_t number = size > CLR_TIMESTAMP_MOST ? 0 : shapes_by_size[size];
    const struct shape *shape = &shapes[number - (number > 0)];
    uint64_t wrong = 0, date;
    bool has_t;

    if (number == 0)
        return 0;
    has_t = text[10] == 'T';
    /* "0000-00-" */
    date = take_pattern(text, UINT64_C(0x303030302d30302d), UINT64_C(0x767676767f76767f), &wrong);
    *parts = (struct parts){.year = number_at(date, 6) * 100 + number_at(date, 4),
                            .month = number_at(date, 1),
                            .day = number_at(take_middle(text, has_t, &wrong), 6)};
    if (wrong != 0 || parts->month - 1 >= 12 || parts->day - 1 >= 31 ||
        (parts->day > 28 && parts->day > length_of_month(parts->year, parts->month)) ||
        !read_time(shape, text, has_t, parts))
        return 0;
    return (clr_time_format)(2 * number - 1 + has_t);
}

/* Returns the count of a time of that day. */
static inline int64_t count_of(const struct shape *shape, int64_t day, const struct parts *parts)
{
    const int64_t minutes = day * 1440 + parts->hour * 60 + parts->minute;

    switch (shape->end) {
    case 16:
        return minutes;
    case 19:
        return minutes * 60 + parts->second;
    case 23:
        return (minutes * 60 + parts->second) * 1000 + parts->fraction;
    default:
        return (minutes * 60 + parts->second) * 1000000 + parts->fraction;
    }
}

clr_time_format clr_timestamp_read(const unsigned char *text, size_t size, int64_t *count)
{
    struct parts parts;
    const clr_time_format format = read_parts(text, size, &parts);
    int64_t day;

    if (format == 0)
        return 0;
    day = days_before_year(parts.year) + days_before_month[parts.month] +
          (parts.month > 2 && is_leap(parts.year)) + parts.day - 1;
    *count = count_of(shape_of(format), day, &parts);
    return format;
}

bool clr_timestamp_count(clr_time_format format, const unsigned char *text, size_t size,
                         int64_t *count)
{
    if (size > 0)
        return clr_timestamp_read(text, size, count) == format;
    *count = CLR_TIMESTAMP_EMPTY;
    return true;
}

size_t clr_timestamp_size(clr_time_format format)
{
    return (size_t)shape_of(format)->end + shape_of(format)->behind;
}

/* Reads TEXT of the format's size. Inlined for the shape too. */
static inline __attribute__((always_inline)) bool
read_next(clr_time_format format, const struct shape *shape, const unsigned char *text,
          struct clr_timestamp_date *date, int64_t *count)
{
    enum { BEHIND_DATE = 11 };
    struct clr_timestamp_date read = {.number = 0};
    struct parts parts = {.fraction = 0};

    memcpy(&read.words[0], text, sizeof(uint64_t));
    memcpy(&read.words[1], text + BEHIND_DATE - sizeof(uint64_t), sizeof(uint64_t));
    if (date->number != 0 && read.words[0] == date->words[0] && read.words[1] == date->words[1] &&
        read_time(shape, text, text[BEHIND_DATE - 1] == 'T', &parts)) {
        *count = count_of(shape, date->number - 1, &parts);
        return true;
    }
    if (!clr_timestamp_count(format, text, clr_timestamp_size(format), count))
        return false;
    read.number = *count / shape->steps + 1;
    *date = read;
    return true;
}

bool clr_timestamp_next(clr_time_format format, const unsigned char *text, size_t size,
                        struct clr_timestamp_date *date, int64_t *count)
{
    return size == clr_timestamp_size(format)
               ? read_next(format, shape_of(format), text, date, count)
               : clr_timestamp_count(format, text, size, count);
}

static inline __attribute__((always_inline)) bool
read_all(clr_time_format format, struct shape shape, const unsigned char *const *texts,
         size_t count, struct clr_timestamp_date *date, int64_t *counts)
{
    struct clr_timestamp_date last = *date;
    bool are_times = true;
    size_t i;

    for (i = 0; i < count && are_times; i++)
        are_times = read_next(format, &shape, texts[i], &last, &counts[i]);
    *date = last;
    return are_times;
}

bool clr_timestamps_read(clr_time_format format, const unsigned char *const *texts, size_t count,
                         struct clr_timestamp_date *date, int64_t *counts)
{
    /* Of seconds with nothing behind them, as CURRENT_TIMESTAMP has: a third quicker where the
       shape is known. */
    if (shape_of(format)->end == 19 && shape_of(format)->behind == 0)
        return read_all(format, (struct shape){19, 0, 86400}, texts, count, date, counts);
    return read_all(format, *shape_of(format), texts, count, date, counts);
}

/* ---- Writing. */

static void write_digits(unsigned char *text, size_t count, uint64_t number)
{
    while (count-- > 0) {
        text[count] = (unsigned char)('0' + number % 10);
        number /= 10;
    }
}

static void write_date(int64_t day, unsigned char *text)
{
    unsigned year = (unsigned)(day * 400 / DAYS_OF_400_YEARS), month = 12, before;

    while (days_before_year(year + 1) <= day)
        year++;
    while (days_before_year(year) > day)
        year--;
    day -= days_before_year(year);
    do
        before = (unsigned)days_before_month[month] + (month > 2 && is_leap(year));
    while (before > day && month-- > 0);
    write_digits(text, 4, year);
    text[4] = text[7] = '-';
    write_digits(text + 5, 2, month);
    write_digits(text + 8, 2, (uint64_t)(day - before + 1));
}

size_t clr_timestamp_write(clr_time_format format, int64_t count,
                           unsigned char text[CLR_TIMESTAMP_MOST])
{
    const struct shape *shape = shape_of(format);
    const uint64_t rest = (uint64_t)(count % shape->steps);
    const uint64_t minute = rest / (uint64_t)(shape->steps / 1440);
    const uint64_t left = rest % (uint64_t)(shape->steps / 1440);
    const uint64_t second = (uint64_t)shape->steps / 86400;

    if (count == CLR_TIMESTAMP_EMPTY)
        return 0;
    write_date(count / shape->steps, text);
    text[10] = format % 2 == 0 ? 'T' : ' ';
    write_digits(text + 11, 2, minute / 60);
    text[13] = ':';
    write_digits(text + 14, 2, minute % 60);
    if (shape->end > 16) {
        text[16] = ':';
        write_digits(text + 17, 2, left / second);
    }
    if (shape->end > 19) {
        text[19] = '.';
        write_digits(text + 20, shape->end - 20u, left % second);
    }
    memcpy(text + shape->end, shape->behind == 1 ? "Z" : behind, shape->behind);
    return (size_t)shape->end + shape->behind;
}

int64_t clr_timestamp_all(clr_time_format format)
{
    return days_before_year(MOST_YEAR + 1) * shape_of(format)->steps;
}

int64_t clr_timestamp_below(clr_time_format format, const unsigned char *text, size_t size)
{
    int64_t least = CLR_TIMESTAMP_EMPTY, most = clr_timestamp_all(format);
    unsigned char written[CLR_TIMESTAMP_MOST];

    /* What is below `least` is less, and nothing from `most` on is. */
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        const size_t length = clr_timestamp_write(format, middle, written);
        const size_t both = length < size ? length : size;
        const int order = both == 0 ? 0 : memcmp(written, text, both);

        if (order < 0 || (order == 0 && length < size))
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/* ---- Units. */

bool clr_time_unit_of_text(enum clr_time_unit unit, bool is_last, const unsigned char *text,
                           size_t size, unsigned char to[CLR_TIMESTAMP_MOST])
{
    static const char first[] = "0000-01-01 00:00:00.000000";
    static const char last[] = "0000-01-01 23:59:59.998999"; /* is not rounded up */
    const char *const end = is_last ? last : first;
    const struct shape *shape;
    struct parts parts;
    clr_time_format format;

    if (size < CLR_TIMESTAMP_LEAST)
        return false;
    format = read_parts(text, size, &parts);
    if (format == 0)
        return false;
    shape = shape_of(format);
    /* SQLite's times are in milliseconds. */
    if (shape->end == 26 && parts.second == 59 && parts.fraction >= 999000)
        return false;
    /* The two copies overlap. */
    memcpy(to, text, CLR_TIMESTAMP_LEAST);
    memcpy(to + size - CLR_TIMESTAMP_LEAST, text + size - CLR_TIMESTAMP_LEAST, CLR_TIMESTAMP_LEAST);
    if (unit == CLR_TIME_DAY)
        memcpy(to + 11, end + 11, 5);
    else if (unit == CLR_TIME_HOUR)
        memcpy(to + 14, end + 14, 2);
    if (shape->end > 16)
        memcpy(to + 16, end + 16, 3);
    if (shape->end > 19)
        memcpy(to + 19, end + 19, shape->end - 19u);
    return true;
}

/* Seconds from 0000-01-01 to 1970-01-01, and to 10000-01-01. */
#define UNIX_LEAST (-INT64_C(62167219200))
#define UNIX_END INT64_C(253402300800)

/* The Julian day of 0000-01-01, and the one from which on SQLite takes a number for one of seconds:
   "auto" aside, a Julian day is less. */
#define JULIAN_LEAST 1721059.5
#define JULIAN_END 5373484.5

/* Returns a number of seconds rounded down to a multiple of a unit's, or the last one there. */
static struct clr_scalar unit_of_seconds(double seconds, bool is_last, struct clr_scalar value)
{
    const double real = clr_real_of(value.bits);
    int64_t integer = value.bits, rest;

    if (value.tag == CLR_TAG_INTEGER) {
        if (integer < UNIX_LEAST || integer >= UNIX_END)
            return value;
        rest = integer % (int64_t)seconds;
        integer -= rest < 0 ? rest + (int64_t)seconds : rest;
        value.bits = is_last ? integer + (int64_t)seconds - 1 : integer;
        return value;
    }
    if (value.tag == CLR_TAG_REAL && real >= (double)UNIX_LEAST && real < (double)UNIX_END) {
        const double begin = floor(real / seconds) * seconds;

        /* SQLite rounds to milliseconds. */
        if (real >= begin && real - begin < seconds - 0.002)
            value.bits = clr_bits_of(is_last ? begin + seconds - 0.5 : begin);
    }
    return value;
}

struct clr_scalar clr_time_unit_of_number(enum clr_time_unit unit, bool is_last,
                                          struct clr_scalar value)
{
    const double real = clr_real_of(value.bits);
    double begin;

    switch (unit) {
    case CLR_TIME_UNIX_MINUTE:
        return unit_of_seconds(60, is_last, value);
    case CLR_TIME_UNIX_HOUR:
        return unit_of_seconds(3600, is_last, value);
    case CLR_TIME_UNIX_DAY:
        return unit_of_seconds(86400, is_last, value);
    case CLR_TIME_JULIAN_DAY:
        if (value.tag != CLR_TAG_REAL || !(real >= JULIAN_LEAST && real < JULIAN_END - 1.0))
            return value;
        begin = floor(real + 0.5) - 0.5; /* days begin at noon */
        if (real - begin < 1.0 - 1e-7)
            value.bits = clr_bits_of(is_last ? begin + 0.999 : begin);
        return value;
    default:
        return value;
    }
}
