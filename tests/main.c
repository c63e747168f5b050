/* The main() of programs that have none of their own. */
#include "random.h"

#include "tap.h"

int main(void)
{
    random_start();
    tap_run_all();
    return tap_done();
}
