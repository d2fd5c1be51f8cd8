// Resolves the graph's names.
#include "frontend/onnx/GraphValues.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/InferenceExport.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using mlir::Value;

void GraphValues::fail(const std::string &message) {
  if (status)
    status = Status::badInput(message);
}

/// Whether tensors of the plan may have elements of `type`; otherwise fails, about `what`.
bool GraphValues::fitsStep(const std::string &what, int type) {
  const std::string why = isStep ? whyNotInStep(type) : std::string();
  if (!why.empty())
    fail(what + ": " + why);
  return why.empty();
}

void GraphValues::setTensor(const std::string &name, Value value, bool isBatched) {
  Entry &entry = entries[name];
  entry.tensor = value;
  entry.isBatched = isBatched;
}

void GraphValues::setConstant(const std::string &name, ConstantTensor constant) {
  entries[name].constant = std::make_shared<ConstantTensor>(std::move(constant));
}

void GraphValues::setRepeated(const std::string &name, RepeatedTensor constant) {
  entries[name].repeated = std::make_shared<RepeatedTensor>(std::move(constant));
}

void GraphValues::setStored(const std::string &name, StoredSource source) {
  if (source.init && index.listed) // a generator
    source.isTrainable = index.listed->contains(name);
  entries[name].stored = std::make_shared<StoredSource>(std::move(source));
}

void GraphValues::setAlias(const std::string &name, const std::string &of, bool isIdentity) {
  Entry &entry = entries[name];
  const auto behind = entries.find(of);
  const bool isAlias = behind != entries.end() && !behind->second.alias.empty();
  entry.alias = of;
  entry.root = rootOf(of);
  entry.holder = isIdentity ? name : isAlias ? behind->second.holder : of;
}

/// The entry of a name. An initialiser gets its entry on first use: integers are constants, floats
/// are stored tensors.
GraphValues::Entry *GraphValues::find(const std::string &name) {
  if (auto place = entries.find(name); place != entries.end())
    return &place->second;
  auto initializer = index.initializers.find(name);
  if (initializer == index.initializers.end())
    return nullptr;
  Result<TensorData> data = checkTensor(*initializer->second, file.folders);
  if (!data && shapesSuffice && isFloatElement(initializer->second->data_type())) {
    data = checkShape(*initializer->second);
    notes.add("planned by shape, since the values cannot be read", name);
  }
  if (!data) {
    fail(data.status().message());
    return nullptr;
  }
  if (isFloatElement(data->type)) {
    const auto buffer = index.buffers.find(name);
    const bool isBuffer = buffer != index.buffers.end();
    if (isBuffer) // a pattern that matches it has matched something
      stored.isFrozen(name);
    setStored(name, {*data, {}, /*isTrainable=*/!isBuffer});
    entries[name].isConstant = isBuffer && buffer->second;
    return &entries[name];
  }
  Result<ConstantTensor> constant = readConstant(*data);
  if (!constant) {
    fail(constant.status().message());
    return nullptr;
  }
  setConstant(name, std::move(*constant));
  return &entries[name];
}

/// Looks behind aliases; `name` becomes the last one.
GraphValues::Entry *GraphValues::resolve(std::string &name) {
  Entry *entry = find(name);
  if (!entry || entry->alias.empty())
    return entry;
  name = entry->root;
  return find(name);
}

/// All elements equal: the values carry no information beyond the shape.
static bool isUniform(const StoredSource &source) {
  if (source.init)
    return source.init.getKind() == nn::InitKind::constant;
  if (nn::elementCount(source.data.dims) > maxConstantElements)
    return false;
  Result<ConstantTensor> values = readConstant(source.data);
  return values && llvm::all_equal(values->reals);
}

Value GraphValues::storedTensor(const std::string &name, const std::string &root, Entry &entry) {
  const StoredSource &source = *entry.stored;
  if (!isSaneShape(source.data.dims, 1)) {
    fail("parameter '" + root + "' has no elements");
    return {};
  }
  if (!fitsStep((source.isTrainable ? "parameter '" : "tensor '") + root + "'", source.data.type))
    return {};
  // Exporters merge tensors of equal values behind an Identity. Freshly made scales and biases are
  // equal without being tied, so such a name is a tensor of its own.
  if (name != root && index.listed) {
    StoredSource own = source;
    own.isTrainable = index.listed->contains(name);
    return stored.get(own.isTrainable ? name : root, own.isTrainable ? own : source);
  }
  if (name == root || !source.isTrainable)
    return stored.get(root, source);
  if (!entry.isUniform)
    entry.isUniform = isUniform(source);
  if (!*entry.isUniform) {
    if (index.uses.lookup(root) > 1)
      notes.add("trained as one parameter with another of equal values; where the model has two, "
                "list them with '--parameters FILE'",
                name, source.data.bytes);
    return stored.get(root, source);
  }
  if (!isComputedName(name)) // the user does not know it; InferenceExport speaks of all such names
    notes.add("trained apart, though the file has one tensor for all that start with "
              "equal values",
              name);
  return stored.get(name, source);
}

/// The constant with each element changed, at the other batch too.
static ConstantTensor changed(const ConstantTensor &x, llvm::function_ref<double(double)> change) {
  ConstantTensor result = x;
  llvm::transform(x.reals, result.reals.begin(), change);
  if (x.atOtherBatch)
    result.setAtOtherBatch(changed(*x.atOtherBatch, change));
  return result;
}

/// A plan has no infinities in the values of a tensor: they are chosen by tensors of truth values.
Value GraphValues::infiniteTensor(const std::string &name, const ConstantTensor &constant) {
  const auto finite = [](double value) { return std::isinf(value) ? 0 : value; };
  Value sum = constantTensor(name, changed(constant, finite));
  const auto combine = [&](nn::BinaryKind kind, Value a, Value b) {
    auto op = builder.create<nn::BinaryOp>(sum.getLoc(), sum.getType(), kind, a, b);
    op->setAttr(nn::layerAttr, builder.getStringAttr(name));
    return op.getY();
  };
  for (const double infinity : {-HUGE_VAL, HUGE_VAL}) {
    if (!llvm::is_contained(constant.reals, infinity))
      continue;
    const ConstantTensor chosen = changed(constant, [&](double x) { return x == infinity; });
    const ConstantTensor number{.type = constant.type, .reals = {infinity}};
    Value all =
        combine(nn::BinaryKind::mask, constantTensor(name, number), constantTensor(name, chosen));
    sum = combine(nn::BinaryKind::add, sum, all);
  }
  return sum;
}

Value GraphValues::constantTensor(const std::string &name, const ConstantTensor &constant) {
  if (!isSaneShape(constant.dims, 1)) {
    fail("constant '" + name + "' has no elements");
    return {};
  }
  if (!fitsStep("constant '" + name + "'", constant.type))
    return {};
  if (llvm::any_of(constant.reals, [](double x) { return std::isnan(x); })) {
    fail("constant '" + name + "' has elements that are not numbers (NaN)");
    return {};
  }
  if (!constant.dims.empty() &&
      llvm::any_of(constant.reals, [](double x) { return std::isinf(x); }))
    return infiniteTensor(name, constant);
  mlir::DenseElementsAttr value = toAttribute(constant, builder.getContext());
  Value made = builder.create<nn::ConstantOp>(mlir::NameLoc::get(builder.getStringAttr(name)),
                                              value.getType(), value);
  layout.set(made, layout.of(constant));
  const bool isDivisor = layout.allowsTotals && constant.size() == 1; // the number of samples
  if (constant.atOtherBatch && !layout.of(made) && !isDivisor)
    layout.refuse("constant '" + name + "' is not the same for every sample and batch");
  return made;
}

Value GraphValues::repeat(const std::string &name, Value values, const RepeatedTensor &repeated) {
  if (!values)
    return {};
  auto type = mlir::cast<mlir::RankedTensorType>(values.getType());
  auto all = builder.create<nn::BroadcastOp>(
      values.getLoc(), mlir::RankedTensorType::get(repeated.dims, type.getElementType()), values);
  all->setAttr(nn::layerAttr, builder.getStringAttr(name));
  const BatchLayout::Place place = layout.of(repeated);
  layout.set(all, place);
  if (repeated.dims != repeated.dimsAtOtherBatch && !place)
    layout.refuse("constant '" + name + "' is not the same for every sample and batch");
  return all;
}

Value GraphValues::tensor(const std::string &used) {
  Entry *entry = find(used);
  if (entry && entry->tensor)
    return entry->tensor;
  // An operator that changes nothing here, such as an Expand to the same shape, makes no tensor.
  const std::string name = entry && !entry->alias.empty() ? entry->holder : used;
  entry = find(name);
  if (entry && entry->tensor)
    return entry->tensor;
  std::string root = name;
  entry = resolve(root);
  if (!entry)
    return {};
  Value value = entry->tensor;
  if (entry->stored)
    value = storedTensor(name, root, *entry);
  else if (entry->constant && !value)
    value = entry->tensor = constantTensor(root, *entry->constant);
  else if (entry->repeated && !value)
    value = entry->tensor =
        repeat(root, constantTensor(root, entry->repeated->values), *entry->repeated);
  return entries[name].tensor = value;
}

Value GraphValues::state(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry || !entry->stored || !isSaneShape(entry->stored->data.dims, 1)) {
    fail("expected an initialiser as running statistic, got '" + root + "'");
    return {};
  }
  if (!fitsStep("running statistic '" + root + "'", entry->stored->data.type))
    return {};
  // Every normalisation moves its own statistics: a name behind an Identity is a tensor of its own.
  Value value = stored.getState(name, *entry->stored);
  if (!value)
    fail("'" + root + "' is both a parameter and a running statistic");
  return value;
}

const ConstantTensor *GraphValues::constant(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry || entry->constant || !entry->stored || entry->stored->init)
    return entry ? entry->constant.get() : nullptr;
  Result<ConstantTensor> values = readConstant(entry->stored->data);
  if (!values) {
    fail(values.status().message());
    return nullptr;
  }
  entry->constant = std::make_shared<ConstantTensor>(std::move(*values));
  return entry->constant.get();
}

mlir::RankedTensorType GraphValues::typeOf(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry)
    return {};
  if (entry->tensor)
    return mlir::cast<mlir::RankedTensorType>(entry->tensor.getType());
  if (entry->repeated)
    return mlir::RankedTensorType::get(
        entry->repeated->dims, elementType(entry->repeated->values.type, builder.getContext()));
  const nn::Dims &dims = entry->constant ? entry->constant->dims : entry->stored->data.dims;
  const int type = entry->constant ? entry->constant->type : entry->stored->data.type;
  return mlir::RankedTensorType::get(dims, elementType(type, builder.getContext()));
}

const RepeatedTensor *GraphValues::repeated(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  return entry ? entry->repeated.get() : nullptr;
}

bool GraphValues::isKnown(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (entry && entry->isConstant)
    return constant(root) != nullptr;
  return entry && entry->constant && !entry->stored;
}

bool GraphValues::isStored(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  return entry && entry->stored;
}

bool GraphValues::isParameter(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry || !entry->stored || !entry->stored->isTrainable)
    return false;
  if (stored.isFrozen(root) || stored.isFrozen(name))
    return false;
  const bool isNamed =
      index.parameters.contains(root) || (index.listed && index.listed->contains(root));
  if (!entry->stored->data.dims.empty() || entry->stored->init || isNamed)
    return true;
  if (numbers.insert(root).second)
    notes.add("taken as a number, not as a parameter", root);
  return false;
}

std::string GraphValues::aliasOf(const std::string &name) const {
  const auto place = entries.find(name);
  return place == entries.end() ? std::string() : place->second.alias;
}

const std::string &GraphValues::rootOf(const std::string &name) const {
  const auto place = entries.find(name);
  return place == entries.end() || place->second.alias.empty() ? name : place->second.root;
}

bool GraphValues::isComputed(const std::string &name) const {
  auto place = entries.find(name);
  return place != entries.end() && place->second.tensor && !place->second.constant &&
         !place->second.stored && !place->second.repeated && place->second.alias.empty();
}

bool GraphValues::isBatched(const std::string &name) const {
  const auto place = entries.find(rootOf(name));
  return place != entries.end() && place->second.isBatched;
}
