// Reference recurrent layers: ONNX's equations, number by number. Every number remembers which
// others it is computed from, so that the backward pass needs no equations of its own.
#include "tests/reference/Values.h"

#include "syncline/RecurrentCell.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

namespace {

/// Numbers in the order in which they are computed.
class Tape {
public:
  using Number = std::size_t;

  Number leaf(double value) { return add(value, 0, 0, 0, 0); }
  Number plus(Number a, Number b) { return add(at(a) + at(b), a, 1, b, 1); }
  Number times(Number a, Number b) { return add(at(a) * at(b), a, at(b), b, at(a)); }
  Number minus(Number a, Number b) { return add(at(a) - at(b), a, 1, b, -1); }
  Number sigmoid(Number a) {
    const double y = 1 / (1 + std::exp(-at(a)));
    return add(y, a, y * (1 - y), a, 0);
  }
  Number tanh(Number a) {
    const double y = std::tanh(at(a));
    return add(y, a, 1 - y * y, a, 0);
  }
  Number relu(Number a) { return add(std::max(at(a), 0.0), a, at(a) > 0, a, 0); }

  double at(Number a) const { return steps[a].value; }
  double &gradient(Number a) { return steps[a].gradient; }

  void goBack() {
    for (std::size_t i = steps.size(); i-- > 0;) {
      steps[steps[i].a].gradient += steps[i].gradient * steps[i].da;
      steps[steps[i].b].gradient += steps[i].gradient * steps[i].db;
    }
  }

private:
  struct Step {
    double value;
    Number a, b;
    double da, db, gradient = 0;
  };
  Number add(double value, Number a, double da, Number b, double db) {
    steps.push_back({value, a, b, da, db});
    return steps.size() - 1;
  }

  std::vector<Step> steps;
};

using Numbers = std::vector<Tape::Number>;

/// A layer's operands and results as numbers, in row-major order.
struct Layer {
  Layer(RecurrentOp op, const Values &values)
      : cell(static_cast<RecurrentCell>(op.getCell())), isReverse(op.getReverse()) {
    const Tensor &r = values[op.getR()];
    steps = values[op.getX()].shape[0];
    batch = values[op.getX()].shape[1];
    directions = r.shape[0];
    size = r.shape[2];
    x = leaves(values[op.getX()]);
    weights = leaves(r);
    bias = leaves(values[op.getBias()]);
    last = initial = leaves(values[op.getInitial()]);
    y.assign(steps * batch * directions * size, tape.leaf(0));
    if (op.getLengths())
      lengths = values[op.getLengths()].values;
    for (std::int64_t d = 0; d < directions; ++d)
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t k = 0; k < steps; ++k)
          step(d, b, isReverse || d == 1 ? steps - 1 - k : k);
  }

  Tape tape;
  Numbers x, weights, bias, initial, y, last;

private:
  Numbers leaves(const Tensor &tensor) {
    Numbers numbers;
    for (const double value : tensor.values)
      numbers.push_back(tape.leaf(value));
    return numbers;
  }

  std::int64_t rows() const { return gatesOf(cell) * size; }

  /// Row `row` of r times `states`.
  Tape::Number product(std::int64_t d, std::int64_t row, const Numbers &states) {
    Tape::Number sum = tape.leaf(0);
    for (std::int64_t j = 0; j < size; ++j)
      sum = tape.plus(sum, tape.times(weights[(d * rows() + row) * size + j], states[j]));
    return sum;
  }
  Tape::Number inputBias(std::int64_t d, std::int64_t row) { return bias[d * 2 * rows() + row]; }
  Tape::Number stateBias(std::int64_t d, std::int64_t row) {
    return bias[d * 2 * rows() + rows() + row];
  }

  void step(std::int64_t d, std::int64_t b, std::int64_t t) {
    if (!lengths.empty() && double(t) >= lengths[b])
      return;
    const auto state = [&](std::int64_t i, std::int64_t j) -> Tape::Number & {
      return last[((i * directions + d) * batch + b) * size + j];
    };
    Numbers h, c, newH, newC;
    for (std::int64_t j = 0; j < size; ++j) {
      h.push_back(state(0, j));
      if (statesOf(cell) == 2)
        c.push_back(state(1, j));
    }
    const std::int64_t inputs = ((t * batch + b) * directions + d) * rows();
    const auto sum = [&](std::int64_t gate, std::int64_t j, const Numbers &states) {
      const std::int64_t row = gate * size + j;
      return tape.plus(tape.plus(x[inputs + row], inputBias(d, row)),
                       tape.plus(product(d, row, states), stateBias(d, row)));
    };
    const Tape::Number one = tape.leaf(1);
    Numbers scaled;
    for (std::int64_t j = 0; j < size && cell == RecurrentCell::gru; ++j)
      scaled.push_back(tape.times(tape.sigmoid(sum(1, j, h)), h[j]));
    for (std::int64_t j = 0; j < size; ++j) {
      switch (cell) {
      case RecurrentCell::lstm: {
        const Tape::Number input = tape.sigmoid(sum(0, j, h)), output = tape.sigmoid(sum(1, j, h));
        const Tape::Number forget = tape.sigmoid(sum(2, j, h)), made = tape.tanh(sum(3, j, h));
        newC.push_back(tape.plus(tape.times(forget, c[j]), tape.times(input, made)));
        newH.push_back(tape.times(output, tape.tanh(newC.back())));
        break;
      }
      case RecurrentCell::gru:
      case RecurrentCell::gruResetAfter: {
        const Tape::Number update = tape.sigmoid(sum(0, j, h)), reset = tape.sigmoid(sum(1, j, h));
        const std::int64_t row = 2 * size + j;
        const Tape::Number made =
            cell == RecurrentCell::gru
                ? tape.tanh(sum(2, j, scaled))
                : tape.tanh(tape.plus(
                      tape.plus(x[inputs + row], inputBias(d, row)),
                      tape.times(reset, tape.plus(product(d, row, h), stateBias(d, row)))));
        newH.push_back(
            tape.plus(tape.times(tape.minus(one, update), made), tape.times(update, h[j])));
        break;
      }
      case RecurrentCell::rnnTanh:
        newH.push_back(tape.tanh(sum(0, j, h)));
        break;
      case RecurrentCell::rnnRelu:
        newH.push_back(tape.relu(sum(0, j, h)));
        break;
      }
    }
    for (std::int64_t j = 0; j < size; ++j) {
      state(0, j) = newH[j];
      if (statesOf(cell) == 2)
        state(1, j) = newC[j];
      y[((t * batch + b) * directions + d) * size + j] = newH[j];
    }
  }

  RecurrentCell cell;
  bool isReverse;
  std::int64_t steps, batch, directions, size;
  std::vector<double> lengths;
};

} // namespace

static Tensor valuesOf(const Tape &tape, const Numbers &numbers, Tensor to) {
  for (auto [place, number] : llvm::zip(to.values, numbers))
    place = tape.at(number);
  return to;
}

static Tensor gradientsOf(Tape &tape, const Numbers &numbers, Tensor to) {
  for (auto [place, number] : llvm::zip(to.values, numbers))
    place = tape.gradient(number);
  return to;
}

/// What it saves is not read: the backward operation computes everything again.
static void recurrent(RecurrentOp op, Values &values) {
  const Layer layer(op, values);
  values.set(op.getY(), valuesOf(layer.tape, layer.y, values.make(op.getY())));
  values.set(op.getLast(), valuesOf(layer.tape, layer.last, values.make(op.getLast())));
  values.set(op.getSaved(), values.make(op.getSaved()));
}

static void recurrentBackward(RecurrentBackwardOp op, Values &values) {
  Layer layer(op.getSaved().getDefiningOp<RecurrentOp>(), values);
  const auto seed = [&](const Numbers &numbers, Value gradient) {
    for (auto [number, value] : llvm::zip(numbers, values[gradient].values))
      layer.tape.gradient(number) += value;
  };
  seed(layer.y, op.getDy());
  seed(layer.last, op.getDlast());
  layer.tape.goBack();
  const auto set = [&](Value result, const Numbers &numbers) {
    values.set(result, gradientsOf(layer.tape, numbers, values.make(result)));
  };
  set(op.getDx(), layer.x);
  set(op.getDr(), layer.weights);
  set(op.getDbias(), layer.bias);
  set(op.getDinitial(), layer.initial);
}

bool evaluateRecurrent(Operation *op, Values &values) {
  if (auto known = dyn_cast<RecurrentOp>(op))
    recurrent(known, values);
  else if (auto known = dyn_cast<RecurrentBackwardOp>(op))
    recurrentBackward(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
