/* Text that was cut anywhere. */
#ifndef CLR_BASE_UTF8_H
#define CLR_BASE_UTF8_H

/* Leaves out of a text, terminated by zero, the bytes that are no whole character of UTF-8: many
   languages' interfaces fail on such a text instead of showing it. */
void clr_utf8_repair(char *text);

#endif
