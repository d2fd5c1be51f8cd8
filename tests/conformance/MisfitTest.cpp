// Operands that do not fit each other: they would be read or written outside, so that every backend
// refuses them, with the same words.
#include "tests/conformance/StepCase.h"

#include <gtest/gtest-spi.h>

#include <array>

namespace syncline::conformance {
namespace {

/// Named tensors, so that messages do not depend on the order of declaring them.
struct Step {
  Tensor f32(const char *name, Shape shape) { return run.state(name, Array(std::move(shape))); }
  StepBuilder &step() { return run.step(); }

  StepCase &run;
};

/// A step with one operation that does not fit, and what must be said about it.
struct Misfit {
  void (*build)(Step s);
  const char *message;
};

const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

const Misfit products[] = {
    {[](Step s) {
       s.step().conv("l", s.f32("x", {1, 4, 5, 5}), s.f32("w", {6, 3, 3, 3}), none,
                     s.f32("y", {1, 6, 5, 5}), same3);
     },
     "layer 'l': conv: 'w': expected shape [6, 4, 3, 3], got [6, 3, 3, 3]"},
    {[](Step s) {
       s.step().convBackwardData("l", s.f32("dy", {2, 6, 5, 5}), s.f32("w", {6, 4, 3, 3}),
                                 s.f32("dx", {1, 4, 5, 5}), same3);
     },
     "layer 'l': convBackwardData: 'dy': expected shape [1, 6, 5, 5], got [2, 6, 5, 5]"},
    {[](Step s) {
       s.step().convBackwardWeights("l", s.f32("x", {1, 4, 5, 5}), s.f32("dy", {1, 6, 5, 5}),
                                    s.f32("dw", {6, 4, 3, 3}), s.f32("db", {5}), same3);
     },
     "layer 'l': convBackwardWeights: 'db': expected 6 elements, got 5"},
    {[](Step s) {
       s.step().matmul("l", s.f32("a", {2, 3}), false, s.f32("b", {4, 5}), true, none,
                       s.f32("y", {2, 4}));
     },
     "layer 'l': matmul: cannot multiply [2, 3] by [4, 5] transposed into [2, 4]"},
    {[](Step s) {
       s.step().matmul("l", s.f32("a", {2, 3}), false, s.f32("b", {3, 4}), false, s.f32("c", {3}),
                       s.f32("y", {2, 4}));
     },
     "layer 'l': matmul: cannot add a bias of [3] to [2, 4]"},
};

const Misfit recurrences[] = {
    {[](Step s) {
       s.step().recurrent("l", s.f32("x", {3, 2, 16}), s.f32("r", {1, 16, 4}), s.f32("b", {1, 16}),
                          s.f32("s", {2, 1, 2, 4}), none, s.f32("y", {3, 2, 4}),
                          s.f32("t", {2, 1, 2, 4}), s.f32("k", {1, 3, 2, 24}), 0, false);
     },
     "layer 'l': recurrent: 'b': expected shape [1, 32], got [1, 16]"},
    {[](Step s) {
       s.step().recurrent("l", s.f32("x", {3, 2, 16}), s.f32("r", {1, 16, 4}), s.f32("b", {1, 32}),
                          s.f32("s", {2, 1, 2, 4}), none, s.f32("y", {3, 2, 4}),
                          s.f32("t", {2, 1, 2, 4}), s.f32("k", {1, 3, 2, 24}), 5, false);
     },
     "layer 'l': recurrent: expected a cell from 0 to 4, got 5"},
    {[](Step s) {
       s.step().recurrentBackward("l", s.f32("r", {1, 12, 4}), s.f32("s", {1, 1, 2, 4}),
                                  s.f32("k", {1, 3, 2, 16}), s.f32("dy", {3, 2, 4}),
                                  s.f32("dt", {1, 1, 2, 4}), none, s.f32("dx", {3, 2, 8}), none,
                                  none, none, 1, true);
     },
     "layer 'l': recurrentBackward: 'dx': expected shape [3, 2, 12], got [3, 2, 8]"},
};

/// No operation reads or writes a tensor without elements, whatever the product of it would be.
const Misfit empties[] = {
    {[](Step s) {
       const Tensor a = s.f32("a", {2, 0, 40});
       s.step().matmul("l", a, false, s.f32("b", {40, 33}), false, none, s.f32("y", {2, 0, 33}));
     },
     "tensor 'a': every dimension must be positive"},
    {[](Step s) {
       const Tensor a = s.f32("a", {4, 5}), bias = s.f32("bias", {0});
       s.step().matmul("l", a, true, s.f32("b", {4, 0}), false, bias, s.f32("y", {5, 0}),
                       Activation::relu);
     },
     "tensor 'bias': every dimension must be positive"},
    {[](Step s) {
       const Tensor y = s.f32("y", {3, 7}), bias = s.f32("bias", {7}), b = s.f32("b", {7, 0});
       s.step().matmul("l", s.f32("a", {3, 0}), false, b, true, bias, y, Activation::relu);
     },
     "tensor 'b': every dimension must be positive"},
    {[](Step s) {
       const Tensor a = s.f32("a", {2, 3}), y = s.run.result({0, 3, 4});
       s.step().matmul("l", a, false, s.f32("b", {3, 4}), false, none, y);
     },
     "tensor 'out0': every dimension must be positive"},
    {[](Step s) {
       const Tensor x = s.f32("x", {2, 0});
       s.step().softmax("l", x, s.f32("y", {2, 0}), 1, false);
     },
     "tensor 'x': every dimension must be positive"},
};

constexpr std::int64_t large = std::int64_t{1} << 32;

/// Sizes that libraries would narrow to fewer bits are refused.
const Misfit windows[] = {
    {[](Step s) {
       s.step().conv("l", s.f32("x", {1, 1, 1, 1}), s.f32("w", {1, 1, 1, 1}), none,
                     s.f32("y", {1, 1, 1, 1}), {{}, {large, 1}, {1, 1}, {0, 0}, {0, 0}});
     },
     "layer 'l': conv: expected strides, dilations, paddings and kernels of at most 2147483647, "
     "got 4294967296"},
    {[](Step s) {
       s.step().convBackwardData("l", s.f32("dy", {1, 1, 1}), s.f32("w", {1, 1, 1}),
                                 s.f32("dx", {1, 1, 1}), {{}, {1}, {large + 1}, {0}, {0}});
     },
     "layer 'l': convBackwardData: expected strides, dilations, paddings and kernels of at most "
     "2147483647, got 4294967297"},
    {[](Step s) {
       s.step().conv("l", s.f32("x", {1, 1, 1}), s.f32("w", {1, 1, 2}), none, s.f32("y", {1, 1, 1}),
                     {{}, {1}, {large / 2 - 1}, {0}, {0}});
     },
     "layer 'l': conv: expected windows over at most 2147483647 positions of 'x', got 2147483648"},
    {[](Step s) {
       s.step().averagePool("l", s.f32("x", {1, 1, 1}), s.f32("y", {1, 1, 1}),
                            {{2}, {1}, {large}, {1}, {0}});
     },
     "layer 'l': averagePool: expected strides, dilations, paddings and kernels of at most "
     "2147483647, got 4294967296"},
    {[](Step s) {
       s.step().averagePool("l", s.f32("x", {1, 1, 2}), s.f32("y", {1, 1, 1}),
                            {{2}, {1}, {1}, {1}, {large / 2 - 2}});
     },
     "layer 'l': averagePool: expected windows over at most 2147483647 positions of 'x', got "
     "2147483649"},
};

const Misfit layers[] = {
    {[](Step s) {
       s.step().averagePool("l", s.f32("x", {1, 2, 4, 4}), s.f32("y", {1, 2, 6, 2}),
                            {{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}});
     },
     "layer 'l': averagePool: expected every window to hold an element of 'x'"},
    {[](Step s) {
       s.step().batchNorm("l", s.f32("x", {2, 3}), s.f32("scale", {3}), s.f32("shift", {2}), none,
                          none, s.f32("y", {2, 3}), s.f32("m", {3}), s.f32("v", {3}), none, 1e-5,
                          0.1);
     },
     "layer 'l': batchNorm: 'shift': expected 3 elements, got 2"},
    {[](Step s) {
       s.step().layerNorm("l", s.f32("x", {2, 3}), s.f32("scale", {2}), none, s.f32("y", {2, 3}),
                          1e-5);
     },
     "layer 'l': layerNorm: expected a scale of the last dimensions of [2, 3], got [2]"},
    {[](Step s) {
       s.step().layerNormBackward("l", s.f32("x", {2, 3}), s.f32("scale", {3}), s.f32("dy", {2, 3}),
                                  none, none, s.f32("dshift", {1, 3}), 1e-5);
     },
     "layer 'l': layerNormBackward: 'dshift': expected shape [3], got [1, 3]"},
    {[](Step s) { s.step().softmax("l", s.f32("x", {2, 3}), s.f32("y", {2, 3}), 2, false); },
     "layer 'l': softmax: 'x': expected an axis of 2 dimensions, got 2"},
    {[](Step s) {
       s.step().dropout("l", s.f32("x", {5}), s.f32("y", {5}), s.f32("mask", {5}), 0.5);
     },
     "layer 'l': dropout: 'mask': expected element type u8, got f32"},
    {[](Step s) {
       s.step().crossEntropy("l", s.f32("x", {2, 3}), s.run.result({3}, ElementType::i64), none,
                             s.f32("loss", {}), none);
     },
     "layer 'l': crossEntropy: 'out0': expected 2 elements, got 3"},
    {[](Step s) {
       s.step().crossEntropy("l", s.f32("x", {2, 3}), s.run.result({2}, ElementType::i64),
                             s.f32("w", {2}), s.f32("loss", {}), none);
     },
     "layer 'l': crossEntropy: 'w': expected shape [3], got [2]"},
};

const Misfit movements[] = {
    {[](Step s) {
       s.step().concat("l", std::array{s.f32("a", {2, 3}), s.f32("b", {2, 4})}, s.f32("y", {2, 8}),
                       1);
     },
     "layer 'l': concat: 'y': expected shape [2, 7], got [2, 8]"},
    {[](Step s) {
       s.step().embedding("l", s.f32("ids", {2}), s.f32("table", {5, 3}), s.f32("y", {2, 3}));
     },
     "layer 'l': embedding: 'ids': expected element type i64, got f32"},
    {[](Step s) {
       s.step().embeddingBackward("l", s.run.plainOperand(Array({2}), ElementType::i64),
                                  s.f32("dy", {2, 3}), s.f32("onto", {4, 3}), s.f32("dt", {5, 3}));
     },
     "layer 'l': embeddingBackward: 'onto': expected shape [5, 3], got [4, 3]"},
    {[](Step s) {
       s.step().gatherRows("l", s.f32("x", {2, 3}), s.f32("i", {3, 4}), s.f32("y", {2, 4}), 1, 1);
     },
     "layer 'l': gatherRows: expected an axis of [2, 3] behind 1 dimensions that [3, 4] has too, "
     "got 1"},
    {[](Step s) {
       s.step().gatherRows("l", s.f32("x", {2, 3}), s.f32("i", {4}), s.f32("y", {4, 2}), 1, 0);
     },
     "layer 'l': gatherRows: 'y': expected shape [2, 4], got [4, 2]"},
    {[](Step s) {
       s.step().scatterRows("l", s.f32("u", {2, 4}), s.f32("i", {4}), s.f32("onto", {2, 4}),
                            s.f32("y", {2, 3}), 1, 0, 0);
     },
     "layer 'l': scatterRows: 'onto': expected shape [2, 3], got [2, 4]"},
    {[](Step s) {
       s.step().scatterRows("l", s.f32("u", {2, 4}), s.f32("i", {4}), none, s.f32("y", {2, 3}), 1,
                            0, 5);
     },
     "layer 'l': scatterRows: expected a kind of scatter from 0 to 4, got 5"},
    {[](Step s) {
       s.step().topK("l", s.f32("x", {2, 3}), s.f32("v", {2, 4}), s.f32("i", {2, 4}), true);
     },
     "layer 'l': topK: expected 1 to 3 elements of each row, got 4"},
    {[](Step s) {
       s.step().topK("l", s.f32("x", {2, 3}), s.f32("v", {2, 2}), s.f32("i", {2, 1}), true);
     },
     "layer 'l': topK: 'i': expected shape [2, 2], got [2, 1]"},
    {[](Step s) { s.step().slice("l", s.f32("x", {5, 3}), s.f32("y", {3, 3}), {1, 0}, {2, 1}); },
     "layer 'l': slice: 'x': dimension 0 has 5 positions, the slice goes from 1 to 5"},
    {[](Step s) { s.step().pad("l", s.f32("x", {5, 3}), s.f32("y", {2, 3}), {-5, 0}, 0); },
     "layer 'l': pad: expected some of the operand to remain"},
    {[](Step s) { s.step().transpose("l", s.f32("x", {5, 3}), s.f32("y", {3, 5}), {1, 1}); },
     "layer 'l': transpose: expected a permutation of 2 dimensions, got [1, 1]"},
    {[](Step s) { s.step().reshape("l", s.f32("x", {5, 3}), s.f32("y", {14})); },
     "layer 'l': reshape: 'y': expected 15 elements, got 14"},
    {[](Step s) { s.step().reduce("l", Reduction::sum, s.f32("x", {5, 3}), s.f32("y", {3}), {1}); },
     "layer 'l': reduce: 'y': expected 5 elements, got 3"},
};

class MisfitTest : public testing::TestWithParam<Backend> {
protected:
  void refuses(std::span<const Misfit> misfits) {
    for (const Misfit &misfit : misfits) {
      StepCase run(GetParam());
      misfit.build({run});
      EXPECT_EQ(run.failure(), misfit.message);
    }
  }
};

TEST_P(MisfitTest, Products) { refuses(products); }
TEST_P(MisfitTest, Empties) { refuses(empties); }
TEST_P(MisfitTest, Recurrences) {
  if (GetParam().name.starts_with("cuda"))
    GTEST_SKIP() << "recurrent layers are refused for this backend";
  refuses(recurrences);
}
TEST_P(MisfitTest, Windows) { refuses(windows); }
TEST_P(MisfitTest, Layers) { refuses(layers); }
TEST_P(MisfitTest, Movements) { refuses(movements); }

// A test that goes on behind a refused step fails; it does not end the program.
TEST_P(MisfitTest, ValuesOfARefusedTensorAreNone) {
  StepCase run(GetParam());
  const Tensor y = run.result({2, 0});
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(run.values(y).values.size(), 0u),
                          "every dimension must be positive");
}

INSTANTIATE_TEST_SUITE_P(AllBackends, MisfitTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
