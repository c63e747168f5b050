/* What becomes of a file's columns when its last connection of the process has closed. */
#ifndef CLR_SQLITE_RETENTION_H
#define CLR_SQLITE_RETENTION_H

/*
 * From now on the columns of a file that no connection has open any more go after the time that the
 * process's setting column_retention says, or soon after the file was deleted: a thread sees to
 * that, which ends when there is nothing left to wait for. Each such file takes a descriptor: of 16
 * at most, and of a small part of those that the process may have, columns stay. To be called
 * before anything is cached; any number of times.
 */
void clr_retention_begin(void);

/* Heeds the setting after it has changed. */
void clr_retention_heed_setting(void);

#endif
