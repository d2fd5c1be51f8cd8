// Captures of streams and replays of graphs on the host. A replay does the captured work on the
// stream that it was launched on, in an order that the captured dependencies allow: with delays,
// any such; without, the order of the capture.
#include "tests/host-cuda/Capture.h"

#include <algorithm>
#include <utility>

using namespace syncline::hostcuda;

struct CUgraph_st {
  std::vector<Node> nodes;
};

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<Node>> nodes;
  std::shared_ptr<std::mutex> running; ///< one replay at a time
  std::uint64_t launches = 0;
};

namespace syncline::hostcuda {

namespace {

thread_local cudaStreamCaptureMode threadMode = cudaStreamCaptureModeGlobal;

/// Under the lock. Those that have begun and not ended.
std::vector<std::shared_ptr<Capture>> &captures() {
  static auto *all = new std::vector<std::shared_ptr<Capture>>;
  return *all;
}

/// Whether all nodes are `last` ones or before them.
bool areJoined(const std::vector<Node> &nodes, const std::set<std::size_t> &last) {
  std::vector<bool> isBefore(nodes.size(), false);
  for (std::size_t node : last)
    isBefore[node] = true;
  for (std::size_t i = nodes.size(); i-- > 0;)
    for (std::size_t earlier : nodes[i].after)
      isBefore[earlier] = isBefore[earlier] || isBefore[i];
  return std::ranges::all_of(isBefore, std::identity());
}

/// Collectives one behind the other, as they were captured.
void orderCollectives(std::vector<Node> &nodes) {
  std::optional<std::size_t> previous;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].order != Order::collective)
      continue;
    if (previous)
      nodes[i].after.insert(*previous);
    previous = i;
  }
}

/// What a node waits for and what it records, with the record's number; either may be null.
struct EventUse {
  std::shared_ptr<Moment> awaited, recorded;
  std::uint64_t record = 0;
};
using EventUses = std::map<std::size_t, EventUse>; ///< by node

/// What a replay awaits is known when it is launched: what was recorded before, not by the launch.
EventUses eventUses(const std::vector<Node> &nodes) {
  EventUses uses;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].awaits)
      uses[i].awaited = nodes[i].awaits->awaited;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (const std::shared_ptr<EventState> &event = nodes[i].records) {
      event->capture = nullptr;
      event->awaited = uses[i].recorded = std::make_shared<Moment>();
      uses[i].record = ++event->records;
    }
  return uses;
}

/// From here on the event has this time; until now it had that of an earlier record.
void pass(EventState &event, const EventUse &use) {
  std::lock_guard hold(runtimeLock());
  if (use.record > event.latestRecord) {
    event.latest = use.recorded;
    event.latestRecord = use.record;
  }
  use.recorded->pass();
}

void replay(const std::vector<Node> &nodes, const EventUses &uses, std::uint64_t seed) {
  Delays delays(seed);
  std::vector<std::size_t> missing(nodes.size());
  std::vector<std::vector<std::size_t>> behind(nodes.size());
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].after.size();
    for (std::size_t earlier : nodes[i].after)
      behind[earlier].push_back(i);
    if (missing[i] == 0)
      ready.insert(i);
  }
  while (!ready.empty()) {
    const auto next = std::next(ready.begin(), delays.choose(ready.size()));
    const std::size_t node = *next;
    ready.erase(next);
    delays.pass();
    const auto use = uses.find(node);
    if (use != uses.end() && use->second.awaited)
      use->second.awaited->wait();
    nodes[node].work();
    if (use != uses.end() && use->second.recorded)
      pass(*nodes[node].records, use->second);
    for (std::size_t later : behind[node])
      if (--missing[later] == 0)
        ready.insert(later);
  }
}

} // namespace

cudaError_t addNode(cudaStream_t stream, Node node) {
  Capture &capture = *stream->capture;
  if (capture.isInvalid)
    return cudaErrorStreamCaptureInvalidated;
  std::set<std::size_t> &last = capture.last[stream];
  node.after = last;
  last = {capture.nodes.size()};
  capture.nodes.push_back(std::move(node));
  return cudaSuccess;
}

cudaError_t invalidate(Capture &capture, cudaError_t error) {
  capture.isInvalid = true;
  return error;
}

cudaError_t checkUnsafe() {
  cudaError_t result = cudaSuccess;
  for (const std::shared_ptr<Capture> &capture : captures()) {
    const bool isOwn = capture->thread == std::this_thread::get_id();
    const bool isForbidden =
        (isOwn && capture->mode != cudaStreamCaptureModeRelaxed) ||
        (threadMode == cudaStreamCaptureModeGlobal && capture->mode == cudaStreamCaptureModeGlobal);
    if (isForbidden && threadMode != cudaStreamCaptureModeRelaxed)
      result = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return result;
}

cudaError_t checkNoCapture() {
  cudaError_t result = cudaSuccess;
  for (const std::shared_ptr<Capture> &capture : captures())
    result = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  return result;
}

} // namespace syncline::hostcuda

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  std::swap(*mode, threadMode);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  std::lock_guard hold(runtimeLock());
  if (!isStream(stream))
    return said(stream ? cudaErrorInvalidResourceHandle : cudaErrorStreamCaptureUnsupported);
  if (stream->capture)
    return said(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->origin = stream;
  stream->capture->last[stream];
  captures().push_back(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  *graph = nullptr;
  std::lock_guard hold(runtimeLock());
  if (!isStream(stream))
    return said(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return said(cudaErrorIllegalState);
  if (capture->origin != stream)
    return said(invalidate(*capture, cudaErrorStreamCaptureUnmatched));
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    return said(invalidate(*capture, cudaErrorStreamCaptureWrongThread));
  for (const auto &[joined, last] : capture->last)
    if (isStream(joined))
      joined->capture = nullptr;
  std::erase(captures(), capture);
  capture->hasEnded = true;
  std::vector<Node> nodes = std::exchange(capture->nodes, {}); // events may hold the capture
  if (capture->isInvalid)
    return said(cudaErrorStreamCaptureInvalidated);
  if (!areJoined(nodes, capture->last[stream]))
    return said(cudaErrorStreamCaptureUnjoined);
  orderCollectives(nodes);
  *graph = new CUgraph_st{std::move(nodes)};
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  std::lock_guard hold(runtimeLock());
  if (!isStream(stream))
    return said(cudaErrorInvalidResourceHandle);
  *status = !stream->capture             ? cudaStreamCaptureStatusNone
            : stream->capture->isInvalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, std::size_t *count) {
  if (nodes) // they have no handles here
    return said(cudaErrorNotSupported);
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
  if (!graph)
    return said(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{std::make_shared<const std::vector<Node>>(graph->nodes),
                                   std::make_shared<std::mutex>()};
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  std::lock_guard hold(runtimeLock());
  return said(executable && isStream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/// Events that the graph records keep their times until its nodes run.
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (cudaError_t error = broken())
    return said(error);
  awaitRoom(stream);
  std::lock_guard hold(runtimeLock());
  if (!executable || !isStream(stream))
    return said(cudaErrorInvalidResourceHandle);
  if (stream->capture) // graphs in graphs are not played
    return said(invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported));
  const EventUses uses = eventUses(*executable->nodes);
  const std::uint64_t seed = stream->number + 0x9E3779B9 * ++executable->launches;
  stream->queue->push([nodes = executable->nodes, running = executable->running, uses, seed] {
    std::lock_guard hold(*running);
    replay(*nodes, uses, seed);
  });
  return cudaSuccess;
}
