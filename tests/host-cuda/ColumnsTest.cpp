// Batch normalization and gradients of biases by our kernels, against sums in a plain loop: rows of
// many parts, threads with rows to spare, channels that fill no block.
#include "runtime/cuda/kernels/BatchNormKernels.h"
#include "tests/host-cuda/TestStreams.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace syncline::cuda {
namespace {

/// Begins where packs may, with some room behind that nobody may write to.
template <typename T> class Memory {
public:
  explicit Memory(std::size_t n) : n(n), bytes(n * sizeof(T) + room + 64, canary) {}

  T *data() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    return reinterpret_cast<T *>(bytes.data() + (64 - address % 64));
  }
  T &operator[](std::size_t i) { return data()[i]; }
  bool isIntact() {
    const auto *end = reinterpret_cast<unsigned char *>(data() + n);
    for (std::size_t i = 0; i + 64 < room; ++i)
      if (end[i] != canary)
        return false;
    return true;
  }
  bool operator==(Memory &other) { return std::memcmp(data(), other.data(), n * sizeof(T)) == 0; }

private:
  static constexpr unsigned char canary = 0xa5;
  static constexpr std::size_t room = 512;
  std::size_t n;
  std::vector<unsigned char> bytes;
};

/// Operands and results of all three functions.
template <typename T> struct Case {
  BatchNormShape shape;
  std::size_t n = static_cast<std::size_t>(shape.size()), c = shape.channels;
  Memory<T> x{n}, dy{n}, y{n}, dx{n};
  Memory<std::uint8_t> workspace{n};
  Memory<float> scale{c}, shift{c}, mean{c}, variance{c}, dscale{c}, dshift{c}, dbias{c};
  Memory<unsigned char> scratch{static_cast<std::size_t>(batchNormScratch(shape))};
  Memory<std::uint32_t> counters{columnCounters};

  explicit Case(const BatchNormShape &shape) : shape(shape) {
    std::minstd_rand random(1);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = T(normal(random) + 1);
      dy[i] = T(normal(random));
    }
    for (std::size_t k = 0; k < c; ++k) {
      scale[k] = normal(random);
      shift[k] = normal(random);
    }
  }

  /// Rounding to T keeps what is positive.
  bool wasPositive(std::size_t i) { return static_cast<float>(y[i]) > 0; }

  /// All three functions on the stream.
  void enqueue(cudaStream_t stream, bool hasRelu) {
    const ColumnMemory memory{scratch.data(), counters.data()};
    BatchNormForward<T> forward{x.data(),    y.data(),        {},      scale.data(), shift.data(),
                                mean.data(), variance.data(), nullptr, nullptr,      1e-5,
                                0.1};
    BatchNormBackward<T> backward{x.data(),        dy.data(),     {},           dx.data(),
                                  dscale.data(),   dshift.data(), scale.data(), mean.data(),
                                  variance.data(), 1e-5};
    if (hasRelu) {
      forward.positives = {shape, workspace.data()};
      backward.positives = {shape, workspace.data()};
    }
    EXPECT_EQ(batchNorm(stream, shape, forward, memory), cudaSuccess);
    EXPECT_EQ(batchNormBackward(stream, shape, backward, memory), cudaSuccess);
    EXPECT_EQ(biasGradient(stream, shape, dy.data(), dbias.data(), memory), cudaSuccess);
  }

  void run(bool hasRelu) {
    hostcuda::TestStream stream;
    std::fill_n(counters.data(), columnCounters, 0);
    enqueue(stream, hasRelu);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(std::count(counters.data(), counters.data() + columnCounters, 0), columnCounters);
  }
};

/// One channel of a case that ran, by its definition. Results of BFloat16 are off by a 256th.
template <typename T> void expectChannel(Case<T> &run, std::size_t k, bool hasRelu) {
  const double n = run.shape.rows, slack = std::is_same_v<T, float> ? 1e-5 : 1.0 / 128;
  double sum = 0, squares = 0, gradients = 0, products = 0, all = 0;
  for (std::size_t i = k; i < run.n; i += run.c)
    sum += static_cast<float>(run.x[i]);
  const double mean = sum / n;
  for (std::size_t i = k; i < run.n; i += run.c) {
    const double distance = static_cast<float>(run.x[i]) - mean, dy = static_cast<float>(run.dy[i]);
    const double gradient = hasRelu && !run.wasPositive(i) ? 0 : dy;
    squares += distance * distance;
    gradients += gradient;
    products += gradient * distance;
    all += dy;
  }
  const double inverse = 1 / std::sqrt(squares / n + 1e-5);
  EXPECT_NEAR(run.mean[k], mean, 1e-5);
  EXPECT_NEAR(run.variance[k], squares / n, 1e-5);
  EXPECT_NEAR(run.dshift[k], gradients, 1e-6 * n);
  EXPECT_NEAR(run.dscale[k], products * inverse, 1e-6 * n);
  EXPECT_NEAR(run.dbias[k], all, 1e-6 * n);
  double worst = 0;
  for (std::size_t i = k; i < run.n; i += run.c) {
    const double distance = static_cast<float>(run.x[i]) - mean;
    const double value = distance * inverse * run.scale[k] + run.shift[k];
    const double gradient = hasRelu && !run.wasPositive(i) ? 0 : static_cast<float>(run.dy[i]);
    const double dx = run.scale[k] * inverse *
                      (gradient - gradients / n - distance * inverse * inverse * products / n);
    if (hasRelu && std::abs(value) > slack) {
      ASSERT_EQ(run.wasPositive(i), value > 0) << i;
    }
    const double y = hasRelu ? std::max(value, 0.0) : value;
    worst = std::max(worst, std::abs(static_cast<float>(run.y[i]) - y) / (1 + std::abs(y)));
    worst = std::max(worst, std::abs(static_cast<float>(run.dx[i]) - dx) / (1 + std::abs(dx)));
  }
  EXPECT_LT(worst, slack);
}

template <typename T> void expectAll(const BatchNormShape &shape, bool hasRelu) {
  SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.channels));
  Case<T> run(shape), again(shape);
  run.run(hasRelu);
  for (std::size_t k = 0; k < run.c; ++k)
    expectChannel(run, k, hasRelu);
  EXPECT_TRUE(run.y.isIntact() && run.dx.isIntact() && run.workspace.isIntact());
  EXPECT_TRUE(run.counters.isIntact() && run.mean.isIntact() && run.variance.isIntact() &&
              run.scratch.isIntact());
  EXPECT_TRUE(run.dscale.isIntact() && run.dshift.isIntact() && run.dbias.isIntact());
  again.run(hasRelu);
  EXPECT_TRUE(run.y == again.y && run.dx == again.dx && run.mean == again.mean);
  EXPECT_TRUE(run.dscale == again.dscale && run.dbias == again.dbias);
}

// Single channels and packs, 8, 16 and 32 columns a block, blocks with columns to spare; from rows
// for fewer than all threads to more parts than are summed at once.
TEST(ColumnsTest, SumsAndElementsAreTheDefinition) {
  for (const BatchNormShape &shape : std::initializer_list<BatchNormShape>{
           {1, 5}, {7, 12}, {8, 12}, {403, 6}, {1999, 64}, {531, 160}, {700, 20}, {140003, 4}}) {
    expectAll<float>(shape, true);
    expectAll<BFloat16>(shape, false);
    expectAll<BFloat16>(shape, true);
  }
}

// A few rows of bf16 are added in f32, which loses no bit of such numbers and their squares. Where
// all rows were added so, the small difference of two large sums would be wrong.
TEST(ColumnsTest, SumsOfBf16AreThoseOfDoubles) {
  Case<BFloat16> run({4099, 8});
  for (std::size_t i = 0; i < run.n; ++i)
    run.x[i] = BFloat16(100 + std::round(static_cast<float>(run.dy[i])));
  run.run(false);
  for (std::size_t k = 0; k < run.c; ++k) {
    double sum = 0, squares = 0;
    for (std::size_t i = k; i < run.n; i += run.c) {
      const double value = static_cast<float>(run.x[i]);
      sum += value;
      squares += value * value;
    }
    const double n = run.shape.rows, mean = sum / n;
    EXPECT_EQ(run.mean[k], static_cast<float>(mean));
    EXPECT_EQ(run.variance[k], static_cast<float>(squares / n - mean * mean));
  }
}

/// The variances of x by sums that tell another mean and variance.
std::vector<float> variancesBy(float mean, float variance, bool trusts) {
  Case<BFloat16> run({64, 8});
  std::vector<float> sums(run.c), squares(run.c), gain(run.c);
  for (std::size_t k = 0; k < run.c; ++k) {
    sums[k] = 64 * mean;
    squares[k] = 64 * (variance + mean * mean);
  }
  std::fill_n(run.counters.data(), columnCounters, 0);
  hostcuda::TestStream stream;
  const BatchNormForward<BFloat16> forward{.x = run.x.data(),
                                           .y = nullptr,
                                           .positives = {},
                                           .scale = run.scale.data(),
                                           .shift = run.shift.data(),
                                           .mean = run.mean.data(),
                                           .variance = run.variance.data(),
                                           .runningMean = nullptr,
                                           .runningVariance = nullptr,
                                           .epsilon = 1e-5,
                                           .momentum = 0.1,
                                           .gain = gain.data(),
                                           .sums = sums.data(),
                                           .squares = squares.data(),
                                           .trustsSums = trusts};
  EXPECT_EQ(batchNorm(stream, run.shape, forward, {run.scratch.data(), run.counters.data()}),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  return {run.variance.data(), run.variance.data() + run.c};
}

// Sums in f32 do for a variance that is a 64th of the mean's square or more. Timing takes any.
TEST(ColumnsTest, GivenSumsAreTakenWhereTheyTellTheVariance) {
  EXPECT_EQ(variancesBy(16, 4, false), std::vector<float>(8, 4));
  EXPECT_EQ(variancesBy(16, 2, true), std::vector<float>(8, 2));
  for (const float variance : variancesBy(16, 2, false))
    EXPECT_LT(variance, 1.9F); // that of x, which is normal
}

// The kernel that begins sums finishes them: two launches forward, two backward, one for a bias.
TEST(ColumnsTest, SumsTakeOneLaunch) {
  Case<float> one({1999, 64});
  hostcuda::TestStream stream;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  one.enqueue(stream, true);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  std::size_t launches = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &launches), cudaSuccess);
  EXPECT_EQ(launches, 5u);
  cudaGraphDestroy(graph);
}

// With few rows the workspace has a byte for each element, otherwise a line for each channel.
TEST(ColumnsTest, WorkspaceHasRoomForLinesFromEightRowsOn) {
  Memory<std::uint8_t> memory(64);
  std::uint8_t *const workspace = memory.data();
  EXPECT_TRUE(Positives<std::uint8_t>({7, 1}, workspace).mask);
  EXPECT_FALSE(Positives<std::uint8_t>({7, 1}, workspace).line);
  EXPECT_TRUE(Positives<std::uint8_t>({8, 1}, workspace).line);
  EXPECT_FALSE(Positives<std::uint8_t>({8, 1}, workspace).mask);
}

} // namespace
} // namespace syncline::cuda
