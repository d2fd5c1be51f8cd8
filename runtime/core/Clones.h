// Loops that are compiled for several processors. The variant is chosen once at start-up. There is
// none above AVX2, the lowest cap of SYNCLINE_MAX_CPU_ISA (syncline/CpuIsa.h), which therefore
// leaves them alone.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SYNCLINE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SYNCLINE_CLONES
#endif
