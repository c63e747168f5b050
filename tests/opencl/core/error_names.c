/* The names of OpenCL's errors, against the numbers that its own headers give them. */
#include "opencl/core/calls.h"

#include "opencl/core/api.h"

#include "tap.h"

#define NAMED(error)                                                                               \
    {                                                                                              \
        error, #error                                                                              \
    }

static const struct {
    int number;
    const char *name;
} errors[] = TAP_LIST(
    NAMED(CL_SUCCESS), NAMED(CL_DEVICE_NOT_FOUND), NAMED(CL_DEVICE_NOT_AVAILABLE),
    NAMED(CL_COMPILER_NOT_AVAILABLE), NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAMED(CL_OUT_OF_RESOURCES), NAMED(CL_OUT_OF_HOST_MEMORY),
    NAMED(CL_PROFILING_INFO_NOT_AVAILABLE), NAMED(CL_MEM_COPY_OVERLAP),
    NAMED(CL_IMAGE_FORMAT_MISMATCH), NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    NAMED(CL_BUILD_PROGRAM_FAILURE), NAMED(CL_MAP_FAILURE), NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST), NAMED(CL_COMPILE_PROGRAM_FAILURE),
    NAMED(CL_LINKER_NOT_AVAILABLE), NAMED(CL_LINK_PROGRAM_FAILURE),
    NAMED(CL_DEVICE_PARTITION_FAILED), NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAMED(CL_INVALID_VALUE), NAMED(CL_INVALID_DEVICE_TYPE), NAMED(CL_INVALID_PLATFORM),
    NAMED(CL_INVALID_DEVICE), NAMED(CL_INVALID_CONTEXT), NAMED(CL_INVALID_QUEUE_PROPERTIES),
    NAMED(CL_INVALID_COMMAND_QUEUE), NAMED(CL_INVALID_HOST_PTR), NAMED(CL_INVALID_MEM_OBJECT),
    NAMED(CL_INVALID_BINARY), NAMED(CL_INVALID_BUILD_OPTIONS), NAMED(CL_INVALID_PROGRAM),
    NAMED(CL_INVALID_PROGRAM_EXECUTABLE), NAMED(CL_INVALID_KERNEL_NAME),
    NAMED(CL_INVALID_KERNEL_DEFINITION), NAMED(CL_INVALID_KERNEL), NAMED(CL_INVALID_ARG_INDEX),
    NAMED(CL_INVALID_ARG_VALUE), NAMED(CL_INVALID_ARG_SIZE), NAMED(CL_INVALID_KERNEL_ARGS),
    NAMED(CL_INVALID_WORK_DIMENSION), NAMED(CL_INVALID_WORK_GROUP_SIZE),
    NAMED(CL_INVALID_WORK_ITEM_SIZE), NAMED(CL_INVALID_GLOBAL_OFFSET),
    NAMED(CL_INVALID_EVENT_WAIT_LIST), NAMED(CL_INVALID_EVENT), NAMED(CL_INVALID_OPERATION),
    NAMED(CL_INVALID_BUFFER_SIZE), NAMED(CL_INVALID_GLOBAL_WORK_SIZE), NAMED(CL_INVALID_PROPERTY),
    NAMED(CL_INVALID_COMPILER_OPTIONS), NAMED(CL_INVALID_LINKER_OPTIONS),
    NAMED(CL_INVALID_DEVICE_PARTITION_COUNT));

TAP_TEST(test_error_names)
{
    TAP_EACH (i, errors)
        tap_is_string(clr_opencl_error_name(errors[i].number), errors[i].name, "%d",
                      errors[i].number);
    tap_is_string(clr_opencl_error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR",
                  "-1001, the ICD loader's when there is no driver");
    tap_is_string(clr_opencl_error_name(-9999), "unknown OpenCL error",
                  "a driver's own number, as NVIDIA's -9999");
    tap_is_string(clr_opencl_error_name(1), "unknown OpenCL error", "a positive number");
}
