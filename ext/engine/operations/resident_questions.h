/* The answers to a scan's questions from columns that lie in a device's memory. */
#ifndef CLR_ENGINE_RESIDENT_QUESTIONS_H
#define CLR_ENGINE_RESIDENT_QUESTIONS_H

#include "engine/columns/sharded.h"
#include "numeric/scan/scan.h"

/*
 * As clr_resident_scan(), for a scan with questions: the tallies are computed, and the questions
 * answered: histograms from the columns (see resident_bins.h), and what concerns the order of
 * values from sorted copies of the columns, which are made in the background when somebody first
 * asks (see sharded_order.h). The answer is CLR_SCAN_NOT_NOW until these are there, and the
 * kernels, and always where a question is about less than a whole column of INTEGERs or of REALs,
 * or about equal values of one in several shards, or a histogram has more bins than there are rows,
 * or takes more than the scan's values_memory.
 */
enum clr_scan_outcome clr_resident_answer(const struct clr_division *division,
                                          struct clr_scan *scan, struct clr_sharded *const *copies,
                                          int64_t timeout_ms, const struct clr_watch *watch,
                                          struct clr_device_work *work, struct clr_status *status);

#endif
