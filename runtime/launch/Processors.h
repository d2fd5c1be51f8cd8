// The processors that this process may run on.
#pragma once

namespace syncline::launch {

/// The number of processors that this process may run on, at least 1.
int usableProcessors();

/// The n-th processor, modulo their number, that this process may run on. -1 where n is negative or
/// the kernel does not say.
int usableProcessor(int n);

/// Keeps this process, and the threads that it will start, on a processor. Does nothing where that
/// is negative. Where the kernel refuses, the process may use the same processors as before. Makes
/// only system calls.
void keepOn(int processor);

} // namespace syncline::launch
