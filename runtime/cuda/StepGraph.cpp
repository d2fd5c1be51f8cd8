// Capturing streams and launching their graphs.
#include "runtime/cuda/StepGraph.h"

#include <algorithm>
#include <utility>

namespace syncline::cuda {

void StepGraph::begin(cudaStream_t stream) {
  drop();
  spoiler.clear();
  captureApart(stream);
}

void StepGraph::captureApart(cudaStream_t stream) {
  if (std::ranges::find(captured, stream) != captured.end())
    return;
  SYNCLINE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  captured.push_back(stream);
}

void StepGraph::note(const std::string &who) {
  for (cudaStream_t stream : captured) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    SYNCLINE_CHECK(cudaStreamIsCapturing(stream, &status));
    if (spoiler.empty() && status != cudaStreamCaptureStatusActive)
      spoiler = who;
  }
}

void StepGraph::add(cudaStream_t stream, cudaGraph_t noted) {
  cudaGraphExec_t made = nullptr;
  // Messages keep their streams' priority over computation.
  SYNCLINE_CHECK(cudaGraphInstantiate(&made, noted, cudaGraphInstantiateFlagUseNodePriority));
  graphs.push_back({stream, std::unique_ptr<CUgraphExec_st, Destroy>(made)});
  SYNCLINE_CHECK(cudaGraphUpload(made, stream)); // or else the first replay would do it
}

void StepGraph::end() {
  using Noted = std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)>;
  std::vector<Noted> noted;
  cudaError_t ended = cudaSuccess; // the first error; all captures must end
  for (cudaStream_t stream : captured) {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream, &graph);
    noted.emplace_back(graph, cudaGraphDestroy);
    ended = ended == cudaSuccess ? status : ended;
  }
  const std::vector<cudaStream_t> streams = std::exchange(captured, {});
  const std::string blame = spoiler.empty() ? "" : spoiler + " cannot be captured: ";
  check(ended, blame + "cudaStreamEndCapture");
  try {
    for (std::size_t i = 0; i < streams.size(); ++i)
      add(streams[i], noted[i].get());
  } catch (...) {
    drop();
    throw;
  }
}

void StepGraph::launch() const {
  for (const Graph &graph : graphs)
    SYNCLINE_CHECK(cudaGraphLaunch(graph.executable.get(), graph.stream));
}

} // namespace syncline::cuda
