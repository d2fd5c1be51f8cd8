// CUDA's calls about streams on the host.
#include "tests/host-cuda/Capture.h"

#include <algorithm>

using namespace syncline::hostcuda;

namespace syncline::hostcuda {

namespace {

/// Lives as long as the process: streams work on while it ends.
struct Registry {
  std::mutex lock;
  std::vector<cudaStream_t> streams;
  std::uint64_t opened = 0;
};

Registry &registry() {
  static auto *all = new Registry;
  return *all;
}

/// Under the lock: what is wrong with a stream that is to be asked or waited for.
cudaError_t checkAsked(cudaStream_t stream) {
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  if (stream->capture)
    return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  return checkUnsafe();
}

} // namespace

std::mutex &runtimeLock() { return registry().lock; }

bool isStream(cudaStream_t stream) { return std::ranges::count(registry().streams, stream) > 0; }

cudaError_t enqueue(cudaStream_t stream, Work work, Order order) {
  if (cudaError_t error = broken())
    return said(error);
  awaitRoom(stream);
  std::lock_guard hold(runtimeLock());
  if (!isStream(stream)) // nor is the null stream: the backend has streams of its own
    return said(cudaErrorInvalidResourceHandle);
  if (stream->capture)
    return said(addNode(stream, {std::move(work), {}, order, nullptr, nullptr}));
  stream->queue->push(std::move(work));
  return cudaSuccess;
}

cudaError_t launch(cudaStream_t stream, Work work) {
  {
    std::lock_guard hold(runtimeLock());
    if (isStream(stream) && stream->device != currentDevice())
      return said(cudaErrorInvalidResourceHandle);
  }
  return enqueue(stream, std::move(work));
}

void awaitRoom(cudaStream_t stream) {
  std::shared_ptr<Queue> queue;
  {
    std::lock_guard hold(runtimeLock());
    if (!isStream(stream) || stream->capture)
      return;
    queue = stream->queue;
  }
  queue->awaitRoom();
}

void drainDevice() {
  std::vector<std::shared_ptr<Queue>> queues;
  std::unique_lock hold(runtimeLock());
  for (cudaStream_t stream : registry().streams)
    if (stream->device == currentDevice())
      queues.push_back(stream->queue);
  hold.unlock();
  for (const std::shared_ptr<Queue> &queue : queues)
    queue->drain();
}

} // namespace syncline::hostcuda

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking) // others wait for the null stream, which nobody here uses
    return said(cudaErrorInvalidValue);
  std::lock_guard hold(runtimeLock());
  const std::uint64_t number = registry().opened++;
  *stream = new CUstream_st{currentDevice(), number, Queue::start(number), nullptr};
  registry().streams.push_back(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}

/// Returns at once; what was enqueued is still done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::lock_guard hold(runtimeLock());
  if (!isStream(stream))
    return said(cudaErrorInvalidResourceHandle);
  if (stream->capture)
    invalidate(*stream->capture, cudaSuccess);
  std::erase(registry().streams, stream);
  stream->queue->close();
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::shared_ptr<Queue> queue;
  {
    std::lock_guard hold(runtimeLock());
    if (cudaError_t error = checkAsked(stream))
      return said(error);
    queue = stream->queue;
  }
  queue->drain();
  return said(broken());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  std::lock_guard hold(runtimeLock());
  if (cudaError_t error = checkAsked(stream))
    return said(error);
  if (cudaError_t error = broken())
    return said(error);
  return said(stream->queue->isIdle() ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  std::lock_guard hold(runtimeLock());
  if (!isStream(stream))
    return said(cudaErrorInvalidResourceHandle);
  *device = stream->device;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  {
    std::lock_guard hold(runtimeLock());
    if (cudaError_t error = checkNoCapture())
      return said(error);
  }
  drainDevice();
  return said(broken());
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  return enqueue(stream, [=] { function(data); });
}
