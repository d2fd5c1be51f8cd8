// Factors on their way: places of an all-gather, and gradients rebuilt from all ranks' factors. The
// channel's part, bringing every rank's factors to all, is played by copying between executables.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"

#include <array>

namespace syncline::conformance {
namespace {

using namespace core;

const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

Array valuesOf(int rank, const Shape &shape, int salt) {
  return randomArray(shape, static_cast<std::uint64_t>(100 * rank + salt));
}

/// The ranks' values one behind the other along dimension 0.
Array stacked(const Shape &shape, int salt, int ranks) {
  Shape all = shape;
  all[0] *= ranks;
  Array result(all);
  auto to = result.values.begin();
  for (int r = 0; r < ranks; ++r) {
    const Array part = valuesOf(r, shape, salt);
    to = std::copy(part.values.begin(), part.values.end(), to);
  }
  return result;
}

/// The index of the step's only gather.
int gatherOf(StepCase &run) {
  const auto operations = (*run).operations();
  for (int i = 0; i < static_cast<int>(operations.size()); ++i)
    if (operations[i].kind == OperationKind::gather)
      return i;
  ADD_FAILURE() << "no gather";
  return 0;
}

/// Does what channels do: copies every rank's part to the same place on all others.
void exchange(const Backend &backend, std::vector<std::unique_ptr<StepCase>> &runs) {
  for (std::size_t from = 0; from < runs.size(); ++from)
    for (auto &to : runs) {
      const auto &sent = (**runs[from]).operations()[gatherOf(*runs[from])].gathered;
      const auto &received = (**to).operations()[gatherOf(*to)].gathered;
      ASSERT_EQ(sent.size(), received.size());
      for (std::size_t i = 0; i < sent.size(); ++i) {
        ASSERT_EQ(sent[i].bytes, received[i].bytes);
        const auto offset = static_cast<std::int64_t>(from) * sent[i].bytes;
        backend.copy(static_cast<std::byte *>(received[i].data) + offset,
                     static_cast<std::byte *>(sent[i].data) + offset,
                     static_cast<std::size_t>(sent[i].bytes));
      }
    }
}

class GatherTest : public testing::TestWithParam<std::tuple<Backend, Form, int>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  Form form() const { return std::get<1>(GetParam()); }
  int ranks() const { return std::get<2>(GetParam()); }
  void rebuildConvolution(std::int64_t channels, std::int64_t filters, bool isCarried = false);
};

// Every rank sees all ranks' factors in rank order, and the convolution's gradient rebuilt from
// them is the sum of the ranks' gradients; the factors' own memory is free once the gather has run.
// Where the bucket is carried, the operations behind the gather stand at the step's beginning, and
// the step after runs them.
void GatherTest::rebuildConvolution(std::int64_t channels, std::int64_t filters, bool isCarried) {
  const Shape x{2, channels, 6, 7}, dy{2, filters, 6, 7}, w{filters, channels, 3, 3};
  auto times = [&](Shape shape) { return shape[0] *= ranks(), shape; };
  std::vector<std::unique_ptr<StepCase>> runs;
  std::vector<std::array<Tensor, 5>> tensors; // x, dy, xs, dys, dw
  for (int r = 0; r < ranks(); ++r) {
    auto &run = *runs.emplace_back(std::make_unique<StepCase>(backend(), form(), ranks(), 1, r));
    const Tensor dw = run.parameter("w", Array(w)).second;
    const Tensor xs = run.result(times(x)), dys = run.result(times(dy));
    run.step().bucket(bucketBy("factors", filters * channels * 9 * 4));
    const auto receive = [&] {
      run.step().wait(0);
      run.step().convBackwardWeights("conv", xs, dys, dw, none, same3);
      run.step().update(0);
    };
    if (isCarried)
      receive();
    const Tensor ownX = run.operand(valuesOf(r, x, 1)), ownDy = run.operand(valuesOf(r, dy, 2));
    run.step().gather(0, std::array{ownX, ownDy}, std::array{xs, dys});
    if (!isCarried)
      receive();
    run.begin();
    ASSERT_FALSE(HasFatalFailure());
    run.runOperations(isCarried ? 3 : 0, gatherOf(run) + 1);
    tensors.push_back({ownX, ownDy, xs, dys, dw});
    for (Tensor factor : {ownX, ownDy}) {
      std::vector<std::byte> zeros(
          elementCount((*run).tensors()[static_cast<std::size_t>(factor.id)].shape) * 4);
      ASSERT_TRUE((*run).write(factor.id, zeros).isOk());
    }
  }
  exchange(backend(), runs);
  const Array allX = stacked(x, 1, ranks()), allDy = stacked(dy, 2, ranks());
  const Array sum = referenceConvBackward(allX, Array(w), allDy, same3).dw;
  for (int r = 0; r < ranks(); ++r) {
    StepCase &run = *runs[r];
    const int first = isCarried ? 0 : gatherOf(run) + 1;
    run.runOperations(first, first + 3);
    expectNear(run, tensors[r][2], allX, 0);
    expectNear(run, tensors[r][3], allDy, 0);
    expectNear(run, tensors[r][4], sum);
  }
}

// Where no vector divides the channels, gathered factors are plain.
TEST_P(GatherTest, RebuildsTheSumOfConvolutionGradients) { rebuildConvolution(5, 20); }

// Where channels lie in blocks, gathered factors do too.
TEST_P(GatherTest, RebuildsTheSumOfGradientsInBlocks) { rebuildConvolution(16, 32); }

// A step computes gradients from what the step before has gathered. It is prepared before the
// gather, which has to write where and how these operations read.
TEST_P(GatherTest, RebuildsGradientsOfTheStepBefore) {
  rebuildConvolution(5, 20, /*isCarried=*/true);
  rebuildConvolution(16, 32, /*isCarried=*/true);
}

// A product's gradient contracts rows of activations and of gradients over all samples.
TEST_P(GatherTest, RebuildsTheSumOfMatmulGradients) {
  const Shape x{3, 7}, dy{3, 4};
  std::vector<std::unique_ptr<StepCase>> runs;
  std::vector<Tensor> gradients;
  for (int r = 0; r < ranks(); ++r) {
    auto &run = *runs.emplace_back(std::make_unique<StepCase>(backend(), form(), ranks(), 1, r));
    const Tensor dw = run.parameter("w", Array({7, 4})).second;
    const Tensor xs = run.result({3 * ranks(), 7}), dys = run.result({3 * ranks(), 4});
    run.step().bucket(bucketBy("factors", 128, 4, 1));
    run.step().gather(4,
                      std::array{run.operand(valuesOf(r, x, 1)), run.operand(valuesOf(r, dy, 2))},
                      std::array{xs, dys});
    run.step().wait(4);
    run.step().matmul("fc", xs, true, dys, false, none, dw);
    run.begin();
    ASSERT_FALSE(HasFatalFailure());
    run.runOperations(0, 1);
    gradients.push_back(dw);
  }
  exchange(backend(), runs);
  const Array sum =
      referenceMatmul(stacked(x, 1, ranks()), true, stacked(dy, 2, ranks()), false, {7, 4});
  for (int r = 0; r < ranks(); ++r) {
    runs[r]->runOperations(1, 3);
    expectNear(*runs[r], gradients[r], sum);
  }
}

// An embedding's gradient adds up all ranks' rows, of which some repeat on a rank and on others.
// All ranks get the same bits.
TEST_P(GatherTest, AddsUpAllRanksRowsOfATable) {
  const Shape ids{2, 3}, rows{2, 3, 4};
  std::vector<std::unique_ptr<StepCase>> runs;
  std::vector<Tensor> gradients;
  Array sum({5, 4});
  for (int r = 0; r < ranks(); ++r) {
    auto &run = *runs.emplace_back(std::make_unique<StepCase>(backend(), form(), ranks(), 1, r));
    Array own(ids);
    own.values = {0, 4, 4, static_cast<double>(r % 3), -1, 2};
    const Array dy = valuesOf(r, rows, 2);
    for (std::int64_t i = 0; i < dy.size(); ++i) {
      const auto id = static_cast<std::int64_t>(own.values[i / 4]);
      sum[{id < 0 ? id + 5 : id, i % 4}] += dy.values[i];
    }
    const Tensor table = run.parameter("table", Array({5, 4})).second;
    const Tensor all = run.result({2 * ranks(), 3}, ElementType::i64);
    const Tensor dys = run.result({2 * ranks(), 3, 4});
    run.step().bucket(bucketBy("sparse", 128));
    run.step().gather(0, std::array{run.plainOperand(own, ElementType::i64), run.operand(dy)},
                      std::array{all, dys});
    run.step().wait(0);
    run.step().embeddingBackward("em", all, dys, none, table);
    run.begin();
    ASSERT_FALSE(HasFatalFailure());
    run.runOperations(0, gatherOf(run) + 1);
    gradients.push_back(table);
  }
  exchange(backend(), runs);
  for (int r = 0; r < ranks(); ++r) {
    const int first = gatherOf(*runs[r]) + 1;
    runs[r]->runOperations(first, first + 2);
    expectNear(*runs[r], gradients[r], sum, 1e-6);
    EXPECT_EQ(runs[r]->values(gradients[r]).values, runs[0]->values(gradients[0]).values);
  }
}

// Elements of every type keep their bits.
TEST_P(GatherTest, TakesEveryElementType) {
  for (ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16,
                           ElementType::i64, ElementType::i32, ElementType::u8}) {
    const int rank = ranks() - 1;
    StepCase run(backend(), Form::plain, ranks(), 1, rank);
    const Tensor x = run.plainOperand(Array({2, 3}), type);
    const Tensor xs = run.result({2 * ranks(), 3}, type);
    run.step().bucket(bucketBy("factors", 0));
    run.step().gather(0, std::array{x}, std::array{xs});
    EXPECT_EQ(run.failure(), "");
    std::vector<std::byte> own(static_cast<std::size_t>(6 * elementBytes(type)));
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = static_cast<std::byte>(i + 1);
    ASSERT_TRUE((*run).write(x.id, own).isOk());
    run.runOperations(0, 1);
    std::vector<std::byte> all(own.size() * static_cast<std::size_t>(ranks()));
    ASSERT_TRUE((*run).read(xs.id, all).isOk());
    EXPECT_EQ(std::vector(all.end() - static_cast<std::ptrdiff_t>(own.size()), all.end()), own)
        << elementName(type);
    ASSERT_EQ((*run).operations()[0].gathered.size(), 1u);
    EXPECT_EQ((*run).operations()[0].gathered[0].bytes, static_cast<std::int64_t>(own.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, GatherTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::Values(Form::plain, Form::blocked),
                                          testing::Range(1, 6)),
                         [](const auto &info) {
                           return std::get<0>(info.param).name +
                                  (std::get<1>(info.param) == Form::plain ? "_plain_"
                                                                          : "_blocked_") +
                                  std::to_string(std::get<2>(info.param));
                         });

class GatherErrors : public testing::TestWithParam<Backend> {
protected:
  /// The error of a gather on two ranks into a result of this shape and type.
  std::string gathering(const Shape &shape, std::string_view scheme = "factors",
                        ElementType type = ElementType::f32) {
    StepCase run(GetParam(), Form::plain, 2);
    run.step().bucket(bucketBy(scheme, 0, 3));
    const Tensor x = run.operand(Array({4, 5})), xs = run.result(shape, type);
    run.step().gather(3, std::array{x}, std::array{xs});
    return run.failure();
  }
};

// A result that is not the ranks' factors one behind the other is refused by its name.
TEST_P(GatherErrors, ResultOfAnotherShapeOrType) {
  const std::string wanted =
      "bucket 3: gather: 'out1': expected 'in0' of 2 ranks along dimension 0";
  EXPECT_EQ(gathering({8, 5}), "");
  EXPECT_EQ(gathering({4, 5}), wanted);
  EXPECT_EQ(gathering({4, 10}), wanted);
  EXPECT_EQ(gathering({8, 5}, "factors", ElementType::i32), wanted);
}

// Only buckets by factors are gathered; these are not issued.
TEST_P(GatherErrors, BucketOfAnotherScheme) {
  EXPECT_EQ(gathering({8, 5}, "ring"), "'gather' names bucket 3, which travels by 'ring'");
  StepCase run(GetParam());
  run.step().bucket(bucketBy("factors", 0, 3));
  run.step().issue(3);
  EXPECT_EQ(run.failure(), "'issue' names bucket 3, which travels by 'factors'");
}

// Lists of different lengths, empty ones, and factors without a dimension are refused.
TEST_P(GatherErrors, ListsThatDoNotPair) {
  for (bool hasInput : {true, false}) {
    StepCase run(GetParam());
    run.step().bucket(bucketBy("factors", 0));
    const std::vector<Tensor> ins(hasInput ? 1 : 0, run.operand(Array({4, 5})));
    run.step().gather(0, ins, {});
    EXPECT_EQ(run.failure(),
              "bucket 0: gather: expected as many results as operands, at least one");
  }
  StepCase run(GetParam());
  const Tensor scalar = run.operand(Array(Shape{})), result = run.result({});
  run.step().bucket(bucketBy("factors", 0));
  run.step().gather(0, std::array{scalar}, std::array{result});
  EXPECT_EQ(run.failure(), "bucket 0: gather: 'in0': expected at least one dimension");
}

INSTANTIATE_TEST_SUITE_P(AllBackends, GatherErrors, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
