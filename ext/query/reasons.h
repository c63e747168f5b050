/*
 * Every reason why a SELECT is not accelerated: CLR_WHY(NAME, TEXT), for whoever defines that. In a
 * text %n is the name, %1 and %2 are the numbers, and %c is the text of the cause.
 */

/* The SELECT's text: from clr_query_parse() and clr_query_bind(). */
CLR_WHY(WORD, "%n is not accelerated")
CLR_WHY(WITH, "WITH beside other subqueries, or a view of a table that is named as a CTE, is not "
              "accelerated: write its SELECT in parentheses in the place of its name")
CLR_WHY(LEFT_EXPRESSION,
        "an expression in a subquery behind LEFT JOIN is not accelerated: write it "
        "around the subquery's column")
CLR_WHY(INNER_NUMERIC,
        "CAST to NUMERIC as a column of a subquery is not accelerated: write it around "
        "the subquery's column")
CLR_WHY(COLUMN_LIST, "a list of columns with * is not accelerated: write AS in the SELECT")
CLR_WHY(UNEXPECTED, "\"%n\" is not accelerated in this place")
CLR_WHY(IN_FROM, "a subquery in FROM that has %n is not accelerated: make a view of that subquery")
CLR_WHY(JOIN, "a %n join is not accelerated: write JOIN or LEFT JOIN with ON")
CLR_WHY(JOIN_KEY, "table %n is not joined by a unique key that is equal to expressions of columns: "
                  "declare it PRIMARY KEY or UNIQUE")
CLR_WHY(SUBQUERY, "a subquery is not accelerated in this place: make it a parameter or a table")
CLR_WHY(INNER_NAME, "the name %n is of clreduce's own: choose another one behind AS")
CLR_WHY(OUTER_NAME, "a subquery that names something of the query around it is not accelerated: %n")
CLR_WHY(IN_AFFINITY, "IN with a subquery whose column has another type is not accelerated: write "
                     "SELECT +column in the subquery, if both have the same values")
CLR_WHY(SUBQUERY_NAMES,
        "a subquery in WHERE, GROUP BY or an aggregate is accelerated where it names "
        "one column of the query around it at most")
CLR_WHY(SUBQUERY_READS, "a subquery in WHERE, GROUP BY or an aggregate is accelerated where it "
                        "reads tables that are not virtual")
CLR_WHY(NAMED_KEY, "a subquery that names a key of GROUP BY is accelerated where that is a column "
                   "of INTEGER or NUMERIC affinity, and not behind IN")
CLR_WHY(SUBQUERY_ROWS,
        "a subquery's value is not accelerated where SQLite searches no index for it: make one")
CLR_WHY(AGGREGATE_AROUND, "an aggregate of a query in a subquery of its rows is not accelerated")
CLR_WHY(SUBQUERY_CALLS, "%n() in a subquery in WHERE, GROUP BY or an aggregate is not accelerated")
CLR_WHY(VIEWS_SUBQUERY, "a subquery in an ordinary view is not accelerated: make an accelerated "
                        "view of its SELECT")
CLR_WHY(WINDOW, "a window function is accelerated over groups of GROUP BY with OVER (...), of keys "
                "compared by BINARY, in a UTF-8 database, or as the rank in a subquery in FROM "
                "whose first rows are asked for: write it in a SELECT around this one")
CLR_WHY(DISTINCT,
        "DISTINCT is accelerated in SELECT DISTINCT, in count(DISTINCT x) and in lists alone")
CLR_WHY(LIST,
        "%n() with such arguments is not accelerated: lists of INTEGERs or TEXT are, DISTINCT or "
        "by groups of GROUP BY, with a text between, in the order of the rows or of the values")
CLR_WHY(LIST_ORDER,
        "a list of values is accelerated where SQLite goes over all rows of the table in their "
        "order: write ORDER BY in its call")
CLR_WHY(HAVING, "HAVING without GROUP BY is not accelerated: write GROUP BY")
CLR_WHY(KEY_CONSTANT, "GROUP BY of this is not accelerated: write a column or an expression of one")
CLR_WHY(KEY_NUMBER, "the select list has no item number %n to group by")
CLR_WHY(KEY_AGGREGATE, "GROUP BY of an aggregate is not accelerated")
CLR_WHY(COLLATION,
        "TEXT that is compared by another collating sequence than BINARY is not accelerated "
        "in this place")
CLR_WHY(EQUAL_KEYS, "keys are equal by their collating sequence and yet differ: SQLite names the "
                    "group by one of them")
CLR_WHY(KEY_COLUMN, "a column that is neither a key of GROUP BY nor in an aggregate is not "
                    "accelerated: SQLite takes it from some row; write GROUP BY with it, or an "
                    "aggregate of it")
CLR_WHY(INDEX_ORDER,
        "groups in the order of an index, or of a primary key, are not accelerated: write "
        "ORDER BY with all keys")
CLR_WHY(ORDER_BY, "ORDER BY of this is not accelerated: leave it out, as the result is one row")
CLR_WHY(LIMIT, "LIMIT of this is not accelerated: write a literal or a parameter")
CLR_WHY(INDEXED_BY, "INDEXED BY is not accelerated: leave it out")
CLR_WHY(COMPOUND, "%n is not accelerated: make a view of each SELECT")
CLR_WHY(TRUTH_NAME,
        "TRUE and FALSE are not accelerated where a column may have that name: write 1 or 0")
CLR_WHY(INCOMPLETE, "the statement is not complete")
CLR_WHY(NO_FROM, "a SELECT without FROM is not accelerated: it reads no table")
CLR_WHY(NO_SELECT, "a statement that does not begin with SELECT is not accelerated")
CLR_WHY(STATEMENTS, "more than one statement is not accelerated")
CLR_WHY(COMMENT, "a comment has no end")
CLR_WHY(QUOTE, "a quote has no end")
CLR_WHY(NUMBER_END, "a number with letters or _ in it is not accelerated: write its digits")
CLR_WHY(NUMBER, "the number %n is not accelerated")
CLR_WHY(BYTE_ORDER_MARK, "a byte order mark is not accelerated: leave it out")
CLR_WHY(CHARACTER, "the text has a character that begins no word, number or operator")
CLR_WHY(PARAMETER_NAME, "the parameter's name is not accelerated: write ?1 or :name")
CLR_WHY(PARAMETER, "the statement has no parameter %n")
CLR_WHY(NESTING, "the expressions are nested too deep to be accelerated")
CLR_WHY(TOO_MANY, "too many %n to be accelerated: make several views")
CLR_WHY(MINUS_PLUS,
        "a minus sign in front of a plus sign is not accelerated: leave the plus sign out")
CLR_WHY(NO_AGGREGATE, "a SELECT without aggregates and GROUP BY is accelerated where its WHERE, or "
                      "LIMIT with ORDER BY of a column's expression, asks for few rows")
CLR_WHY(TEXT_ORDER,
        "rows in the order of TEXT that is no timestamp are not accelerated: SQLite is as "
        "quick")
CLR_WHY(ROWS_OF_SUBQUERY, "rows of a subquery in FROM are not accelerated: read its table")
CLR_WHY(LIMIT_OF_ROWS, "LIMIT without ORDER BY is not accelerated: SQLite stops at the first rows")
CLR_WHY(NO_ROWID, "rows of a WITHOUT ROWID table, or of one whose rowid has no name, are not "
                  "accelerated: groups and aggregates are")
CLR_WHY(BARE_COLUMN, "a column beside aggregates is not accelerated: SQLite takes it from some "
                     "row; write GROUP BY, or an aggregate of it")
CLR_WHY(NESTED_AGGREGATE, "an aggregate within another one is not accelerated")
CLR_WHY(AGGREGATE_IN_WHERE, "an aggregate in WHERE is not accelerated")
CLR_WHY(AGGREGATE_IN_EXPRESSION, "an aggregate within an expression is not accelerated")
CLR_WHY(COLLATED_AGGREGATE, "an aggregate with COLLATE in its arguments is not accelerated within "
                            "an expression: make it a column of the result")
CLR_WHY(FILTER, "FILTER is not accelerated for %n(), which is no aggregate that a view computes")
CLR_WHY(FUNCTION, "%n() is no aggregate that a view computes; other functions of a column may "
                  "stand in aggregates, WHERE and GROUP BY")
CLR_WHY(FUNCTION_ARGUMENTS, "the function %n() is not accelerated with these arguments")
CLR_WHY(NO_CONSTANT, "%n() is not accelerated with this argument: write a literal or a parameter")
CLR_WHY(COLUMN, "%n is no column of the table")
CLR_WHY(TEXT_COLUMN, "the TEXT column %n is not accelerated in this place")
CLR_WHY(GENERATED_COLUMN, "the virtual generated column %n is not accelerated: its value may "
                          "follow from more than its row; make it STORED")
CLR_WHY(NOT_DETERMINISTIC, "%n() is not accelerated: it is an aggregate that no view computes, or "
                           "its result may follow from more than its arguments")
CLR_WHY(SUBTYPE,
        "%n() asks whether its argument is JSON, which is not known of a key, an aggregate or "
        "a subquery's column: write json(argument) if it is JSON, else argument || ''")
CLR_WHY(TWO_COLUMNS, "an expression with text or functions of two columns is not accelerated: "
                     "write one for each column")
CLR_WHY(NO_COLUMN_IN_IT, "an expression with text or functions and no column is not accelerated: "
                         "make it a parameter")
CLR_WHY(PAST_INTEGERS,
        "a comparison with 2^63 or -2^63 as a REAL, or with what may be computed to it, is not "
        "accelerated")
CLR_WHY(EMPTY_IN, "an empty IN list is not accelerated: write 0 for IN, 1 for NOT IN")
CLR_WHY(TYPE, "CAST to this type is not accelerated: write INTEGER, REAL, TEXT, NUMERIC or BLOB")
CLR_WHY(TIME_COMPUTED, "a date function of text that is computed is not accelerated: the text may "
                       "be 'now'")

/* What names mean, and what they read. */
CLR_WHY(HAS_INDEX, "rows that SQLite finds by an index are not accelerated: it is as quick")
CLR_WHY(NO_TABLE, "the schema has no table %n")
CLR_WHY(READS_VIEW, "%n is a temporary view, which is not accelerated: read its table")
CLR_WHY(READS_VIRTUAL_TABLE,
        "%n is a virtual table, which is not accelerated: copy it into a table")
CLR_WHY(SCHEMA_LOCKED, "the schema could not be read: it may be locked")
CLR_WHY(SCHEMA_UNREAD, "the database's schema could not be read")
CLR_WHY(SCHEMA_CHANGES, "the schema is changing")
CLR_WHY(VIEW_CHANGED, "view %n has other columns now: call clreduce_accelerate() again")
CLR_WHY(COLUMNS_UNREAD, "the table's columns could not be read")
CLR_WHY(NAMES_UNREAD, "database %n, which may have a table of the name, could not be read")
CLR_WHY(NAMES_LOCK, "database %n, which may have a table of the name, would stay locked until the "
                    "transaction ends: write the schema before the name")
CLR_WHY(REPLACED, "a function of SQLite or clreduce is replaced by the application's")
CLR_WHY(SQLITE_ERROR, "%n")
CLR_WHY(NO_MEMORY, "out of memory")

/* Why this query, this time. */
CLR_WHY(PARAMETER_VALUE, "parameter %1 is no number, or too large where it is compared")
CLR_WHY(OPERAND_VALUE, "a function of times gives TEXT where numbers are compared: CAST it")
CLR_WHY(ARGUMENTS, "an aggregate's arguments may be an error, which SQLite reports")
CLR_WHY(FLOAT_ENVIRONMENT, "it computes, and the thread's floating-point environment (rounding "
                           "mode, flushing of subnormal numbers, traps) is not the default one")
CLR_WHY(EMPTY_TABLE, "the table is empty")
CLR_WHY(SMALL_TABLE, "the table has %1 rows, and view_threshold is %2")
CLR_WHY(FEW_ROWS, "SQLite finds the rows itself, and reads %1 of them")
CLR_WHY(OTHER_WAY, "SQLite goes over the rows in another way with these parameters")
CLR_WHY(VALUE, "some row has a value that only SQLite can treat there: TEXT or a BLOB for a "
               "number, an error, or INTEGERs among the REALs of a key")
CLR_WHY(MANY_ROWS, "more than one row in %1 passes: SQLite is as quick")
CLR_WHY(LIMIT_VALUE, "LIMIT and OFFSET ask for no row, for all, or for more than one row in %1")
CLR_WHY(VALUES_MEMORY, "the values take more than values_memory: raise that setting")
CLR_WHY(KEEPS_VALUES, "the columns take more than column_memory, and a function needs all values "
                      "together: raise that setting")
CLR_WHY(MANY_VALUES,
        "column %n has too many different values: text or functions of it are as quick "
        "row by row")
CLR_WHY(ROWS_MOVED, "DISTINCT gives values in the order of the rows, and rows have been written "
                    "among those that were read: write GROUP BY")
CLR_WHY(KEEPS_CODES, "the columns take more than column_memory, and so do the different values of "
                     "text: raise that setting")
CLR_WHY(PRESENT_TIME, "the present time ('now') of a column's value and time zones are not "
                      "accelerated: make the result a parameter")
CLR_WHY(TWO_INSTANTS,
        "the present time both in the rows' expressions and in the select list, HAVING "
        "or ORDER BY is not accelerated: make one of them a parameter")
CLR_WHY(SCAN_MEMORY, "there was no memory for the scan")
CLR_WHY(MALFORMED_PAGE, "page %1 of the database is malformed: run PRAGMA integrity_check")
CLR_WHY(LOAD_FAILED, "%n")
CLR_WHY(ROUNDING, "SQLite's own %n rounds or fails by the order of the rows: write gpu_%n")
CLR_WHY(FIRST_OF_EQUALS,
        "SQLite's own %n gives the first of equal values, 1 or 1.0, 0.0 or -0.0: write gpu_%n")
CLR_WHY(RESULT_ERROR, "%n may be an error, which SQLite reports")
CLR_WHY(LISTED, "%n lists a REAL, TEXT with a zero, or, as JSON, a NULL, a BLOB or TEXT that is "
                "written with escapes: "
                "SQLite writes these")
CLR_WHY(NONE_LISTED, "a list without GROUP BY has no rows")
CLR_WHY(ANSWER, "a function is replaced by the application's, or the result row is an error or "
                "left out by LIMIT")
CLR_WHY(ANSWER_UNBOUND, "the result could not be bound")
CLR_WHY(OTHER_ROWS,
        "the value of a virtual generated column may follow from more than its row: make it STORED")
CLR_WHY(ROWS_TOO_LARGE, "the columns take more than column_memory, and the table's pages cannot "
                        "stream: raise that setting")
CLR_WHY(ROWS_FAILED, "SQLite found an error when it filled the columns")
CLR_WHY(ROW_EXPRESSION,
        "it needs an expression with text or functions of several columns, or of one "
        "with too many different values")
CLR_WHY(ASKED_ONCE, "%c; will be kept when asked again")
CLR_WHY(ASKED_SELDOM, "%c; will be kept when asked %1 times more, as the database changes often")

/* Why a database cannot be read, or its version not be known, this time. */
CLR_WHY(NO_TRANSACTION, "no read transaction could be begun")
CLR_WHY(UNCOMMITTED, "this connection's own uncommitted changes are to be seen: COMMIT first")
CLR_WHY(NESTED, "the query that this one is a part of is reading the same columns just now")
CLR_WHY(SHARED_CACHE, "the connection shares its cache with others: open it with cache=private")
CLR_WHY(LOG_JUST_OPENED, "the write-ahead log has just been opened: ask again")
CLR_WHY(UNPROVED_SNAPSHOT,
        "others write to the log, and which snapshot this is could not be proved: end the "
        "transaction, and begin the next one with a query of the view")
CLR_WHY(OVERTAKEN, "another connection has committed since this snapshot began, whose columns are "
                   "not there: end the transaction")
CLR_WHY(LOG_NOT_OPEN, "the write-ahead log is not open")
CLR_WHY(LOG_UNREAD, "the write-ahead log could not be read")
CLR_WHY(SIZE_UNREAD, "the database file's size could not be read")
CLR_WHY(SHORTER_THAN_LOG, "the database is shorter than its log says")
CLR_WHY(SHORTER_THAN_HEADER, "the database is shorter than its header says")
CLR_WHY(SMALL_PAGES, "the database's header leaves too little room in a page")
CLR_WHY(DESERIALIZED, "the database is a deserialized one, which may be replaced without notice")
CLR_WHY(NO_JOURNAL, "the database is in memory, or temporary, and has no journal")
CLR_WHY(NO_VERSION, "SQLite does not tell the version of the database")

/* Why there are no pages to be read, which is likely to stay so: the rows are read instead. The
   first one begins these: see clr_reason_is_no_pages(). */
CLR_WHY(READS_GENERATED, "it needs a virtual generated column")
CLR_WHY(OLDER_ROWS, "it has rows that were written before a column whose default is no number")
CLR_WHY(LENGTH_LIMIT, "SQLITE_LIMIT_LENGTH is less than a page may have")
CLR_WHY(TEMPORARY_TABLE, "the table is temporary")
CLR_WHY(IN_MEMORY, "the database is in memory, or temporary")
CLR_WHY(NO_FILE, "the database is not a file of the operating system")
CLR_WHY(FILE_LOCKED, "the database is locked for writing, or in exclusive locking mode")
CLR_WHY(FILE_UNREAD, "the database file could not be read")
CLR_WHY(ENCRYPTED, "the database file is encrypted, or is no database")
CLR_WHY(MALFORMED_HEADER, "the database's header is malformed")

#undef CLR_WHY
