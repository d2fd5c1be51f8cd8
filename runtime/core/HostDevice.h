// Functions that device code and host code share, so that tests without a device can run them.
#pragma once

/// Before the declaration of such a function: empty for host compilers.
#if defined(__CUDACC__)
#define SYNCLINE_HOST_DEVICE __host__ __device__
#else
#define SYNCLINE_HOST_DEVICE
#endif
