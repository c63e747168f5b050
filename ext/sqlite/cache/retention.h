/* What becomes of a file's columns when its last connection of the process has closed. */
#ifndef CLR_SQLITE_RETENTION_H
#define CLR_SQLITE_RETENTION_H

/*
 * From now on the columns of a file that no connection has open any more go after the time that the
 * process's setting column_retention says: a thread sees to that, which ends when there is nothing
 * left to wait for. They go at once if the file changed so short a time ago that another change
 * might not show. To be called before anything is cached; any number of times.
 */
void clr_retention_begin(void);

/* Heeds the setting after it has changed. */
void clr_retention_heed_setting(void);

#endif
