/* The settings of tests that feed a device. */
#ifndef CLR_TESTS_FED_H
#define CLR_TESTS_FED_H

#include "base/settings.h"
#include "opencl/devices.h"

enum { FED_TIMEOUT_S = 60 };

/* The device that tests have, which is to be used for the first value. */
static inline struct clr_settings fed_settings(void)
{
    struct clr_device_info device = devices_choose();
    struct clr_settings settings;
    struct clr_status status;

    clr_settings_init(&settings);
    clr_settings_set(&settings, "device", clr_device_type_name(device.type), &status);
    settings.host_threshold = 1;
    settings.start_after = 0;
    settings.device_timeout = (int64_t)FED_TIMEOUT_S * 1000;
    return settings;
}

#endif
