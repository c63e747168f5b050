/* The columns of EXPLAIN, whose rows are the instructions of a statement's code
   (https://sqlite.org/opcode.html). */
#ifndef CLR_SQLITE_EXPLAIN_COLUMNS_H
#define CLR_SQLITE_EXPLAIN_COLUMNS_H

enum {
    CLR_EXPLAIN_OPCODE = 1,
    CLR_EXPLAIN_P1,
    CLR_EXPLAIN_P2,
    CLR_EXPLAIN_P3,
    CLR_EXPLAIN_P4,
    CLR_EXPLAIN_P5
};

#endif
