/* The choice between host and device for work on many values at once. */
#ifndef CLR_ENGINE_CHOICE_H
#define CLR_ENGINE_CHOICE_H

#include "base/settings.h"
#include "engine/columns/copies.h"

/* Returns whether so many values are worth other means than the usual: a hand-over to a device and
   its launches, or a count of all of them at the end. */
bool clr_choice_are_many(const struct clr_settings *settings, uint64_t values);

/*
 * Finds the devices that are worth asking about so many values under these settings, of a table
 * with so many rows: at most as many as the setting `devices` allows, the one that the setting
 * `device` chooses and others that are alike (clr_catalog_is_alike()), but none that has failed.
 * The rows alone decide how many they are: each is to have many for itself. A device that is the
 * processor itself is no quicker than the host's threads, and "auto" chooses none.
 * Starts whatever has to be started for the next time, and never waits. Returns whether there is
 * one.
 */
bool clr_choose_devices(const struct clr_settings *settings, uint64_t values, uint64_t rows,
                        struct clr_devices *devices);

/* Whether device number i of the catalog may be among these, for any number of rows. Starts
   nothing. */
bool clr_choice_uses(const struct clr_settings *settings, size_t i);

#endif
