/* The choice between the two arithmetics for sums of REALs, and what they take on each device. */
#include "base/settings.h"
#include "opencl/devices.h"
#include "opencl/reduction/reducer.h"

#include <inttypes.h>

static bool prefers_integers(int64_t doubles, int64_t integers)
{
    const struct clr_arithmetic_times times = {doubles, integers};

    return clr_arithmetic_prefers_integers(&times);
}

static void test_choice(void)
{
    tap_ok(prefers_integers(1000, 800), "integers that are clearly quicker");
    tap_ok(!prefers_integers(1000, 900), "integers that may be quicker");
    tap_ok(!prefers_integers(1000, 1500), "integers that are slower");
    tap_ok(!prefers_integers(1000, 0), "no sum by integers");
    tap_ok(!prefers_integers(0, 1000), "no sum by doubles");
}

/* Each device measures; where it is said how REALs are computed, nothing is decided. */
static void test_device(const struct clr_device_info *info)
{
    struct clr_arithmetic_times times;
    struct clr_settings settings;
    struct clr_status status = {.code = CLR_OK};
    struct clr_device *device = devices_open(info);

    clr_arithmetic_measure(device, &times, &status);
    tap_is_int64(status.code, CLR_OK, "%s measures", info->name);
    tap_ok(times.integers > 0 && (times.doubles > 0) == info->doubles,
           "%" PRId64 " ns by doubles, %" PRId64 " by integers", times.doubles, times.integers);
    clr_settings_init(&settings);
    clr_settings_set(&settings, "device_arithmetic", "fp64", &status);
    clr_arithmetic_choose(device, &status);
    tap_ok(!device->info.slow_doubles, "nothing is chosen where that is set");
    clr_settings_set(&settings, "device_arithmetic", "auto", &status);
    clr_arithmetic_choose(device, &status);
    tap_ok(status.code == CLR_OK && (info->type != CLR_DEVICE_CPU || !device->info.slow_doubles),
           "a CPU's doubles are as quick as integers");
    clr_device_close(device);
}

TAP_TEST(test_arithmetic)
{
    devices_each(test_device, false);
    test_choice();
}
