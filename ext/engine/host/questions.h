/* The answers to a scan's questions, on the host, in threads. */
#ifndef CLR_ENGINE_QUESTIONS_H
#define CLR_ENGINE_QUESTIONS_H

#include "engine/worker/team.h"
#include "numeric/scan/collector.h"
#include "numeric/scan/scan.h"

/*
 * Answers the scan's questions; its tallies are complete. shares are those of its parts, with
 * tally_count in each. alone: threads are not worth it. memory: the bytes that may be taken. watch
 * may be NULL. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE (Inf where SQLite's percentiles have an
 * error), CLR_SCAN_LIMIT, CLR_SCAN_STOPPED or CLR_SCAN_FAILED without memory.
 */
enum clr_scan_outcome clr_questions_answer(struct clr_scan *scan, struct clr_share *shares,
                                           int parts, bool alone, uint64_t memory,
                                           const struct clr_watch *watch);

#endif
