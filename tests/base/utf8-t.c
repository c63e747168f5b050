/* Texts that were cut anywhere keep their whole characters, and nothing else. */
#include "base/utf8.h"

#include "tap.h"

#include <string.h>

static const struct {
    const char *text, *want, *what;
} cases[] = {
    {"", "", "nothing"},
    {"plain", "plain", "ASCII"},
    {"\x7f\x01", "\x7f\x01", "the ends of ASCII"},
    {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
     "characters of two, three and four bytes"},
    {"a\xc3", "a", "the first of two bytes"},
    {"a\xe2\x82", "a", "two of three bytes"},
    {"a\xf0\x9f\x98", "a", "three of four bytes"},
    {"\xc3', \xe2\x82', \xf0\x9f\x98'", "', ', '", "parts of characters within a text"},
    {"\xc3\xc3\xa4", "\xc3\xa4", "a part before a whole character"},
    {"\xa4\x80z", "z", "bytes that begin none"},
    {"\xc0\x80\xc1\xbf\xf5\x80\x80\x80\xff!", "!", "bytes that no character begins with"},
};

int main(void)
{
    char text[64];
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(text, cases[i].text, strlen(cases[i].text) + 1);
        clr_utf8_repair(text);
        tap_is_string(text, cases[i].want, "%s", cases[i].what);
    }
    return tap_done();
}
