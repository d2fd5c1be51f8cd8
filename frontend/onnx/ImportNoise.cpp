// Noise has the shape of an operand or one that the file fixes, and the batch where that has it.
#include "frontend/onnx/ImportNoise.h"
#include "frontend/onnx/ElementType.h"

#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

enum Distribution : std::uint64_t { uniform, normal, bernoulli }; // the numbers of nn.noise

struct NoiseShape {
  nn::Dims dims;
  BatchLayout::Place place;
};

/// What the noise is drawn by; its mean is what evaluation computes with.
struct Numbers {
  Distribution distribution;
  double first, second, mean;
};

enum class Reader { elementwise, comparison, rounding, alias, other };

Reader kindOf(llvm::StringRef op) {
  return llvm::StringSwitch<Reader>(op)
      .Cases("Add", "Div", "Mul", "Sub", Reader::elementwise)
      .Cases("Greater", "GreaterOrEqual", "Less", "LessOrEqual", Reader::comparison)
      .Cases("Ceil", "Floor", "Round", "Sign", Reader::rounding)
      .Cases("Cast", "CastLike", "Identity", Reader::alias)
      .Default(Reader::other);
}

} // namespace

/// A shape that the file fixes has the file's batch where it has one: that is the step's then.
static NoiseShape fixedShape(NodeImport &node, nn::Dims dims, BatchLayout::Place place) {
  const std::optional<std::int64_t> exported = node.state.exportedBatch;
  if (!place && exported && !dims.empty() && dims[0] == *exported) {
    dims[0] = node.state.batch;
    place = BatchPlace{};
  }
  return {std::move(dims), place};
}

/// The shape of the operand, which need not be computed.
static FailureOr<NoiseShape> shapeOfOperand(NodeImport &node) {
  const BatchLayout &layout = node.state.values.layout;
  if (const ConstantTensor *known = node.isKnown(0) ? node.constant(0) : nullptr)
    return fixedShape(node, known->dims, layout.of(*known));
  if (const RepeatedTensor *known = node.state.values.repeated(node.inputName(0)))
    return fixedShape(node, known->dims, layout.of(*known));
  // A ConstantOfShape of fixed shape would be a parameter, where it were computed with.
  const auto producer =
      node.state.index.producers.find(node.state.values.rootOf(node.inputName(0)));
  if (producer != node.state.index.producers.end() &&
      node.state.file.model->graph().node(producer->second).op_type() == "ConstantOfShape")
    return fixedShape(node, nn::Dims(node.state.values.typeOf(node.inputName(0)).getShape()), {});
  Value x = node.tensor(0);
  if (!x)
    return node.error("operand '" + node.inputName(0) + "' cannot be computed with");
  return NoiseShape{nn::Dims(shapeOf(x)), node.state.values.layout.of(x)};
}

/// The element type: `dtype`, else the operand's, or float without an operand.
static FailureOr<Type> noiseElement(NodeImport &node) {
  MLIRContext *context = node.state.builder.getContext();
  auto type = static_cast<int>(node.integer("dtype", 0));
  if (type == 0 && node.inputCount() == 0)
    type = onnx::TensorProto::FLOAT;
  if (type == 0 && !isWholeOperand(node, 0))
    if (RankedTensorType like = node.state.values.typeOf(node.inputName(0)))
      type = elementNumber(like.getElementType());
  if (!isFloatElement(type))
    return node.error("expected a floating-point element type, got " + elementName(type));
  if (const std::string why = whyNotInStep(type); node.state.isStep && !why.empty())
    return node.error(why);
  return elementType(type, context);
}

static FailureOr<Value> createNoise(NodeImport &node, const NoiseShape &shape,
                                    const Numbers &numbers, Type element) {
  if (node.attribute("seed"))
    node.state.notes.add("its 'seed' is not used: numbers depend on the run's seed",
                         node.layerName());
  node.state.notes.add("draws new numbers in each step; evaluation takes their mean",
                       node.layerName());
  SYNCLINE_TRY_MLIR(type, node.type(shape.dims, element));
  Value y = node.create<nn::NoiseOp>(*type, std::uint64_t(numbers.distribution),
                                     llvm::APFloat(numbers.first), llvm::APFloat(numbers.second),
                                     llvm::APFloat(numbers.mean));
  node.state.values.layout.set(y, shape.place);
  return y;
}

static LogicalResult defineNoise(NodeImport &node, const NoiseShape &shape) {
  SYNCLINE_TRY_MLIR(element, noiseElement(node));
  const bool isNormal = llvm::StringRef(node.op()).starts_with("RandomNormal");
  const double first = node.real(isNormal ? "mean" : "low", 0);
  const double second = node.real(isNormal ? "scale" : "high", 1);
  if (!std::isfinite(first) || !std::isfinite(second) || second < (isNormal ? 0 : first))
    return node.error((isNormal ? "expected a finite mean and a scale that is not negative, got "
                                : "expected finite numbers with low <= high, got ") +
                      decimal(first) + " and " + decimal(second));
  const double mean = isNormal ? first : first + (second - first) / 2;
  FailureOr<Value> y =
      createNoise(node, shape, {isNormal ? normal : uniform, first, second, mean}, *element);
  return failed(y) ? failure() : node.define(*y);
}

static LogicalResult importNoiseLike(NodeImport &node) {
  SYNCLINE_TRY_MLIR(shape, shapeOfOperand(node));
  return defineNoise(node, *shape);
}

LogicalResult frontend::importFixedNoise(NodeImport &node) {
  return defineNoise(node, fixedShape(node, *node.integers("shape"), {}));
}

/// The known probability that all elements have; unset where it is computed or differs.
static std::optional<double> knownProbability(NodeImport &node, unsigned i) {
  if (!node.hasInput(i) || node.state.values.isParameter(node.inputName(i)))
    return std::nullopt;
  const ConstantTensor *known = node.constant(i);
  if (const RepeatedTensor *repeated = node.state.values.repeated(node.inputName(i)))
    known = &repeated->values;
  if (!known || known->reals.empty() || !llvm::all_equal(known->reals))
    return std::nullopt;
  return known->type == onnx::TensorProto::FLOAT
             ? shortestDecimal(static_cast<float>(known->reals[0]))
             : known->reals[0];
}

static LogicalResult checkProbabilities(NodeImport &node) {
  const ConstantTensor *known = node.constant(0);
  if (const RepeatedTensor *repeated = node.state.values.repeated(node.inputName(0)))
    known = &repeated->values;
  for (double p : known ? known->reals : std::vector<double>())
    if (!(p >= 0 && p <= 1))
      return node.error("expected probabilities in [0, 1], got " + decimal(p));
  return success();
}

// Probabilities that are computed or differ are compared with uniform numbers.
static LogicalResult importBernoulli(NodeImport &node) {
  const bool isReal = isFloatElement(static_cast<int>(node.integer("dtype", 1)));
  const auto dtype = static_cast<int>(node.integer("dtype", onnx::TensorProto::FLOAT));
  MLIRContext *context = node.state.builder.getContext();
  if (const std::string why = isReal ? whyNotInStep(dtype) : std::string();
      node.state.isStep && !why.empty())
    return node.error(why);
  if (!elementType(dtype, context))
    return node.error("cannot make elements of " + elementName(dtype));
  if (failed(checkProbabilities(node)))
    return failure();
  const Type element = isReal ? elementType(dtype, context) : Float32Type::get(context);
  SYNCLINE_TRY_MLIR(shape, shapeOfOperand(node));
  FailureOr<Value> y;
  if (std::optional<double> p = knownProbability(node, 0)) {
    y = createNoise(node, *shape, {bernoulli, *p, 0, *p}, element);
  } else {
    Value probabilities = node.tensor(0);
    if (!probabilities || elementOf(probabilities) != element || isWholeOperand(node, 0))
      return node.error("expected floating-point probabilities in '" + node.inputName(0) + "'");
    y = createNoise(node, {nn::Dims(shapeOf(probabilities)), shape->place}, {uniform, 0, 1, 0.5},
                    element);
    if (succeeded(y))
      y = createLess(node, *y, probabilities);
  }
  if (failed(y) || failed(node.define(*y)))
    return failure();
  if (!isReal && node.isUsed(0))
    node.state.values.setWhole(node.proto.output(0), dtype, WholeBounds{0, 1});
  return success();
}

/// The nodes that read the name; of a body's, none.
static const std::vector<int> &readersOf(const NodeImport &node, const std::string &name) {
  llvm::StringMap<std::vector<int>> &readers = node.state.readers;
  if (readers.empty())
    for (const int i : node.state.index.order)
      for (const std::string &read : node.state.file.model->graph().node(i).input())
        readers[read].push_back(i);
  return readers[name];
}

/// Whether `accepts` holds for all nodes that read the name, which are few.
template <typename Accepts>
static bool readersAre(const NodeImport &node, const std::string &name, Accepts accepts) {
  constexpr std::size_t most = 16;
  const std::vector<int> all = readersOf(node, name); // others may be asked for meanwhile
  return !all.empty() && all.size() <= most &&
         llvm::all_of(all, [&](int i) { return accepts(node.state.file.model->graph().node(i)); });
}

/// Whether one node alone reads the name's elements. CastLike reads a type.
static bool isReadOnce(const NodeImport &node, const std::string &name) {
  const auto readsType = [&](int i) {
    const onnx::NodeProto &reader = node.state.file.model->graph().node(i);
    return reader.op_type() == "CastLike" && reader.input(0) != name;
  };
  return node.uses(name) - llvm::count_if(readersOf(node, name), readsType) == 1;
}

/// The operation that draws the value from [0, 1).
static nn::NoiseOp unitNoise(Value value) {
  auto noise = value ? value.getDefiningOp<nn::NoiseOp>() : nn::NoiseOp();
  const bool isUnit = noise && noise.getDistribution() == uniform && noise.getFirst().isZero() &&
                      noise.getSecond().isExactlyValue(1);
  return isUnit ? noise : nn::NoiseOp();
}

static void drawOnes(nn::NoiseOp noise, double probability) {
  OpBuilder builder(noise.getContext());
  noise.setDistribution(bernoulli);
  noise.setFirst(llvm::APFloat(probability));
  noise.setSecond(llvm::APFloat(0.0));
  noise.setEvaluated(llvm::APFloat(probability));
}

Value frontend::createBernoulli(NodeImport &node) {
  if (kindOf(node.op()) != Reader::comparison)
    return {};
  for (const unsigned drawn : {0u, 1u}) {
    const std::optional<double> p = knownProbability(node, 1 - drawn);
    if (!p || !(*p >= 0 && *p <= 1) || !isReadOnce(node, node.inputName(drawn)) ||
        !node.state.values.isComputed(node.inputName(drawn)))
      continue;
    nn::NoiseOp noise = unitNoise(node.tensor(drawn));
    const ConstantTensor *number = node.constant(1 - drawn);
    if (!noise || !number || number->dims.size() > shapeOf(noise.getY()).size() ||
        number->size() != 1)
      continue;
    const bool isBelow = llvm::StringRef(node.op()).starts_with("Less") == (drawn == 0);
    drawOnes(noise, isBelow ? *p : 1 - *p);
    return noise.getY();
  }
  return {};
}

/// Whether the name is only compared or rounded, by way of sums and products.
static bool isRounded(const NodeImport &node, const std::string &name, int depth) {
  const auto rounds = [&](const onnx::NodeProto &reader) {
    switch (kindOf(reader.op_type())) {
    case Reader::comparison:
    case Reader::rounding:
      return true;
    case Reader::elementwise:
    case Reader::alias:
      return reader.output_size() > 0 && isRounded(node, reader.output(0), depth + 1);
    case Reader::other:
      return false;
    }
    llvm_unreachable("all kinds are listed");
  };
  return depth < 4 && readersAre(node, name, rounds);
}

/// Whether the name's elements are computed from the graph's inputs.
static bool dependsOnSamples(const NodeImport &node, const std::string &name) {
  const GraphIndex &index = node.state.index;
  llvm::SmallVector<std::string> pending{name};
  llvm::StringSet<> seen;
  while (!pending.empty()) {
    const std::string at = pending.pop_back_val();
    if (!seen.insert(at).second)
      continue;
    if (llvm::any_of(index.inputs, [&](const auto *input) { return input->name() == at; }))
      return true;
    const auto producer = index.producers.find(at);
    if (producer == index.producers.end())
      continue;
    const onnx::NodeProto &maker = node.state.file.model->graph().node(producer->second);
    if (maker.op_type() != "Shape" && maker.op_type() != "Size")
      pending.append(maker.input().begin(), maker.input().end());
  }
  return false;
}

bool frontend::isNoise(const NodeImport &node) {
  if (node.state.index.listed || node.outputCount() == 0 || !node.attribute("shape"))
    return false;
  const std::string &name = node.proto.output(0);
  if (node.op() == "RandomUniform" && isRounded(node, name, 0))
    return true;
  const auto &dims = node.attribute("shape")->ints();
  const std::optional<std::int64_t> exported = node.state.exportedBatch;
  return exported && *exported > 1 && dims.size() > 1 && dims[0] == *exported &&
         readersAre(node, name, [&](const onnx::NodeProto &reader) {
           return kindOf(reader.op_type()) == Reader::elementwise &&
                  llvm::any_of(reader.input(), [&](const std::string &other) {
                    const RankedTensorType type = node.state.values.typeOf(other);
                    return type && type.getRank() == dims.size() && dependsOnSamples(node, other);
                  });
         });
}

/// The ones that floor(probability + uniform number) is; null for others.
static Value createFloored(NodeImport &node) {
  GraphValues &values = node.state.values;
  const auto producer = node.state.index.producers.find(node.inputName(0));
  if (producer == node.state.index.producers.end() || node.uses(node.inputName(0)) != 1)
    return {};
  const onnx::NodeProto &sum = node.state.file.model->graph().node(producer->second);
  if (sum.op_type() != "Add" || sum.input_size() != 2)
    return {};
  for (const int drawn : {0, 1}) {
    const std::string &number = sum.input(1 - drawn), &uniform = sum.input(drawn);
    const ConstantTensor *known = values.isParameter(number) ? nullptr : values.constant(number);
    if (!known || known->reals.size() != 1 || !values.isComputed(uniform) ||
        !isReadOnce(node, uniform))
      continue;
    nn::NoiseOp noise = unitNoise(values.tensor(uniform));
    const double p = shortestDecimal(static_cast<float>(known->reals[0]));
    if (!noise || !(p >= 0 && p <= 1) || known->dims.size() > shapeOf(noise.getY()).size())
      continue;
    drawOnes(noise, p);
    return noise.getY();
  }
  return {};
}

static LogicalResult importFloor(NodeImport &node) {
  if (Value drawn = createFloored(node))
    return node.define(drawn);
  return importUnary(node);
}

void frontend::replaceNoise(Block &block) {
  for (auto noise : llvm::make_early_inc_range(block.getOps<nn::NoiseOp>())) {
    const auto type = cast<RankedTensorType>(noise.getY().getType());
    OpBuilder builder(noise);
    const auto value = DenseElementsAttr::get(
        type, FloatAttr::get(type.getElementType(), noise.getEvaluated().convertToDouble()));
    noise.getY().replaceAllUsesWith(
        builder.create<nn::ConstantOp>(noise.getLoc(), type, value).getResult());
    noise.erase();
  }
}

OpRows frontend::noiseOps() {
  static constexpr OpRow rows[] = {
      {"Bernoulli", {importBernoulli, 1, 0}},
      {"Floor", {importFloor, 1, 1}},
      {"RandomNormalLike", {importNoiseLike, 1, 0}},
      {"RandomUniformLike", {importNoiseLike, 1, 0}},
  };
  return rows;
}
