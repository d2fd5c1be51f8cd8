// Captures and graphs of CUDA's runtime on the host.
#pragma once

#include "tests/host-cuda/Stream.h"

#include <map>
#include <thread>

namespace syncline::hostcuda {

/// A node of a captured graph.
struct Node {
  Work work;
  std::set<std::size_t> after; ///< nodes before it
  Order order = Order::free;
  std::shared_ptr<EventState> records; ///< an event of the world outside, at each replay
  std::shared_ptr<EventState> awaits;  ///< likewise
};

/// What is being captured: from its begin on one stream to its end there, with the streams that
/// joined by events.
struct Capture {
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  cudaStream_t origin;
  std::vector<Node> nodes;
  std::map<cudaStream_t, std::set<std::size_t>> last; ///< by stream: the nodes at its end
  bool isInvalid = false, hasEnded = false;
};

/// All under the lock.
cudaError_t addNode(cudaStream_t stream, Node node);
/// Invalidates the capture, for a call that asks about work that the capture only records.
cudaError_t invalidate(Capture &capture, cudaError_t error);
/// Checks a call that captures may forbid (cudaMalloc, cudaEventQuery). It is an error where a
/// capture runs whose mode, and the thread's, forbid the call.
cudaError_t checkUnsafe();
/// Checks cudaDeviceSynchronize, which is an error where any capture runs.
cudaError_t checkNoCapture();

} // namespace syncline::hostcuda
