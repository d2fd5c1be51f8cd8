// Tensors for which the plan has room in bf16 alone. They lie side by side, so that a backend that
// stores more than two bytes an element destroys their neighbours.
#include "runtime/core/HalfFloat.h"
#include "tests/conformance/StepCase.h"

#include <array>
#include <vector>

namespace syncline::conformance {
namespace {

struct Room {
  bool isRounded;
  std::int64_t channels;
};

/// conv → norm and ReLU → loop → pool → conv and back, whose images have this room.
struct Chain {
  Chain(const Backend &backend, Room room) : run(backend), room(room) { build(backend); }

  Tensor image(std::int64_t size) {
    const Shape shape{2, room.channels, size, size};
    images.push_back(room.isRounded ? run.rounded(shape) : run.result(shape));
    return images.back();
  }
  void build(const Backend &backend);

  StepCase run;
  Room room;
  std::vector<Tensor> images, gradients;
};

void Chain::build(const Backend &backend) {
  const Window same{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const Window halves{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  const std::int64_t n = room.channels;
  StepBuilder &s = run.step();
  const Tensor x = run.operand(randomArray({2, 16, 6, 6}, 1));
  const auto [w1, dw1] = run.parameter("w1", randomArray({n, 16, 3, 3}, 2));
  const auto [w2, dw2] = run.parameter("w2", randomArray({n, n, 3, 3}, 3));
  const auto [scale, dscale] = run.parameter("scale", randomArray({n}, 4));
  const auto [shift, dshift] = run.parameter("shift", randomArray({n}, 5));
  const Tensor mean = run.result({n}), variance = run.result({n});
  const Tensor mask = run.result({2, n, 6, 6}, ElementType::u8);
  const Tensor taps = run.result({2, n, 3, 3}, ElementType::u8);
  const Tensor a = image(6), b = image(6), c = image(6), d = image(3), e = image(3);
  const Tensor dd = image(3), dc = image(6), db = image(6), da = image(6);
  s.conv("conv1", x, w1, none, a, same);
  s.batchNorm("bn", a, scale, shift, none, none, b, mean, variance, mask, 1e-5, 0.1,
              Activation::relu);
  backend.kernels.twice.append(s, "twice", std::array{b}, std::array{c}, true);
  s.maxPool("pool", c, d, taps, halves);
  s.conv("conv2", d, w2, none, e, same);
  s.phase("backward");
  s.convBackwardWeights("conv2", d, e, dw2, none, same);
  s.convBackwardData("conv2", e, w2, dd, same);
  s.maxPoolBackward("pool", dd, taps, dc, halves);
  backend.kernels.twice.append(s, "twice", std::array{dc}, std::array{db}, true);
  s.batchNormBackward("bn", a, scale, mean, variance, mask, db, da, dscale, dshift, 1e-5,
                      Activation::relu);
  s.convBackwardWeights("conv1", x, da, dw1, none, same);
  gradients = {dw1, dw2, dscale, dshift};
}

class RoundedTest : public testing::TestWithParam<Backend> {
protected:
  bool computesInBf16() const { return GetParam().name.ends_with("Bf16"); }
};

} // namespace

// The bits are those of a plan that has room for f32.
TEST_P(RoundedTest, HalfOfTheRoomIsEnough) {
  if (!computesInBf16())
    GTEST_SKIP() << "computes in another precision";
  for (const std::int64_t channels : {32, 20}) {
    Chain wide(GetParam(), {false, channels}), narrow(GetParam(), {true, channels});
    wide.run.run();
    narrow.run.run();
    for (std::size_t i = 0; i < wide.images.size(); ++i)
      EXPECT_EQ(narrow.run.values(narrow.images[i]).values, wide.run.values(wide.images[i]).values)
          << "image " << i << " with " << channels << " channels";
    for (std::size_t i = 0; i < wide.gradients.size(); ++i)
      EXPECT_EQ(narrow.run.values(narrow.gradients[i]).values,
                wide.run.values(wide.gradients[i]).values)
          << "gradient " << i << " with " << channels << " channels";
    EXPECT_EQ(narrow.run.reorders(), wide.run.reorders());
  }
}

// A result that a backend computes in f32 is rounded on its way to such a place.
TEST_P(RoundedTest, AnyResultCanBeRounded) {
  if (!computesInBf16())
    GTEST_SKIP() << "computes in another precision";
  StepCase run(GetParam());
  const Array values = randomArray({4, 6}, 1);
  const Tensor x = run.plainOperand(values), y = run.rounded({4, 6}), z = run.result({4, 6});
  run.step().softmax("softmax", x, y, 1, true);
  run.step().reshape("copy", y, z);
  run.run();
  expectNear(run, z, run.values(y));
  for (const double value : run.values(z).values)
    EXPECT_EQ(
        static_cast<double>(core::floatFromBf16(core::bf16FromFloat(static_cast<float>(value)))),
        value);
}

TEST_P(RoundedTest, OtherPrecisionsAreRefused) {
  if (computesInBf16())
    GTEST_SKIP() << "computes in bf16";
  StepCase run(GetParam());
  run.rounded({4, 6});
  EXPECT_EQ(run.failure(), "tensor 'out0' has room for bf16 only, and the step is computed in "
                           "another precision");
}

// Parameters, samples and integers keep their type.
TEST_P(RoundedTest, OnlyTheArenasFloatsAreRounded) {
  if (!computesInBf16())
    GTEST_SKIP() << "computes in another precision";
  const std::pair<Space, ElementType> others[] = {{Space::state, ElementType::f32},
                                                  {Space::arena, ElementType::i32}};
  for (const auto &[space, type] : others) {
    StepCase run(GetParam());
    run.step().tensor({"t", space, type, {4}, 0, 64, true});
    EXPECT_EQ(run.failure(), "tensor 't': only tensors of f32 in the arena are rounded");
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RoundedTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace syncline::conformance
