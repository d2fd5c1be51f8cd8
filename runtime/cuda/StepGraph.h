// A step captured once, as a graph of CUDA's, and replayed.
#pragma once

#include "runtime/cuda/Check.h"

#include <memory>
#include <string>

namespace syncline::cuda {

/// What a stream, and those that wait for it, are told between begin() and end() is noted instead
/// of carried out; launch() carries it out. What a capture may not see (allocations, the host's
/// waits) spoils it. Everything but drop() throws Failure.
class StepGraph {
public:
  bool isCapturing() const { return capturing; }
  bool isReady() const { return graph != nullptr; }
  void drop() { graph.reset(); }

  /// Precondition: !isCapturing(). Only calls of this thread can spoil the capture. Drops the
  /// graph.
  void begin(cudaStream_t stream);
  /// While capturing: notes who was told last, so that end() can name the first who spoiled it.
  void note(const std::string &who);
  /// Precondition: isCapturing(), which ends whatever happens. On success isReady().
  void end();
  /// Precondition: isReady().
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
  std::string spoiler; ///< empty while all is well
};

} // namespace syncline::cuda
