# Runs one file of SQLite's own tests (https://sqlite.org/testing.html, the TCL tests) in Debian's tclsh,
# whose sqlite3 package uses the system's libsqlite3.so.0:
#
#     tclsh plain_suite.tcl FOLDER/test NAME.test
#
# The tests are written for a build of SQLite's with commands of its own. The few of these that every
# file needs are here, and do nothing; a file ends where it calls another one. What is printed is
# compared between two runs (plain-suite.py), and not with what the tests expect.

package require sqlite3

# Both runs have the same random numbers.
expr {srand(1)}

# Commands that have no effect on results here.
foreach name {
    sqlite3_test_control_pending_byte sqlite3_shutdown sqlite3_initialize install_malloc_faultsim
    autoinstall_test_functions sqlite3_soft_heap_limit64 sqlite3_hard_heap_limit64
    sqlite3_soft_heap_limit sqlite3_config_memstatus sqlite3_memdebug_settitle
    sqlite3_reset_auto_extension database_never_corrupt database_may_be_corrupt extra_schema_checks
    vfs_unlink_test sqlite3_extended_result_codes run_thread_tests sqlite3_db_config
    sqlite3_enable_shared_cache breakpoint unregister_devsim unregister_jt_vfs unregister_demovfs
    db_save sqlite3_limit optimization_control sqlite3_memdebug_log sqlite3_config_uri
    sqlite3_config_lookaside sqlite3_clear_tsd_memdebug sqlite3_fts3_may_be_corrupt
    sqlite3_config_pagecache sqlite3_config_pmasz sqlite3_db_config_lookaside sqlite3_config_cis
    save_prng_state restore_prng_state reset_prng_state clang_sanitize_address atomic_batch_write
    sqlite3_test_control
} {
    proc $name args {return 0}
}
proc sqlite3_connection_pointer db {return $db}
proc sqlite3_status args {return {0 0 0}}
proc sqlite3_memory_used {} {return 0}
proc sqlite3_memory_highwater args {return 0}
proc working_64bit_int {} {return 1}

# Digests are compared with each other alone.
proc md5 text {format %08X [zlib crc32 [encoding convertto utf-8 $text]]}

# Bytes of files.
proc hexio_read {file offset count} {
    set channel [open $file rb]
    seek $channel $offset
    set bytes [read $channel $count]
    close $channel
    return [string toupper [binary encode hex $bytes]]
}
proc hexio_write {file offset hex} {
    set channel [open $file r+b]
    seek $channel $offset
    puts -nonewline $channel [binary decode hex $hex]
    close $channel
    return [expr {[string length $hex] / 2}]
}
proc hexio_get_int hex {expr 0x$hex}
proc hexio_render_int16 number {format %04X [expr {$number & 0xffff}]}
proc hexio_render_int32 number {format %08X [expr {$number & 0xffffffff}]}

# Databases that are kept aside; the suite has these for builds that let calls fail.
proc faultsim_save args {
    foreach file [glob -nocomplain sv_test.db*] {forcedelete $file}
    foreach file [glob -nocomplain test.db*] {forcecopy $file sv_$file}
}
proc faultsim_save_and_close args {
    faultsim_save
    catch {db close}
    return {}
}
proc faultsim_restore args {
    foreach file [glob -nocomplain test.db*] {forcedelete $file}
    foreach file [glob -nocomplain sv_test.db*] {forcecopy $file [string range $file 3 end]}
}
proc faultsim_restore_and_reopen {{file test.db}} {
    catch {db close}
    faultsim_restore
    sqlite3 db $file
}
proc faultsim_delete_and_reopen {{file test.db}} {
    catch {db close}
    foreach old [glob -nocomplain test.db*] {forcedelete $old}
    sqlite3 db $file
}

# What test builds count.
foreach name {
    sqlite_open_file_count sqlite_search_count sqlite_sort_count sqlite_found_count sqlite_like_count
    sqlite_max_blobsize sqlite_interrupt_count sqlite3_xferopt_count sqlite_fts3_enable_parentheses
    sqlite3_max_blobsize sqlite_sync_count sqlite_fullsync_count sqlite_current_time
} {
    set $name 0
}
set sqlite_pending_byte 0x40000000
set SQLITE_DEFAULT_FILE_FORMAT 4
set longdouble_size 16

# What the library was built with; tests of anything else are left out.
set testdir [file normalize [lindex $argv 0]]
set file [lindex $argv 1]
set absent {
    debug memdebug crashtest mem3 mem5 default_autovacuum lookaside8k threadsafe1 userauth icu stat4
    memorymanage pager_pragmas_off oversize_cell_check sqlite_log unlock_notify lock_proxy_pragmas
    win_malloc zonefile rtree_int_only 8_3_names secure_delete ltc_fast case_sensitive_like sqllog
    configslower default_ckptfullfsync cursorhints builtin_test mutex_noop vdbe_profile snapshot
    stat3 uri_00_error preupdate malloctrace update_delete_limit tclvar1 bytecode_vtab prefer_proxy_locking
    memsys3 memsys5 mmap_off
}
foreach source [concat [glob -directory $testdir *.tcl] [file join $testdir $file]] {
    set channel [open $source]
    fconfigure $channel -encoding iso8859-1
    foreach {- words} [regexp -all -inline {ifcapable\s+\{?([^\n\{\}]*)} [read $channel]] {
        foreach word [regexp -all -inline {[a-z_0-9]+} $words] {set sqlite_options($word) 1}
    }
    close $channel
}
foreach name $absent {set sqlite_options($name) 0}
array set sqlite_options {default_autovacuum 0 casesensitivelike 0 threadsafe 1 mmap 1}
foreach {name value} {
    SQLITE_MAX_LENGTH 1000000000 SQLITE_MAX_COLUMN 2000 SQLITE_MAX_SQL_LENGTH 1000000
    SQLITE_MAX_EXPR_DEPTH 1000 SQLITE_MAX_COMPOUND_SELECT 500 SQLITE_MAX_VDBE_OP 25000
    SQLITE_MAX_FUNCTION_ARG 127 SQLITE_MAX_ATTACHED 10 SQLITE_MAX_VARIABLE_NUMBER 250000
    SQLITE_MAX_PAGE_SIZE 65536 SQLITE_MAX_PAGE_COUNT 1073741823 SQLITE_MAX_LIKE_PATTERN_LENGTH 50000
    SQLITE_MAX_TRIGGER_DEPTH 1000 SQLITE_DEFAULT_CACHE_SIZE -2000 SQLITE_DEFAULT_PAGE_SIZE 4096
    SQLITE_DEFAULT_TEMP_CACHE_SIZE 0 SQLITE_DEFAULT_SYNCHRONOUS 2 SQLITE_DEFAULT_WAL_SYNCHRONOUS 2
    SQLITE_MAX_WORKER_THREADS 8 TEMP_STORE 1 SQLITE_MAX_DEFAULT_PAGE_SIZE 8192
} {
    set $name $value
}

set argv {}
set argv0 [file join $testdir $file]

# Two things tell what was run: the number of rows that SQLite went over, and EXPLAIN. The first is 0 here,
# and of the second what it would explain is run.
rename source sqlite_source
proc source name {
    set channel [open $name]
    fconfigure $channel -encoding utf-8
    regsub -all {\mdb status (step|sort|autoindex|vmstep)\M} [read $channel] {expr 0} script
    close $channel
    set explained {\m(?:EXPLAIN|explain)\s+(?:QUERY\s+PLAN\s+|query\s+plan\s+)?(?=SELECT|select|WITH|with|VALUES|[\$\[])}
    regsub -all $explained $script {} script
    # Processes that a test starts begin as this one, and report nothing: what they write there is an
    # error to the test.
    set begin "package require sqlite3; proc sqlite3_test_control_pending_byte args {return 0}"
    append begin "; set ::env(CLREDUCE_RUN) quiet"
    regsub {set wrapper ""} $script "set wrapper {$begin}" script
    set before [info script]
    info script $name
    set code [catch {uplevel 1 $script} result options]
    info script $before
    # A script may end by return.
    if {$code == 2} {return $result}
    return -options $options $result
}

if {[catch {source $argv0} message]} {
    puts "ended: [lindex [split $message \n] 0]"
}
