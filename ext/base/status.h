/* What went wrong: a code to decide by and a text to show. */
#ifndef CLR_BASE_STATUS_H
#define CLR_BASE_STATUS_H

enum clr_code {
    CLR_OK = 0,
    CLR_NOMEM,   /* no memory on the host, or for now on a device: to be tried again later */
    CLR_INVALID, /* the caller's value is not one of the valid ones */
    CLR_DEVICE,  /* OpenCL refused or failed */
    CLR_IO,      /* a file could not be read */
    CLR_LIMIT,   /* a setting does not allow that much memory */
    CLR_STOPPED  /* the caller wanted it to end */
};

enum { CLR_STATUS_MESSAGE = 512 };

/* The caller owns it; no function keeps a pointer to it. */
struct clr_status {
    enum clr_code code;
    /* OpenCL's error number, with CLR_DEVICE and, of some, CLR_NOMEM; with CLR_IO SQLite's result
       code; or 0. */
    int error;
    char message[CLR_STATUS_MESSAGE];
};

/* Sets status to no error. */
void clr_status_clear(struct clr_status *status);

/*
 * Sets code, error and a message in printf's format, cut to fit; of its text in UTF-8 characters
 * stay whole. Returns code, so that a failing function can end with it.
 */
enum clr_code clr_status_set(struct clr_status *status, enum clr_code code, int error,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Leaves out of a text that was cut anywhere, terminated by zero, the bytes that are no whole
   character of UTF-8: many languages' interfaces fail on such a text instead of showing it. */
void clr_utf8_repair(char *text);

#endif
