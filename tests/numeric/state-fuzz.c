/* Whatever bytes are taken for a state: for libFuzzer (make fuzz). The first byte chooses the
   kind that they are taken for. */
#include "numeric/state_probe.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    enum clr_state_fault fault;

    if (size > 0 &&
        state_probe(data + 1, size - 1, (enum clr_state_kind)(1 + data[0] % CLR_STATE_BINS),
                    &fault) != NULL)
        abort();
    return 0;
}
