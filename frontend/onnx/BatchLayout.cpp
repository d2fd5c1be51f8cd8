// One rule an operation: how its result has the batch, and where it would mix samples.
#include "frontend/onnx/BatchLayout.h"

#include "frontend/onnx/ValueTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

BatchSpan frontend::spanOf(nn::DimsRef dims, const BatchPlace &place) {
  return {nn::elementCount(dims.take_front(place.dim)) * place.outer,
          nn::elementCount(dims.drop_front(place.dim + 1)) * place.inner};
}

std::optional<BatchPlace> frontend::placeAt(nn::DimsRef dims, std::int64_t dim, BatchSpan span,
                                            std::int64_t batch) {
  const std::int64_t left = nn::elementCount(dims.take_front(dim));
  const std::int64_t right = nn::elementCount(dims.drop_front(dim + 1));
  if (left < 1 || right < 1 || span.before % left != 0 || span.after % right != 0)
    return std::nullopt;
  const BatchPlace place{dim, span.before / left, span.after / right};
  return place.factor() * batch == dims[dim] ? std::optional(place) : std::nullopt;
}

std::optional<BatchPlace> frontend::placeIn(nn::DimsRef dims, BatchSpan span, std::int64_t batch) {
  std::optional<BatchPlace> best;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto place = placeAt(dims, static_cast<std::int64_t>(i), span, batch);
    if (place && (!best || place->factor() < best->factor()))
      best = place;
  }
  return best;
}

std::string BatchLayout::exportHint(bool isOpen) const {
  if (isAsExported() || (!exported && !isOpen))
    return "";
  return "; the model may be bound to the batch it was exported with: export it with a dynamic "
         "batch dimension";
}

nn::Dims BatchLayout::dimsAtOtherBatch(Value value) {
  nn::Dims dims(shapeOf(value));
  if (const Place place = of(value))
    dims[place->dim] = place->factor() * otherBatch();
  return dims;
}

/// Whether all samples have the same elements.
static bool areAlike(const ConstantTensor &constant, BatchSpan span, std::int64_t batch) {
  for (std::int64_t i = 0; i < constant.size(); ++i) {
    const std::int64_t first = i / (batch * span.after) * batch * span.after + i % span.after;
    const bool isSame = constant.isReal() ? constant.reals[i] == constant.reals[first]
                                          : constant.ints[i] == constant.ints[first];
    if (!isSame)
      return false;
  }
  return true;
}

/// The one dimension that grows with the batch.
BatchLayout::Place BatchLayout::followed(nn::DimsRef dims, nn::DimsRef atOtherBatch) const {
  Place place;
  if (dims.size() != atOtherBatch.size())
    return place;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t size = dims[i];
    if (size == atOtherBatch[i])
      continue;
    if (place || size % batch != 0 || size / batch * otherBatch() != atOtherBatch[i])
      return {};
    place = BatchPlace{static_cast<std::int64_t>(i), 1, size / batch};
  }
  return place;
}

BatchLayout::Place BatchLayout::of(const ConstantTensor &constant) const {
  const ConstantTensor *other = constant.atOtherBatch.get();
  const Place place = other ? followed(constant.dims, other->dims) : Place();
  const bool isSame = place && areAlike(constant, spanOf(constant.dims, *place), batch);
  return isSame ? place : Place();
}

BatchLayout::Place BatchLayout::of(const RepeatedTensor &repeated) const {
  const Place place = followed(repeated.dims, repeated.dimsAtOtherBatch);
  const nn::Dims &once = repeated.values.dims;
  const std::int64_t d = place ? place->dim - std::int64_t(repeated.dims.size() - once.size()) : -1;
  return d < 0 || once[d] == 1 ? place : Place();
}

/// Whether the elements of a sample are those of the first one, and a multiple of its number.
static bool areNumbers(const ConstantTensor &constant, BatchSpan span, std::int64_t batch) {
  std::int64_t step = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(constant.ints.size()); ++i) {
    const std::int64_t sample = i / span.after % batch;
    const std::int64_t more = constant.ints[i] - constant.ints[i - sample * span.after];
    if (sample == 1 && step == 0)
      step = more;
    if (more != sample * step || step < 0)
      return false;
  }
  return step > 0;
}

BatchLayout::Place BatchLayout::ofSampleNumbers(const ConstantTensor &constant) const {
  const ConstantTensor *other = constant.atOtherBatch.get();
  const Place place = other ? followed(constant.dims, other->dims) : Place();
  return place && areNumbers(constant, spanOf(constant.dims, *place), batch) ? place : Place();
}

bool BatchLayout::namesSamples(Value value) const {
  llvm::SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (sampleNumbers.contains(next))
      return true;
    if (Operation *op = next.getDefiningOp(); op && seen.insert(next).second)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

BatchLayout::Place BatchLayout::of(Value value) {
  if (auto known = places.find(value); known != places.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  Place place = op && op->getResult(0) == value ? find(op) : Place();
  auto recurrent = dyn_cast_or_null<nn::RecurrentOp>(op);
  if (recurrent && recurrent.getLast() == value)
    place = ofRecurrent(recurrent, value);
  if (place && (place->dim < 0 || place->dim >= rankOf(value) ||
                shapeOf(value)[place->dim] != place->factor() * batch))
    place = mixed("its result of shape " + nn::toString(shapeOf(value)) + " would lose the batch");
  return places[value] = checked(value, place);
}

BatchLayout::Place BatchLayout::mixed(const std::string &what) {
  refuse(what);
  return {};
}

/// Whether an operand without a place has the same for every sample, and not an entry for each.
bool BatchLayout::isShared(const Operand &operand, const BatchPlace &place) {
  const std::int64_t d = place.dim - operand.shift;
  const bool spans =
      d >= 0 && d < rankOf(operand.value) && shapeOf(operand.value)[d] != 1 && batch != 1;
  // Where the batch is the file's, such an operand is what the file says.
  if (!spans || exported == batch)
    return true;
  refuse("an operand of shape " + nn::toString(shapeOf(operand.value)) + " has " +
         std::to_string(shapeOf(operand.value)[d]) +
         " entries where the other has the batch, but " + "is not computed from the samples");
  return false;
}

/// The place that operands have in a result over which they broadcast.
BatchLayout::Place BatchLayout::joined(llvm::ArrayRef<Operand> operands) {
  Place joint;
  for (const auto &[value, shift] : operands) {
    Place own = of(value);
    if (!own)
      continue;
    own->dim += shift;
    if (joint && *joint != *own)
      return mixed("it would mix samples: one operand has the batch in dimension " +
                   std::to_string(joint->dim) + " of the result, another in dimension " +
                   std::to_string(own->dim) + (joint->dim == own->dim ? ", in another order" : ""));
    joint = own;
  }
  for (const Operand &operand : operands)
    if (joint && !of(operand.value) && !isShared(operand, *joint))
      return {};
  return joint;
}

/// x's place, where it is in none of the axes.
BatchLayout::Place BatchLayout::along(Value x, nn::DimsRef axes, const std::string &what) {
  const Place place = of(x);
  if (place && llvm::is_contained(axes, place->dim))
    return mixed(what + " dimension " + std::to_string(place->dim) +
                 ", which has the batch, and so mix samples");
  return place;
}

BatchLayout::Place BatchLayout::ofMatmul(nn::MatmulOp op) {
  const std::int64_t rank = rankOf(op.getY());
  const auto placed = [&](Value x, std::int64_t summed, std::int64_t kept, std::int64_t to) {
    Place place = along(x, {summed}, "it would sum over");
    if (place)
      place->dim = place->dim == kept ? to : place->dim + rank - rankOf(x);
    return place;
  };
  const std::int64_t a = rankOf(op.getA()), b = rankOf(op.getB());
  const Place left = op.getTransposeA() ? placed(op.getA(), a - 2, a - 1, rank - 2)
                                        : placed(op.getA(), a - 1, a - 2, rank - 2);
  const Place right = op.getTransposeB() ? placed(op.getB(), b - 1, b - 2, rank - 1)
                                         : placed(op.getB(), b - 2, b - 1, rank - 1);
  if (left && right && *left != *right)
    return mixed("it would mix samples: its operands have the batch in different dimensions");
  const Place place = left ? left : right;
  if (!place)
    return {};
  Value other = left ? op.getB() : op.getA();
  const bool isStack = place->dim < rank - 2;
  if (isStack && !(left && right) && !isShared({other, rank - rankOf(other)}, *place))
    return {};
  if (Value bias = op.getBias()) {
    const Operand added{bias, rank - rankOf(bias)};
    Place own = of(bias);
    if (own)
      own->dim += added.shift;
    if (own ? *own != *place : !isShared(added, *place))
      return mixed("its bias has the batch elsewhere than its product");
  }
  return place;
}

BatchLayout::Place BatchLayout::ofReduce(nn::ReduceOp op) {
  if (const Place own = of(op.getX()); own && beginsTotal(op, *own))
    return {};
  Place place = along(op.getX(), op.getAxes(), "it would reduce over");
  if (place && rankOf(op.getY()) < rankOf(op.getX()))
    place->dim -= llvm::count_if(op.getAxes(), [&](auto axis) { return axis < place->dim; });
  return place;
}

BatchLayout::Place BatchLayout::ofReshape(nn::ReshapeOp op) {
  const Place place = of(op.getX());
  if (!place)
    return {};
  const nn::DimsRef x = shapeOf(op.getX()), y = shapeOf(op.getY());
  const Place to = placeIn(y, spanOf(x, *place), batch);
  return to ? to
            : mixed("the batch, in dimension " + std::to_string(place->dim) + " of " +
                    nn::toString(x) + ", would not be in one dimension of " + nn::toString(y));
}

/// Steps within what is merged with the batch behind it take the same part of each sample.
BatchLayout::Place BatchLayout::ofSlice(nn::SliceOp op) {
  Place place = of(op.getX());
  if (!place)
    return {};
  const std::int64_t d = place->dim, start = op.getStarts()[d], step = op.getSteps()[d];
  const std::int64_t size = shapeOf(op.getX())[d], count = shapeOf(op.getY())[d];
  if (step < 1 || start < 0 || start >= step || place->inner % step != 0 || count * step != size)
    return mixed("it would take a part of dimension " + std::to_string(d) +
                 ", which has the batch");
  place->inner /= step;
  return place;
}

BatchLayout::Place BatchLayout::ofConcat(nn::ConcatOp op) {
  llvm::SmallVector<Operand> operands;
  for (Value x : op.getXs()) {
    along(x, {static_cast<std::int64_t>(op.getAxis())}, "it would join tensors along");
    operands.push_back({x, 0});
  }
  return joined(operands);
}

BatchLayout::Place BatchLayout::ofPad(nn::PadOp op) {
  const Place place = of(op.getX());
  if (place && (op.getBegins()[place->dim] != 0 ||
                shapeOf(op.getX())[place->dim] != shapeOf(op.getY())[place->dim]))
    return mixed("it would pad dimension " + std::to_string(place->dim) + ", which has the batch");
  return place;
}

BatchLayout::Place BatchLayout::ofTranspose(nn::TransposeOp op) {
  Place place = of(op.getX());
  if (place)
    place->dim = llvm::find(op.getPermutation(), place->dim) - op.getPermutation().begin();
  return place;
}

BatchLayout::Place BatchLayout::ofAxes(nn::AxesOpInterface op) {
  for (Value weight : op->getOperands().drop_front())
    if (of(weight))
      return mixed("its weights have the batch");
  return along(op->getOperand(0), op.getComputedAxes(), "it would compute over");
}

BatchLayout::Place BatchLayout::find(Operation *op) {
  return llvm::TypeSwitch<Operation *, Place>(op)
      .Case<nn::UnaryOp, nn::DropoutOp>([&](auto op) { return of(op.getX()); })
      .Case<nn::BinaryOp>([&](nn::BinaryOp op) {
        const std::int64_t rank = rankOf(op.getY());
        return joined(
            {{op.getA(), rank - rankOf(op.getA())}, {op.getB(), rank - rankOf(op.getB())}});
      })
      .Case<nn::BroadcastOp>([&](nn::BroadcastOp op) {
        return joined({{op.getX(), rankOf(op.getY()) - rankOf(op.getX())}});
      })
      .Case<nn::MatmulOp>([&](nn::MatmulOp op) { return ofMatmul(op); })
      .Case<nn::EmbeddingOp>([&](nn::EmbeddingOp op) { return ofEmbedding(op); })
      .Case<nn::GatherRowsOp>([&](nn::GatherRowsOp op) { return ofGatherRows(op); })
      .Case<nn::ScatterRowsOp>([&](nn::ScatterRowsOp op) { return ofScatterRows(op); })
      .Case<nn::TopKOp>([&](nn::TopKOp op) {
        return along(op.getX(), {rankOf(op.getX()) - 1}, "it would choose among");
      })
      .Case<nn::ReduceOp>([&](nn::ReduceOp op) { return ofReduce(op); })
      .Case<nn::ReshapeOp>([&](nn::ReshapeOp op) { return ofReshape(op); })
      .Case<nn::SliceOp>([&](nn::SliceOp op) { return ofSlice(op); })
      .Case<nn::ConcatOp>([&](nn::ConcatOp op) { return ofConcat(op); })
      .Case<nn::PadOp>([&](nn::PadOp op) { return ofPad(op); })
      .Case<nn::TransposeOp>([&](nn::TransposeOp op) { return ofTranspose(op); })
      .Case<nn::RecurrentOp>([&](nn::RecurrentOp op) { return ofRecurrent(op, op.getY()); })
      .Case<nn::CrossEntropyOp>([&](nn::CrossEntropyOp op) { return ofCrossEntropy(op); })
      .Case<nn::AxesOpInterface>([&](nn::AxesOpInterface op) { return ofAxes(op); })
      .Default([&](Operation *op) { // stored, or known by its shape alone
        const bool hasBatch = llvm::any_of(op->getOperands(), [&](Value x) { return of(x); });
        return hasBatch ? mixed("it is not known where its result has the batch") : Place();
      });
}
