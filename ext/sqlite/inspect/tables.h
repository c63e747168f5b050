/*
 * The tables to look inside: clreduce_devices, clreduce_stats, clreduce_settings, clreduce_columns
 * and clreduce_plan(). They are eponymous virtual tables: they exist without being created, and
 * cannot be written to.
 */
#ifndef CLR_SQLITE_TABLES_H
#define CLR_SQLITE_TABLES_H

#include "sqlite/session/connection.h"

/* Registers the tables. Returns SQLite's result code. */
int clr_tables_register(struct clr_connection *connection);

#endif
