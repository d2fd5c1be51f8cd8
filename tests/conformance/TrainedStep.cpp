// dropout, convolution, mean squared error, its gradient, SGD.
#include "tests/conformance/TrainedStep.h"

#include <cstddef>
#include <limits>

namespace syncline::conformance {

namespace {

const Shape images{2, 16, 5, 5};

std::vector<std::byte> floats(const Array &values) {
  const std::vector<float> narrow(values.values.begin(), values.values.end());
  const auto *bytes = reinterpret_cast<const std::byte *>(narrow.data());
  return {bytes, bytes + narrow.size() * sizeof(float)};
}

} // namespace

TrainedStep::TrainedStep(const Backend &backend) : run(backend) {
  const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  x = run.plainOperand(Array(images));
  target = run.plainOperand(Array(images));
  const auto [w, dw] = run.parameter("w", randomArray({16, 16, 3, 3}, 1));
  weight = w;
  const Tensor dropped = run.result(images), dy = run.result(images), loss = run.result({});
  mask = run.result(images, ElementType::u8);
  y = run.result(images);
  run.step().bucket(bucketBy("ring", 16 * 16 * 9 * 4));
  run.step().dropout("drop", x, dropped, mask, 0.5);
  run.step().conv("conv", dropped, weight, none, y, same3);
  run.step().meanSquaredError("loss", y, target, loss, dy);
  run.step().loss(loss);
  run.step().convBackwardWeights("conv", dropped, dy, dw, none, same3);
  run.step().update(0);
  EXPECT_TRUE((*run).setOptimizer({.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01}).isOk());
  run.begin();
}

void TrainedStep::feed(std::int64_t number) {
  const auto seed = static_cast<unsigned>(2 * number);
  EXPECT_TRUE((*run).write(x.id, floats(randomArray(images, seed + 10))).isOk());
  EXPECT_TRUE((*run).write(target.id, floats(randomArray(images, seed + 11))).isOk());
}

void TrainedStep::feedNext(std::int64_t number, bool isSpoiled) {
  const auto seed = static_cast<unsigned>(2 * number);
  Array input = randomArray(images, seed + 10);
  if (isSpoiled)
    input.values[0] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE((*run).feed(x.id, floats(input)).isOk());
  EXPECT_TRUE((*run).feed(target.id, floats(randomArray(images, seed + 11))).isOk());
}

void TrainedStep::tellStep(std::int64_t number, bool isReplayed) {
  (*run).beginStep(number);
  if (!isReplayed)
    tell(false);
  const Status replayed = isReplayed ? (*run).replay() : Status::ok();
  EXPECT_TRUE(replayed.isOk()) << replayed.message();
  EXPECT_TRUE((*run).endStep().isOk());
}

void TrainedStep::tell(bool marked) {
  const int count = static_cast<int>((*run).operations().size());
  for (int i = 0; i <= count; ++i) {
    if (marked) {
      EXPECT_TRUE((*run).mark(i).isOk());
    }
    const Status ran = i < count ? (*run).run(i) : Status::ok();
    EXPECT_TRUE(ran.isOk()) << ran.message();
  }
}

void TrainedStep::runEagerly(std::int64_t number, bool marked) {
  (*run).beginStep(number);
  tell(marked);
  EXPECT_TRUE((*run).synchronize().isOk());
}

void TrainedStep::capture(bool marked) {
  ASSERT_TRUE((*run).beginCapture().isOk());
  tell(marked);
  const Status ended = (*run).endCapture();
  EXPECT_TRUE(ended.isOk()) << ended.message();
  EXPECT_TRUE((*run).isCaptured());
}

void TrainedStep::replay(std::int64_t number) {
  (*run).beginStep(number);
  const Status replayed = (*run).replay();
  EXPECT_TRUE(replayed.isOk()) << replayed.message();
  EXPECT_TRUE((*run).synchronize().isOk());
}

TrainedStep::Outcome TrainedStep::outcome() {
  return {run.values(weight).values, run.values(mask).values, run.values(y).values, (*run).loss()};
}

} // namespace syncline::conformance
