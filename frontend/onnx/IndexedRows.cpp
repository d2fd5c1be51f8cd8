// What indices name, and operations by it.
#include "frontend/onnx/IndexedRows.h"

#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;

Value frontend::indexConstant(NodeImport &node, nn::DimsRef values, nn::DimsRef dims,
                              BatchLayout::Place place) {
  auto type = RankedTensorType::get(dims, node.state.builder.getI64Type());
  Value made = node.create<nn::ConstantOp>(
      type, DenseElementsAttr::get(type, llvm::ArrayRef<std::int64_t>(values)));
  node.state.values.layout.set(made, place);
  return made;
}

Value frontend::indicesOf(NodeImport &node, unsigned i) {
  if (const ConstantTensor *known = node.isKnown(i) ? node.constant(i) : nullptr) {
    if (!known->isReal() && isSaneShape(known->dims, 1)) {
      const nn::Dims values(known->ints.begin(), known->ints.end());
      return indexConstant(node, values, known->dims, node.state.values.layout.of(*known));
    }
  } else if (Value value = node.tensor(i)) {
    const bool isTruth = elementOf(value).isInteger(1);
    if (isTruth)
      value = node.state.values.real(node.inputName(i));
    if (elementOf(value).isInteger(64) ||
        (isWholeOperand(node, i) && (isTruth || elementOf(value).isF32())))
      return value;
  }
  (void)node.error("expected int64 indices, got '" + node.inputName(i) + "'");
  return {};
}

nn::Dims IndexedRows::entries() const {
  nn::Dims dims(nn::DimsRef(table).take_front(axis));
  llvm::append_range(dims, shapeOf(indices).drop_front(shared));
  llvm::append_range(dims, nn::DimsRef(table).drop_front(axis + 1));
  return dims;
}

/// The table with a dimension for the batch before that of each sample's rows.
static nn::Dims bySample(nn::DimsRef table, const BatchPlace &place) {
  nn::Dims dims{table[0] / place.inner, place.inner};
  llvm::append_range(dims, table.drop_front());
  return dims;
}

static bool hasOwnRows(const BatchLayout::Place &place) {
  return place && place->dim == 0 && place->outer == 1;
}

IndexedRows frontend::knownRows(NodeImport &node, nn::DimsRef table, BatchLayout::Place place,
                                nn::DimsRef rows, nn::DimsRef idDims) {
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t samples = hasOwnRows(place) ? table[0] / place->inner : 0;
  const std::int64_t each = samples > 0 && count % samples == 0 ? count / samples : 0;
  nn::Dims own;
  bool areAlike = true;
  for (std::int64_t i = 0; i < each * samples; ++i) {
    if (rows[i] / place->inner != i / each)
      break;
    own.push_back(rows[i] % place->inner);
    areAlike &= own.back() == own[i % each];
  }
  if (each == 0 || static_cast<std::int64_t>(own.size()) < count)
    return {nn::Dims(table), indexConstant(node, rows, idDims, {}), 0, 0};
  if (areAlike)
    return {bySample(table, *place),
            indexConstant(node, nn::DimsRef(own).take_front(each), {each}, {}), 1, 0};
  return {bySample(table, *place), indexConstant(node, own, {samples, each}, BatchPlace()), 1, 1};
}

/// One where x, which has whole numbers, is positive, zero elsewhere.
static Value isPositive(NodeImport &node, Value x) {
  return node.create<nn::UnaryOp>(x.getType(), nn::UnaryKind::clip, x, llvm::APFloat(0.0),
                                  llvm::APFloat(1.0));
}

Value frontend::fromFront(NodeImport &node, Value numbers, std::int64_t size) {
  const auto number = [&](std::int64_t value) {
    return node.scalar(static_cast<double>(value), numbers);
  };
  Value isNegative = isPositive(node, *createBinary(node, Kind::sub, number(0), numbers));
  return *createBinary(node, Kind::add, numbers,
                       *createBinary(node, Kind::mul, isNegative, number(size)));
}

IndexedRows frontend::computedRows(NodeImport &node, nn::DimsRef table, BatchLayout::Place place,
                                   Value numbers) {
  BatchLayout &layout = node.state.values.layout;
  const BatchLayout::Place own = layout.of(numbers);
  if (!hasOwnRows(place) || !hasOwnRows(own) || !elementOf(numbers).isF32() ||
      !layout.namesSamples(numbers))
    return {nn::Dims(table), numbers, 0, 0};
  const std::int64_t samples = layout.batch;
  llvm::SmallVector<float> firsts;
  for (std::int64_t s = 0; s < samples; ++s)
    firsts.push_back(static_cast<float>(s * place->inner));
  auto type = RankedTensorType::get({samples, 1}, elementOf(numbers));
  Value first = node.create<nn::ConstantOp>(
      type, DenseElementsAttr::get(type, llvm::ArrayRef<float>(firsts)));
  layout.set(first, BatchPlace());
  numbers = node.reshape(numbers, {samples, nn::elementCount(shapeOf(numbers)) / samples});
  numbers = *createBinary(node, Kind::sub, numbers, first);
  // A row of a sample before this one: its negative number must not count from this one's end.
  return {bySample(table, *place), fromFront(node, numbers, -place->inner - 1), 1, 1};
}

FailureOr<Value> frontend::placeNumbers(NodeImport &node, Value lists, nn::DimsRef sizes) {
  constexpr std::int64_t mostNumbers = 1 << 24; // that f32 tells apart
  const std::int64_t count = nn::elementCount(sizes);
  if (count > mostNumbers)
    return node.error("computed indices are supported into at most 2^24 places, got " +
                      llvm::Twine(count));
  const auto binary = [&](Kind kind, Value a, Value b) { return *createBinary(node, kind, a, b); };
  const auto number = [&](std::int64_t value) {
    return node.scalar(static_cast<double>(value), lists);
  };
  Value numbers, missing;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    SliceRanges ranges = wholeRange(shapeOf(lists));
    ranges.starts.back() = static_cast<std::int64_t>(d);
    ranges.counts.back() = 1;
    SYNCLINE_TRY_MLIR(column, createSlice(node, lists, ranges));
    Value index = node.reshape(*column, shapeOf(lists).drop_back());
    index = fromFront(node, index, size);
    Value below = isPositive(node, binary(Kind::sub, number(0), index));
    Value above = isPositive(node, binary(Kind::sub, index, number(size - 1)));
    Value outside = binary(Kind::add, below, above);
    missing = missing ? binary(Kind::add, missing, outside) : outside;
    numbers = numbers ? binary(Kind::add, binary(Kind::mul, numbers, number(size)), index) : index;
  }
  Value exists = binary(Kind::sub, number(1), isPositive(node, missing));
  Value shift = binary(Kind::mul, binary(Kind::sub, exists, number(1)), number(count + 1));
  return binary(Kind::add, binary(Kind::mask, numbers, exists), shift);
}

FailureOr<Value> frontend::createGatherRows(NodeImport &node, Value x, const IndexedRows &rows) {
  SYNCLINE_TRY_MLIR(type, node.type(rows.entries(), x));
  return node
      .create<nn::GatherRowsOp>(*type, node.reshape(x, rows.table), rows.indices, rows.axis,
                                rows.shared)
      .getResult();
}

FailureOr<Value> frontend::createScatterRows(NodeImport &node, Value updates, Value onto,
                                             const IndexedRows &rows, ScatterKind kind) {
  SYNCLINE_TRY_MLIR(type, node.type(rows.table, onto));
  return node
      .create<nn::ScatterRowsOp>(*type, node.reshape(updates, rows.entries()), rows.indices,
                                 node.reshape(onto, rows.table), rows.axis, rows.shared,
                                 static_cast<std::uint64_t>(kind))
      .getResult();
}

Value frontend::createTranspose(NodeImport &node, Value x, nn::DimsRef order) {
  if (llvm::is_sorted(order))
    return x;
  nn::Dims dims;
  for (const std::int64_t d : order)
    dims.push_back(shapeOf(x)[d]);
  return node.create<nn::TransposeOp>(RankedTensorType::get(dims, elementOf(x)), x, order);
}
