/* The one lock of this library, for what changes rarely: the copies of SQLite, the extension's
   file, and the maps of pointers. A child after fork() finds it free. No function is called with it
   that could take it again. */
#ifndef CLR_PRELOAD_LOCK_H
#define CLR_PRELOAD_LOCK_H

void clr_lock(void);
void clr_unlock(void);

#endif
