// Recurrent layers against ONNX's equations.
#include "tests/conformance/StepCase.h"

#include "syncline/RecurrentCell.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline::conformance {
namespace {

struct Case {
  RecurrentCell cell;
  std::int64_t directions;
  bool isReverse, hasLengths;
  std::int64_t steps = 4, batch = 3, size = 3;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Operands {
  Array x, r, bias, initial, lengths;
};

struct Outcome {
  Array y, last;
};

/// One sample's way through time in one direction.
class Walk {
public:
  Walk(const Case &of, const Operands &all, std::int64_t d, std::int64_t b)
      : of(of), all(all), d(d), b(b), h(static_cast<std::size_t>(of.size)), c(h) {
    for (std::int64_t j = 0; j < of.size; ++j) {
      h[at(j)] = all.initial[{0, d, b, j}];
      c[at(j)] = statesOf(of.cell) == 2 ? all.initial[{1, d, b, j}] : 0;
    }
  }

  void step(std::int64_t t) {
    const std::vector<double> old = h;
    std::vector<double> scaled = old;
    if (of.cell == RecurrentCell::gru)
      for (std::int64_t j = 0; j < of.size; ++j)
        scaled[at(j)] *= sigmoid(sum(t, 1, j, old));
    for (std::int64_t j = 0; j < of.size; ++j)
      h[at(j)] = output(t, j, old, scaled);
  }

  std::vector<double> states() const { return h; }
  std::vector<double> cells() const { return c; }

private:
  static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

  double output(std::int64_t t, std::int64_t j, const std::vector<double> &old,
                const std::vector<double> &scaled) {
    switch (of.cell) {
    case RecurrentCell::lstm:
      c[at(j)] = sigmoid(sum(t, 2, j, old)) * c[at(j)] +
                 sigmoid(sum(t, 0, j, old)) * std::tanh(sum(t, 3, j, old));
      return sigmoid(sum(t, 1, j, old)) * std::tanh(c[at(j)]);
    case RecurrentCell::gru:
    case RecurrentCell::gruResetAfter: {
      const double z = sigmoid(sum(t, 0, j, old));
      const double made =
          of.cell == RecurrentCell::gru
              ? std::tanh(sum(t, 2, j, scaled))
              : std::tanh(input(t, 2, j) + sigmoid(sum(t, 1, j, old)) * product(2, j, old));
      return (1 - z) * made + z * old[at(j)];
    }
    case RecurrentCell::rnnTanh:
      return std::tanh(sum(t, 0, j, old));
    case RecurrentCell::rnnRelu:
      return std::max(sum(t, 0, j, old), 0.0);
    }
    return 0;
  }

  std::int64_t rows() const { return gatesOf(of.cell) * of.size; }
  double input(std::int64_t t, std::int64_t gate, std::int64_t j) const {
    const std::int64_t row = gate * of.size + j;
    return all.x[{t, b, d * rows() + row}] + all.bias[{d, row}];
  }
  double product(std::int64_t gate, std::int64_t j, const std::vector<double> &states) const {
    const std::int64_t row = gate * of.size + j;
    double sum = all.bias[{d, rows() + row}];
    for (std::int64_t k = 0; k < of.size; ++k)
      sum += all.r[{d, row, k}] * states[at(k)];
    return sum;
  }
  double sum(std::int64_t t, std::int64_t gate, std::int64_t j,
             const std::vector<double> &states) const {
    return input(t, gate, j) + product(gate, j, states);
  }

  const Case &of;
  const Operands &all;
  const std::int64_t d, b;
  std::vector<double> h, c;
};

Outcome reference(const Case &of, const Operands &all) {
  Outcome result{Array({of.steps, of.batch, of.directions * of.size}), all.initial};
  for (std::int64_t d = 0; d < of.directions; ++d)
    for (std::int64_t b = 0; b < of.batch; ++b) {
      Walk walk(of, all, d, b);
      for (std::int64_t k = 0; k < of.steps; ++k) {
        const std::int64_t t = of.isReverse || d == 1 ? of.steps - 1 - k : k;
        if (of.hasLengths && static_cast<double>(t) >= all.lengths[{b}])
          continue;
        walk.step(t);
        for (std::int64_t j = 0; j < of.size; ++j)
          result.y[{t, b, d * of.size + j}] = walk.states()[static_cast<std::size_t>(j)];
      }
      for (std::int64_t j = 0; j < of.size; ++j) {
        result.last[{0, d, b, j}] = walk.states()[static_cast<std::size_t>(j)];
        if (statesOf(of.cell) == 2)
          result.last[{1, d, b, j}] = walk.cells()[static_cast<std::size_t>(j)];
      }
    }
  return result;
}

/// Both results' elements in one row.
Array joined(const Outcome &outcome) {
  Array all({outcome.y.size() + outcome.last.size()});
  std::copy(outcome.y.values.begin(), outcome.y.values.end(), all.values.begin());
  std::copy(outcome.last.values.begin(), outcome.last.values.end(),
            all.values.begin() + outcome.y.size());
  return all;
}

class RecurrentTest : public testing::TestWithParam<std::tuple<Backend, Case>> {
protected:
  void SetUp() override {
    if (backend().name.starts_with("cuda"))
      GTEST_SKIP() << "recurrent layers are refused for this backend";
  }
  const Backend &backend() const { return std::get<0>(GetParam()); }
  const Case &of() const { return std::get<1>(GetParam()); }
  std::int64_t rows() const { return gatesOf(of().cell) * of().size; }

  Operands operands() const {
    const Case &c = of();
    Operands all{
        randomArray({c.steps, c.batch, c.directions * rows()}, 1),
        randomArray({c.directions, rows(), c.size}, 2), randomArray({c.directions, 2 * rows()}, 3),
        randomArray({statesOf(c.cell), c.directions, c.batch, c.size}, 4), Array({c.batch})};
    for (std::int64_t b = 0; b < c.batch; ++b) // the whole, nothing, and what lies between
      all.lengths[{b}] = static_cast<double>(b == 0 ? c.steps : (b - 1) % (c.steps + 1));
    for (double &weight : all.r.values)
      weight /= std::sqrt(static_cast<double>(c.size));
    return all;
  }
};

TEST_P(RecurrentTest, TrainsAsDefined) {
  const Case &c = of();
  const Operands all = operands();
  const Outcome wanted = reference(c, all);
  const Array dy = randomArray(wanted.y.shape, 5), dlast = randomArray(wanted.last.shape, 6);
  StepCase run(backend());
  const auto [r, dr] = run.parameter("r", all.r);
  const auto [bias, dbias] = run.parameter("bias", all.bias);
  const Tensor x = run.operand(all.x), initial = run.operand(all.initial);
  const Tensor lengths =
      c.hasLengths ? run.plainOperand(all.lengths, ElementType::i64) : Tensor(none);
  const Tensor y = run.result(wanted.y.shape), last = run.result(wanted.last.shape);
  const Tensor saved = run.result({c.directions, c.steps, c.batch, savedOf(c.cell) * c.size});
  const Tensor dx = run.result(all.x.shape), dinitial = run.result(all.initial.shape);
  const auto cell = static_cast<std::int64_t>(c.cell);
  run.step().recurrent("r", x, r, bias, initial, lengths, y, last, saved, cell, c.isReverse);
  run.step().recurrentBackward("r", r, initial, saved, run.operand(dy), run.operand(dlast), lengths,
                               dx, dr, dbias, dinitial, cell, c.isReverse);
  run.run();
  expectNear(run, y, wanted.y);
  expectNear(run, last, wanted.last);
  if (c.size > 8) // differences of so many numbers take long
    return;
  const Array gradient = joined({dy, dlast});
  const auto check = [&](Tensor result, Array Operands::*operand) {
    const auto forward = [&](const Array &at) {
      Operands moved = all;
      moved.*operand = at;
      return joined(reference(c, moved));
    };
    expectNear(run, result, numericalGradient(forward, all.*operand, gradient), 1e-4);
  };
  check(dx, &Operands::x);
  check(dr, &Operands::r);
  check(dbias, &Operands::bias);
  check(dinitial, &Operands::initial);
}

// A length that no text has, as data may hold one, must show: all of the sample's results are NaN.
TEST_P(RecurrentTest, ResultsOfImpossibleLengthsAreNaN) {
  const Case &c = of();
  if (!c.hasLengths)
    return;
  for (const double length : {-1.0, static_cast<double>(c.steps + 1), 0x1p40}) {
    Operands all = operands();
    all.lengths[{c.batch - 1}] = length;
    StepCase run(backend());
    const Tensor y = run.result({c.steps, c.batch, c.directions * c.size});
    const Tensor last = run.result(all.initial.shape);
    run.step().recurrent("r", run.operand(all.x), run.operand(all.r), run.operand(all.bias),
                         run.operand(all.initial), run.plainOperand(all.lengths, ElementType::i64),
                         y, last,
                         run.result({c.directions, c.steps, c.batch, savedOf(c.cell) * c.size}),
                         static_cast<std::int64_t>(c.cell), c.isReverse);
    run.run();
    const auto nans = [](const Array &of) {
      return std::count_if(of.values.begin(), of.values.end(), [](double x) { return x != x; });
    };
    EXPECT_EQ(nans(run.values(y)), c.steps * c.directions * c.size);
    EXPECT_EQ(nans(run.values(last)), statesOf(c.cell) * c.directions * c.size);
  }
}

// What nothing reads is not computed, and the rest is the same.
TEST_P(RecurrentTest, LeavesOutGradientsThatNothingReads) {
  const Case &c = of();
  const Operands all = operands();
  const Array dy = randomArray({c.steps, c.batch, c.directions * c.size}, 5);
  Array gradients[2];
  for (const bool isWhole : {true, false}) {
    StepCase run(backend());
    const auto [r, dr] = run.parameter("r", all.r);
    const auto [bias, dbias] = run.parameter("bias", all.bias);
    const Tensor initial = run.operand(all.initial);
    const Tensor lengths =
        c.hasLengths ? run.plainOperand(all.lengths, ElementType::i64) : Tensor(none);
    const Tensor saved = run.result({c.directions, c.steps, c.batch, savedOf(c.cell) * c.size});
    const auto cell = static_cast<std::int64_t>(c.cell);
    run.step().recurrent("r", run.operand(all.x), r, bias, initial, lengths, run.result(dy.shape),
                         run.result(all.initial.shape), saved, cell, c.isReverse);
    const Tensor dx = run.result(all.x.shape);
    run.step().recurrentBackward(
        "r", r, initial, saved, run.operand(dy), run.operand(Array(all.initial.shape)), lengths, dx,
        isWhole ? dr : Tensor(none), isWhole ? dbias : Tensor(none),
        isWhole ? run.result(all.initial.shape) : Tensor(none), cell, c.isReverse);
    run.run();
    gradients[isWhole] = run.values(dx);
  }
  EXPECT_EQ(gradients[0].values, gradients[1].values);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::int64_t cell = 0; cell < recurrentCells; ++cell)
    for (const bool hasLengths : {false, true}) {
      all.push_back({static_cast<RecurrentCell>(cell), 1, false, hasLengths});
      all.push_back({static_cast<RecurrentCell>(cell), 1, true, hasLengths});
      all.push_back({static_cast<RecurrentCell>(cell), 2, false, hasLengths});
      all.push_back({static_cast<RecurrentCell>(cell), 2, false, hasLengths, 1, 1, 1});
      all.push_back({static_cast<RecurrentCell>(cell), 1, false, hasLengths, 5, 6, 70});
    }
  return all;
}

std::string nameOf(const testing::TestParamInfo<std::tuple<Backend, Case>> &info) {
  const char *const cells[] = {"lstm", "gru", "gruResetAfter", "rnnTanh", "rnnRelu"};
  const Case &of = std::get<1>(info.param);
  return std::get<0>(info.param).name + "_" + cells[static_cast<int>(of.cell)] +
         (of.directions == 2 ? "_both"
          : of.isReverse     ? "_reverse"
                             : "") +
         (of.hasLengths ? "_lengths" : "") + "_" + std::to_string(of.size);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, RecurrentTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::ValuesIn(cases())),
                         nameOf);

} // namespace
} // namespace syncline::conformance
