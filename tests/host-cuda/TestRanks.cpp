// Ranks as threads.
#include "tests/host-cuda/TestRanks.h"

namespace syncline::hostcuda {

namespace {

core::ExecutableOptions optionsFor(int rank, int ranks, std::int64_t bytes) {
  core::ExecutableOptions options;
  options.sizes.parameters = options.sizes.gradients = bytes;
  options.sizes.input = options.sizes.target = options.sizes.state = 64;
  options.sizes.arena = std::int64_t{1} << 20;
  options.rank = rank;
  options.ranks = ranks;
  options.device = rank;
  return options;
}

} // namespace

TestRank::TestRank(TestMeeting &meeting, int rank, const std::vector<TestBucket> &given,
                   core::WirePrecision wire, int updates, bool carries)
    : rank(rank), ranks(meeting.ranks), buckets(given), peers(meeting, rank) {
  std::int64_t bytes = 0;
  for (const TestBucket &bucket : buckets) {
    offsets.push_back(bytes);
    bytes += (bucket.elements * 4 + 63) / 64 * 64;
  }
  executable = std::make_unique<cuda::CudaExecutable>(optionsFor(rank, ranks, bytes));
  StepBuilder &step = executable->builder();
  std::map<int, std::vector<Scheme>> schemes;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto [scheme, elements, channel] = buckets[i];
    const std::string name = "w" + std::to_string(i);
    step.tensor({name, Space::parameters, ElementType::f32, {elements}, offsets[i], elements * 4});
    step.tensor({name, Space::gradients, ElementType::f32, {elements}, offsets[i], elements * 4});
    step.bucket({static_cast<int>(i), channel, schemeName(scheme), offsets[i], elements * 4});
    schemes[channel].push_back(scheme);
    if (carries) {
      step.wait(static_cast<int>(i));
      step.issue(static_cast<int>(i));
    }
  }
  for (int i = 0; i < updates; ++i)
    step.update(0);
  const Status finished = executable->finish();
  EXPECT_TRUE(finished.isOk()) << finished.message();
  links = std::make_shared<cuda::NcclLinks>(*executable, peers);
  for (const auto &[number, used] : schemes) {
    auto opened = cuda::NcclChannel::open(*executable, links, peers,
                                          {.channel = number, .schemes = used, .wire = wire});
    EXPECT_TRUE(opened.isOk()) << opened.status().message();
    if (opened)
      channels[number] = std::move(*opened);
  }
}

TestRank::~TestRank() = default;

core::Channel &TestRank::open(int number, Scheme scheme) {
  auto opened =
      cuda::NcclChannel::open(*executable, links, peers, {.channel = number, .schemes = {scheme}});
  EXPECT_TRUE(opened.isOk()) << opened.status().message();
  return *(channels[number] = std::move(*opened));
}

float *TestRank::at(Space space, int bucket) {
  return reinterpret_cast<float *>(static_cast<std::byte *>(executable->space(space).data) +
                                   offsets[static_cast<std::size_t>(bucket)]);
}

void TestRank::begin(std::int64_t step, bool replayed) {
  executable->beginStep(step);
  for (auto &[number, channel] : channels)
    channel->startStep(step, replayed);
}

void TestRank::beginPart(bool replayed) {
  for (auto &[number, channel] : channels)
    channel->startPart(replayed);
}

void TestRank::compute(int bucket, std::function<float(std::size_t)> value) {
  EXPECT_EQ(enqueue(compute(),
                    [to = gradients(bucket), n = count(bucket), value = std::move(value)] {
                      for (std::size_t i = 0; i < n; ++i)
                        to[i] = value(i);
                    }),
            cudaSuccess);
}

Status TestRank::issue(int bucket, core::Half half) {
  const Scheme scheme = buckets[static_cast<std::size_t>(bucket)].scheme;
  if (half != core::Half::whole)
    return channelOf(bucket).issueHalf(bucket, gradients(bucket), count(bucket) * 4,
                                       ElementType::f32, scheme, half);
  return channelOf(bucket).issue(bucket, gradients(bucket), count(bucket) * 4, ElementType::f32,
                                 scheme);
}

Status TestRank::issueSharded(int bucket, bool wholeGradients, core::Half half) {
  return channelOf(bucket).issueSharded(bucket,
                                        {gradients(bucket), parameters(bucket), count(bucket) * 4,
                                         ElementType::f32, wholeGradients, half});
}

std::shared_ptr<std::vector<float>> TestRank::look(Space space, int bucket) {
  auto seen = std::make_shared<std::vector<float>>();
  EXPECT_EQ(enqueue(compute(), [seen, from = at(space, bucket),
                                n = count(bucket)] { seen->assign(from, from + n); }),
            cudaSuccess);
  return seen;
}

void runRanks(TestMeeting &meeting, const std::function<void(int rank)> &body) {
  const Variable devices("SYNCLINE_HOST_CUDA_DEVICES", std::to_string(meeting.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < meeting.ranks; ++rank)
    threads.emplace_back([&, rank] { body(rank); });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace syncline::hostcuda
