// Streams of CUDA's runtime on the host: each is a thread with a queue, so that what was not told
// to wait does not wait. What the files of this folder share.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace syncline::hostcuda {

/// What a stream does at its turn. Holds copies of the call's arguments; graphs run it repeatedly.
using Work = std::function<void()>;

/// A moment of a stream's work, which others wait for.
class Moment {
public:
  using Time = std::chrono::steady_clock::time_point;
  void pass();
  void wait() const;
  std::optional<Time> passed() const;

private:
  mutable std::mutex mutex;
  mutable std::condition_variable condition;
  std::optional<Time> time;
};

/// A stream's work in order, on a thread of its own. All of it may be called from any thread.
class Queue {
public:
  /// Starts the thread, which keeps the queue alive until it is closed and empty.
  static std::shared_ptr<Queue> start(std::uint64_t number);
  void push(Work work);
  void close();
  /// Returns when fewer than `limit` works wait, as launches do.
  void awaitRoom() const;
  bool isIdle() const;
  /// Returns when all that was pushed before the call is done.
  void drain() const;

  static constexpr std::size_t limit = 1024;

private:
  void run(std::uint64_t number);

  mutable std::mutex mutex;
  mutable std::condition_variable arrived, finished;
  std::deque<Work> works;
  std::uint64_t pushed = 0, done = 0;
  bool isClosed = false;
};

/// SYNCLINE_HOST_CUDA_DELAY: at most so many microseconds pass before each work. By a seed
/// (SYNCLINE_HOST_CUDA_SEED) and `number`, the same each time.
class Delays {
public:
  explicit Delays(std::uint64_t number);
  void pass();
  /// Below `count`; 0 where there are no delays.
  std::size_t choose(std::size_t count);

private:
  std::uint64_t next();
  std::uint64_t most, state;
};

struct Capture;

/// What an event was last recorded in: a stream's work or a capture.
struct EventState {
  int device = 0;
  bool hasTiming = true;
  std::shared_ptr<Moment> latest; ///< whose time it has; null until it is recorded
  std::shared_ptr<Moment>
      awaited;                    ///< of the last record; a graph's is not the latest until it runs
  std::uint64_t records = 0;      ///< enqueued so far
  std::uint64_t latestRecord = 0; ///< the number of the latest
  std::shared_ptr<Capture> capture;
  std::set<std::size_t> nodes; ///< of the capture, that it stands behind
};

/// Works of one kind keep their order in a replay even where nothing else orders them.
enum class Order {
  free,
  collective ///< ranks that replay collectives in different orders wait for each other forever
};

/// Gives work to a stream, or notes it where the stream is captured. Errors as CUDA's launches.
cudaError_t enqueue(cudaStream_t stream, Work work, Order order = Order::free);
/// As a launch does: also checks that the stream is the current device's.
cudaError_t launch(cudaStream_t stream, Work work);

/// Guards streams' captures, events and the lists of both. Nobody waits for works under it, since
/// works that record events take it.
std::mutex &runtimeLock();
/// Under the lock. Whether the handle is one of a stream that lives.
bool isStream(cudaStream_t stream);
/// Stops the caller, outside the lock, while the stream's queue is full.
void awaitRoom(cudaStream_t stream);
/// Waits for all streams of the current device.
void drainDevice();

/// Keeps an error for cudaGetLastError().
cudaError_t said(cudaError_t error);
/// What broke on the device while a stream ran; every call says it from then on. Told to stderr.
void breakDevice(cudaError_t error, const char *what);
cudaError_t broken();
/// The calling thread's.
int currentDevice();

/// Whether the memory was given out by cudaMalloc or cudaMallocHost.
bool isAllocated(const void *data, std::size_t bytes);

/// An integer of the environment; `otherwise` where it is not set.
std::uint64_t setting(const char *name, std::uint64_t otherwise);

} // namespace syncline::hostcuda

struct CUstream_st {
  int device;
  std::uint64_t number;
  std::shared_ptr<syncline::hostcuda::Queue> queue;
  std::shared_ptr<syncline::hostcuda::Capture> capture; ///< that it takes part in
};

struct CUevent_st {
  std::shared_ptr<syncline::hostcuda::EventState> state;
};
