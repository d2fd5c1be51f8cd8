// A step that is captured once as CUDA graphs and replayed.
#pragma once

#include "runtime/cuda/Check.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::cuda {

/// Work enqueued between begin() and end() on a stream, and on streams that wait for it, is
/// recorded instead of carried out; launch() carries it out. Calls that a capture does not allow
/// (allocations, waits of the host) invalidate it. All functions but drop() throw Failure.
///
/// A stream whose work may end later than the step is captured by itself, as a graph that launch()
/// launches on that stream: a stream goes on only when all work of a graph is done.
class StepGraph {
public:
  bool isCapturing() const { return !captured.empty(); }
  bool isReady() const { return !graphs.empty(); }
  void drop() { graphs.clear(); }

  /// Drops the graph and begins a capture. Precondition: !isCapturing(). Only calls of this thread
  /// can invalidate the capture. Other threads may enqueue into it, as NCCL's threads do for
  /// communicators that do not block: CUDA binds only begin and end to one thread, and a capture
  /// that is local to a thread bars no calls of another one.
  void begin(cudaStream_t stream);
  /// Begins to capture this stream by itself, unless it has begun. The streams of a capture are
  /// ordered by Event::recordEach() and holdUpEach() only. Precondition: isCapturing().
  void captureApart(cudaStream_t stream);
  /// Called during a capture with the name of the last operation, so that end() can name the first
  /// one that invalidated the capture.
  void note(const std::string &who);
  /// Ends the capture, also on failure. On success isReady(). Precondition: isCapturing().
  void end();
  /// Launches the graphs, each on the stream that was captured. Precondition: isReady().
  void launch() const;

private:
  struct Destroy {
    void operator()(cudaGraphExec_t handle) const { cudaGraphExecDestroy(handle); }
  };

  struct Graph {
    cudaStream_t stream;
    std::unique_ptr<CUgraphExec_st, Destroy> executable;
  };

  void add(cudaStream_t stream, cudaGraph_t noted);

  std::vector<Graph> graphs;
  std::vector<cudaStream_t> captured; ///< empty while nothing is captured
  std::string spoiler; ///< the operation that invalidated the capture; empty for none
};

} // namespace syncline::cuda
