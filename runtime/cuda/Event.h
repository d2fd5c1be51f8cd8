// A point in a stream's work that other streams wait for, and the time at which it was reached.
#pragma once

#include "runtime/cuda/Check.h"

#include <utility>

namespace syncline::cuda {

/// Belongs to the device that is current when it is made. Everything throws Failure.
class Event {
public:
  Event() { check(cudaEventCreate(&handle), "cudaEventCreate"); }
  Event(Event &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Event &operator=(Event &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Event() {
    if (handle)
      cudaEventDestroy(handle);
  }

  /// Behind all that `stream` has to do so far.
  void record(cudaStream_t stream) const {
    check(cudaEventRecord(handle, stream), "cudaEventRecord");
  }
  /// What `stream` is told from here on starts behind the event.
  void holdUp(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, handle, 0), "cudaStreamWaitEvent");
  }

  cudaEvent_t handle = nullptr;
};

/// Both have been reached.
inline double secondsBetween(const Event &from, const Event &to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from.handle, to.handle), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

} // namespace syncline::cuda
