// CUDA's events on the host.
#include "tests/host-cuda/Capture.h"

using namespace syncline::hostcuda;

namespace {

/// Under the lock: the moment to ask about, null where there never was one.
cudaError_t momentOf(cudaEvent_t event, std::shared_ptr<Moment> &moment) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  if (event->state->capture)
    return invalidate(*event->state->capture, cudaErrorCapturedEvent);
  if (cudaError_t error = checkUnsafe())
    return error;
  moment = event->state->latest;
  return cudaSuccess;
}

/// Under the lock. A stream waits for an event of a capture: it takes part from here on.
cudaError_t join(cudaStream_t stream, const EventState &event) {
  const std::shared_ptr<Capture> &capture = event.capture;
  if (capture->hasEnded)
    return cudaErrorCapturedEvent;
  if (stream->capture && stream->capture != capture) {
    invalidate(*stream->capture, cudaSuccess);
    return invalidate(*capture, cudaErrorStreamCaptureMerge);
  }
  if (capture->isInvalid)
    return cudaErrorStreamCaptureInvalidated;
  stream->capture = capture;
  capture->last[stream].insert(event.nodes.begin(), event.nodes.end());
  return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (!event || !isStream(stream) || event->state->device != stream->device)
    return cudaErrorInvalidResourceHandle;
  EventState &state = *event->state;
  if (const std::shared_ptr<Capture> capture = stream->capture) {
    if (flags & cudaEventRecordExternal)
      return addNode(stream, {[] {}, {}, Order::free, event->state, nullptr});
    if (capture->isInvalid)
      return cudaErrorStreamCaptureInvalidated;
    state.capture = capture;
    state.nodes = capture->last[stream];
    return cudaSuccess;
  }
  if (flags & cudaEventRecordExternal)
    return cudaErrorIllegalState;
  state.capture = nullptr;
  state.latest = state.awaited = std::make_shared<Moment>();
  state.latestRecord = ++state.records;
  stream->queue->push([moment = state.latest] { moment->pass(); });
  return cudaSuccess;
}

cudaError_t waitFor(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (!event || !isStream(stream))
    return cudaErrorInvalidResourceHandle;
  const EventState &state = *event->state;
  if (flags & cudaEventWaitExternal)
    return stream->capture ? addNode(stream, {[] {}, {}, Order::free, nullptr, event->state})
                           : cudaErrorIllegalState;
  if (state.capture)
    return join(stream, state);
  if (!state.awaited)
    return cudaSuccess;
  if (stream->capture) // a replay would not know what it waits for
    return invalidate(*stream->capture, cudaErrorStreamCaptureIsolation);
  stream->queue->push([moment = state.awaited] { moment->wait(); });
  return cudaSuccess;
}

} // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  *event = new CUevent_st{std::make_shared<EventState>()};
  (*event)->state->device = currentDevice();
  (*event)->state->hasTiming = !(flags & cudaEventDisableTiming);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event)
    return said(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  awaitRoom(stream);
  std::lock_guard hold(runtimeLock());
  return said(record(event, stream, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  awaitRoom(stream);
  std::lock_guard hold(runtimeLock());
  return said(waitFor(stream, event, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  std::shared_ptr<Moment> moment;
  std::lock_guard hold(runtimeLock());
  if (cudaError_t error = momentOf(event, moment))
    return said(error);
  if (cudaError_t error = broken())
    return said(error);
  return said(!moment || moment->passed() ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  std::shared_ptr<Moment> moment;
  {
    std::lock_guard hold(runtimeLock());
    if (cudaError_t error = momentOf(event, moment))
      return said(error);
  }
  if (moment)
    moment->wait();
  return said(broken());
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start || !end || !start->state->hasTiming || !end->state->hasTiming)
    return said(cudaErrorInvalidResourceHandle);
  std::shared_ptr<Moment> first, last;
  std::lock_guard hold(runtimeLock());
  if (cudaError_t error = momentOf(start, first))
    return said(error);
  if (cudaError_t error = momentOf(end, last))
    return said(error);
  if (!first || !last)
    return said(cudaErrorInvalidResourceHandle);
  const auto from = first->passed(), to = last->passed();
  if (!from || !to)
    return said(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(*to - *from).count();
  return cudaSuccess;
}
