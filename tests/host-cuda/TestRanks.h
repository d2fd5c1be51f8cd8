// Ranks of the CUDA backend as threads of a test: an executable with one bucket a scheme, channels
// over the stand-ins, and peers who may get lost.
#pragma once

#include "tests/host-cuda/TestStreams.h"

#include "runtime/cuda/nccl/NcclChannel.h"

#include <cstring>
#include <functional>
#include <map>
#include <set>

namespace syncline::hostcuda {

/// Where the ranks of a test meet.
class TestMeeting {
public:
  explicit TestMeeting(int ranks) : ranks(ranks) {}

  std::vector<std::string> exchange(int rank, const std::string &key, const std::string &value) {
    std::unique_lock lock(mutex);
    values[key][rank] = value;
    came.notify_all();
    came.wait(lock, [&] { return values[key].size() == static_cast<std::size_t>(ranks); });
    std::vector<std::string> all;
    for (const auto &[r, text] : values[key])
      all.push_back(text);
    return all;
  }
  /// Waits for all ranks, and then gives messages so many seconds.
  void limit(int rank, double seconds) {
    exchange(rank, "limit", "");
    timeout = seconds;
  }
  /// From now on everybody knows that the rank is lost.
  void lose(int rank) { lost = rank; }
  Status verdict() const {
    return lost < 0 ? Status::ok()
                    : Status::error(ErrorKind::peerLost,
                                    "lost rank " + std::to_string(lost) + " (its process ended)");
  }

  const int ranks;
  std::atomic<double> timeout = test::patience; ///< seconds within which a message must come
  std::atomic<int> lost = -1, waits = 0, blamed = -1;

private:
  std::mutex mutex;
  std::condition_variable came;
  std::map<std::string, std::map<int, std::string>> values;
};

class TestPeers final : public core::Peers {
public:
  TestPeers(TestMeeting &meeting, int rank) : meeting(meeting), own(rank) {}
  int rank() const override { return own; }
  int size() const override { return meeting.ranks; }
  double timeoutSeconds() const override { return meeting.timeout; }
  Result<std::vector<std::string>> exchange(const std::string &key,
                                            const std::string &value) override {
    return meeting.exchange(own, key, value);
  }
  Status verdict() const override { return meeting.verdict(); }
  std::shared_ptr<void> waitingFor(int) override {
    ++meeting.waits;
    return std::shared_ptr<void>(nullptr, [this](void *) { --meeting.waits; });
  }
  Status blame(int peer, const std::string &) override {
    meeting.blamed = peer;
    return Status::error(ErrorKind::peerLost, "lost rank " + std::to_string(peer) + " (late)");
  }

private:
  TestMeeting &meeting;
  const int own;
};

/// What a step of these tests has: a bucket of f32 elements.
struct TestBucket {
  Scheme scheme = Scheme::ring;
  std::int64_t elements = 0;
  int channel = 0;
};

/// A rank with its device, executable and channels. Bucket i has number i; its gradients and
/// parameters lie behind the last one's, at multiples of 64 bytes.
class TestRank {
public:
  /// The step's operations: with `carries` a wait for each bucket and its issue; then so many
  /// updates of bucket 0.
  TestRank(TestMeeting &meeting, int rank, const std::vector<TestBucket> &buckets,
           core::WirePrecision wire = core::WirePrecision::fp32, int updates = 0,
           bool carries = false);
  ~TestRank();

  cuda::CudaExecutable &operator*() { return *executable; }
  cuda::CudaExecutable *operator->() { return executable.get(); }
  core::Channel &channel(int number = 0) { return *channels.at(number); }
  cudaStream_t compute() const { return executable->device().compute; }
  float *gradients(int bucket) { return at(Space::gradients, bucket); }
  float *parameters(int bucket) { return at(Space::parameters, bucket); }
  std::size_t count(int bucket) const {
    return static_cast<std::size_t>(buckets[static_cast<std::size_t>(bucket)].elements);
  }

  void begin(std::int64_t step, bool replayed = false);
  /// Goes on with the step's part that the executable has chosen.
  void beginPart(bool replayed);
  /// The computation that fills the gradients: of the device, at its turn.
  void compute(int bucket, std::function<float(std::size_t)> value);
  Status issue(int bucket, core::Half half = core::Half::whole);
  Status issueSharded(int bucket, bool wholeGradients = false, core::Half half = core::Half::whole);
  Status wait(int bucket) { return channelOf(bucket).wait(bucket); }
  /// The gradients (or parameters) that computation finds at this point of the queue. The result
  /// may be read after synchronize().
  std::shared_ptr<std::vector<float>> look(Space space, int bucket);

  /// Opens one more channel, without buckets. All ranks call it together.
  core::Channel &open(int number, Scheme scheme);

  const int rank, ranks;
  std::vector<TestBucket> buckets;
  std::vector<std::int64_t> offsets;

private:
  float *at(Space space, int bucket);
  core::Channel &channelOf(int bucket) {
    return *channels.at(buckets[static_cast<std::size_t>(bucket)].channel);
  }

  TestPeers peers;
  std::unique_ptr<cuda::CudaExecutable> executable;
  std::shared_ptr<cuda::NcclLinks> links;
  std::map<int, std::unique_ptr<core::Channel>> channels;
};

/// Every rank in a thread, on a device of its own.
void runRanks(TestMeeting &meeting, const std::function<void(int rank)> &body);

} // namespace syncline::hostcuda
