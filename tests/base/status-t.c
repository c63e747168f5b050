/* The status object: a code, an OpenCL error and a message that always fits. */
#include "base/status.h"

#include "tap.h"

#include <string.h>

int main(void)
{
    struct clr_status status;
    char longer[2 * CLR_STATUS_MESSAGE];

    memset(&status, 'x', sizeof status);
    clr_status_clear(&status);
    tap_ok(status.code == CLR_OK && status.error == 0, "cleared: no error");
    tap_is_string(status.message, "", "and no message");

    tap_ok(clr_status_set(&status, CLR_DEVICE, -5, "%s took %d%%", "it", 7) == CLR_DEVICE,
           "setting returns the code");
    tap_ok(status.code == CLR_DEVICE && status.error == -5, "code and error are kept");
    tap_is_string(status.message, "it took 7%", "the message is formatted");

    /* Names of devices and drivers' texts can be of any length. */
    memset(longer, 'y', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    clr_status_set(&status, CLR_INVALID, 0, "%s", longer);
    tap_is_int64((int64_t)strlen(status.message), CLR_STATUS_MESSAGE - 1,
                 "a message that is too long is cut");
    tap_is_int64(status.error, 0, "an older error is gone");
    return tap_done();
}
