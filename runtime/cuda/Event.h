// A point in a stream's work that other streams wait for, and the time at which it was reached.
//
// Where a step is captured, record() and holdUp() make an order within the graph, and recordTime()
// is done again by each replay. A stream that holdUp() drew into the capture is led back the same
// way, behind all that it was told, recordTime() included.
#pragma once

#include "runtime/cuda/Check.h"

#include <utility>

namespace syncline::cuda {

enum class EventUse {
  order, ///< for holdUp(): costs less
  time,  ///< for secondsBetween()
};

/// Belongs to the device that is current when it is made. Everything throws Failure.
class Event {
public:
  explicit Event(EventUse use) {
    const unsigned flags = use == EventUse::order ? cudaEventDisableTiming : cudaEventDefault;
    check(cudaEventCreateWithFlags(&handle, flags), "cudaEventCreateWithFlags");
  }
  Event(Event &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Event &operator=(Event &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Event() {
    if (handle)
      cudaEventDestroy(handle);
  }

  /// Of use `order`: behind all that `stream` has to do so far.
  void record(cudaStream_t stream) const {
    check(cudaEventRecord(handle, stream), "cudaEventRecord");
  }
  /// Of use `time`: notes when that is done; in a captured step, when it is done in each replay.
  void recordTime(cudaStream_t stream) const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    const unsigned flags =
        status == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    check(cudaEventRecordWithFlags(handle, stream, flags), "cudaEventRecordWithFlags");
  }
  /// Whether it has been reached. Not while a step is captured.
  bool isReached() const {
    const cudaError_t status = cudaEventQuery(handle);
    if (status == cudaErrorNotReady)
      cudaGetLastError(); // CUDA keeps it, and the next launch would say it
    else
      check(status, "cudaEventQuery");
    return status == cudaSuccess;
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
