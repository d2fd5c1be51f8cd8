// The processors that this process may run on.
#pragma once

#include <sched.h>
#include <string>

namespace syncline::launch {

/// The number of processors that this process may run on, at least 1.
int usableProcessors();

/// The processors that this process may keep busy: those that it may run on, or fewer, such as 0.5,
/// where its control group limits its time.
double grantedProcessors();

/// The limit of a control group, and of those around it, in processors; infinite without one.
/// `root` is where the kernel shows the groups: /sys/fs/cgroup.
double processorQuota(const std::string &root, const std::string &group);

/// The n-th block of `width` successive processors among those that this process may run on, modulo
/// their number. Empty where the kernel does not say which these are.
cpu_set_t processorBlock(int n, int width);

/// Says that OMP_NUM_THREADS, whose value is `wanted` or nullptr, is ignored. Empty where it asks
/// for the number of threads that compute, or where another number than one was asked for.
std::string ignoredThreads(const char *wanted, int threads);

} // namespace syncline::launch
