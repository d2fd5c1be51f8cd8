// Capturing a stream and launching its graph.
#include "runtime/cuda/StepGraph.h"

namespace syncline::cuda {

void StepGraph::begin(cudaStream_t stream) {
  drop();
  spoiler.clear();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  captured = stream;
  capturing = true;
}

void StepGraph::note(const std::string &who) {
  if (!spoiler.empty())
    return;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  check(cudaStreamIsCapturing(captured, &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusActive)
    spoiler = who;
}

void StepGraph::end() {
  capturing = false;
  cudaGraph_t noted = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(captured, &noted);
  const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> keeper(noted, cudaGraphDestroy);
  const std::string blame = spoiler.empty() ? "" : spoiler + " cannot be captured: ";
  check(ended, (blame + "cudaStreamEndCapture").c_str());
  cudaGraphExec_t made = nullptr;
  // Messages keep their streams' priority over computation.
  check(cudaGraphInstantiate(&made, noted, cudaGraphInstantiateFlagUseNodePriority),
        "cudaGraphInstantiate");
  graph.reset(made);
  check(cudaGraphUpload(made, captured),
        "cudaGraphUpload"); // otherwise the first replay would do it
}

} // namespace syncline::cuda
