// A step that is captured once as a CUDA graph and replayed.
#pragma once

#include "runtime/cuda/Check.h"

#include <memory>
#include <string>

namespace syncline::cuda {

/// Work enqueued between begin() and end() on a stream, and on streams that wait for it, is
/// recorded instead of carried out; launch() carries it out. Calls that a capture does not allow
/// (allocations, waits of the host) invalidate it. All functions but drop() throw Failure.
class StepGraph {
public:
  bool isCapturing() const { return capturing; }
  bool isReady() const { return graph != nullptr; }
  void drop() { graph.reset(); }

  /// Drops the graph and begins a capture. Precondition: !isCapturing(). Only calls of this thread
  /// can invalidate the capture.
  void begin(cudaStream_t stream);
  /// Called during a capture with the name of the last operation, so that end() can name the first
  /// one that invalidated the capture.
  void note(const std::string &who);
  /// Ends the capture, also on failure. On success isReady(). Precondition: isCapturing().
  void end();
  /// Launches the graph. Precondition: isReady().
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(graph.get(), stream), "cudaGraphLaunch");
  }

private:
  struct Destroy {
    void operator()(cudaGraphExec_t handle) const { cudaGraphExecDestroy(handle); }
  };

  std::unique_ptr<CUgraphExec_st, Destroy> graph;
  cudaStream_t captured = nullptr;
  bool capturing = false;
  std::string spoiler; ///< the operation that invalidated the capture; empty for none
};

} // namespace syncline::cuda
