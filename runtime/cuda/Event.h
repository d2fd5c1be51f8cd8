// Events: points in a stream's work for which other streams wait, and the times at which they
// were reached.
//
// During a capture, record() and holdUp() become edges of the graph, and each replay repeats
// recordEach() and holdUpEach(). A stream that entered the capture by holdUp() must be joined again
// by record() and holdUp() after all its work, including recordEach().
#pragma once

#include "runtime/cuda/Check.h"

#include <utility>

namespace syncline::cuda {

enum class EventUse {
  order, ///< for holdUp(); costs less
  time,  ///< also for secondsBetween()
};

/// An event of the device that is current when the object is made. All functions throw Failure.
class Event {
public:
  explicit Event(EventUse use) {
    const unsigned flags = use == EventUse::order ? cudaEventDisableTiming : cudaEventDefault;
    SYNCLINE_CHECK(cudaEventCreateWithFlags(&handle, flags));
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

  /// Records the event after all work of `stream` so far.
  void record(cudaStream_t stream) const { SYNCLINE_CHECK(cudaEventRecord(handle, stream)); }
  /// As record(). In a captured step each replay records it.
  void recordEach(cudaStream_t stream) const {
    const unsigned flags = isCaptured(stream) ? cudaEventRecordExternal : cudaEventRecordDefault;
    SYNCLINE_CHECK(cudaEventRecordWithFlags(handle, stream, flags));
  }
  /// Whether the event has been reached. Must not be called during a capture.
  bool isReached() const {
    const cudaError_t status = cudaEventQuery(handle);
    if (status == cudaErrorNotReady)
      cudaGetLastError(); // clears the error, which the next launch would otherwise report
    else
      check(status, "cudaEventQuery");
    return status == cudaSuccess;
  }
  /// Whether the event was reached when `earlier` was, or later. False where one was never
  /// recorded, though it counts as reached: a captured step records its events only when their
  /// nodes run.
  bool follows(const Event &earlier) const {
    float milliseconds = 0;
    const cudaError_t status = cudaEventElapsedTime(&milliseconds, earlier.handle, handle);
    if (status == cudaErrorInvalidResourceHandle || status == cudaErrorNotReady)
      cudaGetLastError(); // clears the error, which the next launch would otherwise report
    else
      check(status, "cudaEventElapsedTime");
    return status == cudaSuccess && milliseconds >= 0;
  }
  /// Makes all further work of `stream` start after the event.
  void holdUp(cudaStream_t stream) const { SYNCLINE_CHECK(cudaStreamWaitEvent(stream, handle, 0)); }

  /// As holdUp(). In a captured step each replay waits for the last record before its launch.
  void holdUpEach(cudaStream_t stream) const {
    const unsigned flags = isCaptured(stream) ? cudaEventWaitExternal : cudaEventWaitDefault;
    SYNCLINE_CHECK(cudaStreamWaitEvent(stream, handle, flags));
  }

  cudaEvent_t handle = nullptr;

private:
  static bool isCaptured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    SYNCLINE_CHECK(cudaStreamIsCapturing(stream, &status));
    return status != cudaStreamCaptureStatusNone;
  }
};

/// Seconds between two events. Precondition: both have been reached.
inline double secondsBetween(const Event &from, const Event &to) {
  float milliseconds = 0;
  SYNCLINE_CHECK(cudaEventElapsedTime(&milliseconds, from.handle, to.handle));
  return milliseconds * 1e-3;
}

} // namespace syncline::cuda
