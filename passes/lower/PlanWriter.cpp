// Writes declarations, ordered by space, then one plan operation for each action.
#include "passes/lower/PlanWriter.h"

#include "ir/Refusal.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/lower/Kernels.h"
#include "passes/lower/Rounding.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline::lower {

namespace {

class Writer {
public:
  Writer(nn::StepOp step, const Decisions &decisions)
      : step(step), decisions(decisions), builder(step) {}

  FailureOr<plan::ProgramOp> write() {
    auto program = builder.create<plan::ProgramOp>(
        step.getLoc(), step.getSymNameAttr(), builder.getI64IntegerAttr(decisions.ranks),
        step.getBatchAttr(), builder.getDictionaryAttr({}),
        decisions.servers > 0 ? builder.getI64IntegerAttr(decisions.servers) : IntegerAttr(),
        decisions.overlap == Overlap::step ? builder.getStringAttr(plan::overlapStep)
                                           : StringAttr(),
        sync::ConsistencyAttr(), /*clip_norm=*/FloatAttr(), /*accumulate=*/IntegerAttr());
    if (Attribute recomputation = step->getAttr(nn::recomputationAttr))
      program->setAttr(nn::recomputationAttr, recomputation);
    builder.createBlock(&program.getBody());
    if (failed(declareTensors())) {
      program.erase();
      return failure();
    }
    declareBuckets();
    for (const Action &action : decisions.actions)
      append(action);
    program.setSpacesAttr(spaceSizes());
    return program;
  }

private:
  struct Declaration {
    StringRef name;
    plan::Space space;
    std::int64_t offset = 0, reserve = 0;
    DenseI64ArrayAttr live = {};
    IntegerAttr bucket = {}, values = {};
    Attribute init = {};
    UnitAttr output = {};
    UnitAttr rounded = {}, fixed = {};
    StringAttr of = {};
  };

  LogicalResult declare(Value value, const Declaration &what) {
    auto type = cast<RankedTensorType>(value.getType());
    if (plan::elementName(type.getElementType()).empty())
      return refuse(value.getLoc()) << "tensor '" << what.name << "' has elements of type "
                                    << type.getElementType() << ", which plans do not know";
    auto tensor = builder.create<plan::TensorOp>(
        value.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
        builder.getStringAttr(what.name), plan::SpaceAttr::get(builder.getContext(), what.space),
        builder.getI64IntegerAttr(what.offset), builder.getI64IntegerAttr(what.reserve), what.live,
        what.bucket, what.values, what.init, what.output, what.rounded, what.fixed, what.of);
    if (what.space == plan::Space::gradients)
      gradients[value].push_back(tensor);
    else
      tensors[value] = tensor;
    return success();
  }

  /// Declares the value at the next free place of a space whose tensors do not share places.
  LogicalResult declareNext(Value value, Declaration what) {
    auto type = cast<RankedTensorType>(value.getType());
    what.reserve = static_cast<std::int64_t>(
        llvm::alignTo(plan::denseBytes(MemRefType::get(type.getShape(), type.getElementType())),
                      plan::alignment));
    what.offset = sizes[static_cast<int>(what.space)];
    sizes[static_cast<int>(what.space)] += what.reserve;
    return declare(value, what);
  }

  LogicalResult declareState(nn::StateOp state) {
    const std::string name = state.getFixed() ? nextConstant() : state.getName().str();
    return declareNext(state, {.name = name,
                               .space = plan::Space::state,
                               .values = state.getOffsetAttr(),
                               .init = state.getInitAttr(),
                               .fixed = state.getFixedAttr()});
  }

  LogicalResult declareConstant(nn::ConstantOp constant) {
    return declareNext(
        constant,
        {.name = nextConstant(), .space = plan::Space::state, .init = constant.getValue()});
  }

  /// A name that no stored tensor of the model has.
  std::string nextConstant() {
    std::string name;
    do
      name = "constant/" + std::to_string(constants++);
    while (stored.contains(name));
    return name;
  }

  LogicalResult declareSources() {
    for (Operation &op : step.getBody().front())
      if (isa<nn::ParameterOp, nn::StateOp>(op))
        stored.insert(op.getAttrOfType<StringAttr>("name").getValue());
    for (Operation &op : step.getBody().front()) {
      LogicalResult declared = success();
      if (auto input = dyn_cast<nn::InputOp>(op))
        declared = declareNext(
            input, {.name = input.getName(), .space = plan::Space::input, .of = input.getOfAttr()});
      else if (auto target = dyn_cast<nn::TargetOp>(op))
        declared = declareNext(target, {.name = target.getName(), .space = plan::Space::target});
      else if (auto state = dyn_cast<nn::StateOp>(op))
        declared = declareState(state);
      else if (auto constant = dyn_cast<nn::ConstantOp>(op))
        declared = declareConstant(constant);
      if (failed(declared))
        return failure();
    }
    return success();
  }

  LogicalResult declareMembers(plan::Space space) {
    const bool isTrained = space == plan::Space::parameters;
    llvm::DenseSet<Operation *> declared;
    for (auto [number, bucket] : llvm::enumerate(decisions.buckets)) {
      for (const Member &member : bucket.members) {
        nn::ParameterOp parameter = member.parameter;
        if (!declared.insert(parameter).second)
          continue; // a bucket before this one has another part of it
        Declaration what{.name = parameter.getName(),
                         .space = space,
                         .offset = member.offset,
                         .reserve = member.reserve,
                         .bucket = builder.getI64IntegerAttr(static_cast<std::int64_t>(number))};
        if (isTrained) {
          what.values = parameter.getOffsetAttr();
          what.init = parameter.getInitAttr();
        }
        if (failed(declare(isTrained ? parameter.getResult() : member.gradient, what)))
          return failure();
        if (!isTrained && !member.isCopied)
          for (Value held : heldBefore(member.gradient))
            tensors[held] = gradients[member.gradient].back();
        if (!isTrained && member.total) {
          const Value gradient = gradients[member.gradient].back();
          tensors[member.arrived] = gradient;
          gradients[member.total].push_back(gradient);
        }
      }
      std::int64_t &size = sizes[static_cast<int>(space)];
      size = std::max(size, bucket.offset + bucket.extent);
    }
    return success();
  }

  LogicalResult declareTensors() {
    if (failed(declareSources()) || failed(declareMembers(plan::Space::parameters)) ||
        failed(declareMembers(plan::Space::gradients)))
      return failure();
    for (const auto &[value, tensor] : decisions.arena.tensors)
      if (failed(
              declare(value, {.name = tensor.name,
                              .space = plan::Space::arena,
                              .offset = tensor.offset,
                              .reserve = tensor.reserve,
                              .live = builder.getDenseI64ArrayAttr({tensor.first, tensor.last}),
                              .output = tensor.isOutput ? builder.getUnitAttr() : UnitAttr(),
                              .rounded = tensor.isRounded ? builder.getUnitAttr() : UnitAttr()})))
        return failure();
    sizes[static_cast<int>(plan::Space::arena)] = decisions.arena.bytes;
    return success();
  }

  /// What a rank contributes to a bucket of rows; null for others.
  IntegerAttr rowsOf(const Bucket &bucket) {
    if (!hasRows(bucket.scheme))
      return {};
    auto numbers = cast<ShapedType>(bucket.factors().front().getType());
    return builder.getI64IntegerAttr(numbers.getNumElements());
  }

  void declareBuckets() {
    for (const Bucket &bucket : decisions.buckets)
      builder.create<plan::BucketOp>(
          bucket.message->getLoc(), builder.getI64IntegerAttr(bucket.number),
          bucket.message->getAttrOfType<ArrayAttr>("members"),
          cluster::SchemeAttr::get(builder.getContext(), bucket.scheme),
          builder.getI64IntegerAttr(bucket.channel), builder.getI64IntegerAttr(bucket.offset),
          builder.getI64IntegerAttr(bucket.extent), builder.getI64IntegerAttr(bucket.bytes),
          rowsOf(bucket), bucket.gatherPlace ? builder.getUnitAttr() : UnitAttr());
  }

  void append(const Action &action) {
    if (action.phase != phase) {
      phase = action.phase;
      builder.create<plan::PhaseOp>(step.getLoc(),
                                    plan::PhaseAttr::get(builder.getContext(), action.phase));
    }
    const auto bucket = [&] { return builder.getI64IntegerAttr(action.bucket); };
    switch (action.kind) {
    case ActionKind::compute:
      if (auto loop = dyn_cast<nn::PointwiseOp>(action.op))
        return appendLoop(loop);
      return appendCall(action.op);
    case ActionKind::copy:
      return appendCopy(action);
    case ActionKind::loss:
      builder.create<plan::LossOp>(action.op->getLoc(), tensors.lookup(action.op->getOperand(0)));
      return;
    case ActionKind::issue:
      builder.create<plan::IssueOp>(step.getLoc(), bucket());
      return;
    case ActionKind::gather:
      return appendGather(decisions.buckets[action.bucket]);
    case ActionKind::allGather:
      builder.create<plan::AllGatherOp>(step.getLoc(), bucket());
      return;
    case ActionKind::wait:
      builder.create<plan::WaitOp>(step.getLoc(), bucket());
      return;
    case ActionKind::update:
      return appendUpdate(action.bucket);
    }
  }

  /// Appends the update with the sum of its members' seconds, or without seconds if one is unknown.
  /// A member that is cut counts by the part of it that the bucket carries.
  void appendUpdate(std::int64_t bucket) {
    auto update = builder.create<plan::UpdateOp>(step.getLoc(), builder.getI64IntegerAttr(bucket),
                                                 FloatAttr());
    double seconds = 0;
    const Bucket &updated = decisions.buckets[bucket];
    for (const Member &member : updated.members) {
      nn::ParameterOp parameter = member.parameter;
      for (Operation *user : parameter.getResult().getUsers())
        if (isa<nn::UpdateOp>(user)) {
          const FloatAttr taken = secondsOf(user);
          if (!taken)
            return;
          seconds += taken.getValueAsDouble() * updated.partOf(member);
        }
    }
    update.setSecondsAttr(builder.getF64FloatAttr(seconds));
  }

  void appendGather(const Bucket &bucket) {
    llvm::SmallVector<Value> ins, outs;
    for (Value factor : bucket.factors())
      ins.push_back(tensors.lookup(factor));
    for (Value all : bucket.gathered())
      outs.push_back(tensors.lookup(all));
    builder.create<plan::GatherOp>(bucket.message->getLoc(),
                                   builder.getI64IntegerAttr(bucket.number), ins, outs);
  }

  /// The tensor that an operation writes a result to, in the gradients or the arena; null when the
  /// result is skipped.
  Value placeOf(OpResult result) const {
    if (Value tensor = tensors.lookup(result))
      return tensor;
    auto found = gradients.find(result);
    return found == gradients.end() ? Value() : found->second.front();
  }

  static StringAttr labelOf(Operation *op) {
    StringRef layer = nn::layerOf(op);
    return StringAttr::get(op->getContext(), layer.empty() ? op->getName().stripDialect() : layer);
  }

  /// The predicted time of an nn operation; null before the pass `cost`.
  static FloatAttr secondsOf(Operation *op) {
    return op->getAttrOfType<FloatAttr>(nn::secondsAttr);
  }

  void appendCall(Operation *op) {
    KernelUse use = *kernelOf(op);
    llvm::SmallVector<StringRef> roles(use.ins.begin(), use.ins.end());
    llvm::SmallVector<Value> ins, outs;
    for (Value operand : op->getOperands())
      ins.push_back(tensors.lookup(operand));
    for (auto [result, role] : llvm::zip(op->getResults(), use.outs))
      if (Value place = placeOf(result)) {
        outs.push_back(place);
        roles.push_back(role);
      }
    createCall(op, use.kernel, roles, ins, outs);
  }

  void createCall(Operation *op, plan::Kernel kernel, llvm::ArrayRef<StringRef> roles,
                  ValueRange ins, ValueRange outs) {
    auto call = builder.create<plan::CallOp>(
        op->getLoc(), plan::KernelAttr::get(builder.getContext(), kernel), labelOf(op),
        builder.getStrArrayAttr(roles), ins, outs, FloatAttr());
    if (call.getCallee() == plan::Kernel::reshape && !isa<nn::ReshapeOp>(op))
      return; // a copy does not have the attributes of the operation
    call.setSecondsAttr(secondsOf(op));
    for (NamedAttribute attribute : op->getAttrs())
      if (!llvm::is_contained({nn::layerAttr, nn::backwardAttr, nn::secondsAttr},
                              attribute.getName().getValue()))
        call->setAttr(attribute.getName(), attribute.getValue());
  }

  void appendCopy(const Action &action) {
    const Member &member = decisions.buckets[action.bucket].members[action.member];
    for (Value target : gradients.lookup(member.gradient)) {
      auto tensor = target.getDefiningOp<plan::TensorOp>();
      if (static_cast<std::int64_t>(tensor.getOffset()) == member.offset)
        createCall(action.op, plan::Kernel::reshape, {"x", "y"}, tensors.lookup(member.gradient),
                   target);
    }
  }

  void appendLoop(nn::PointwiseOp op) {
    llvm::SmallVector<Value> ins, outs;
    for (Value operand : op.getInputs())
      ins.push_back(tensors.lookup(operand));
    for (OpResult result : op->getResults())
      outs.push_back(placeOf(result));
    auto loop = builder.create<plan::PointwiseOp>(op.getLoc(), labelOf(op), ins, outs, isFlat(op),
                                                  keepsZero(op), secondsOf(op));
    if (nn::isRecomputed(op))
      loop->setAttr(nn::recomputedAttr, builder.getUnitAttr());
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&loop.getBody());
    IRMapping mapping;
    for (BlockArgument argument : op.getBody().getArguments())
      mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    for (Operation &inner : op.getBody().front().without_terminator())
      builder.clone(inner, mapping);
    llvm::SmallVector<Value> yielded;
    for (Value value : op.getBody().front().getTerminator()->getOperands())
      yielded.push_back(mapping.lookupOrDefault(value));
    builder.create<plan::YieldOp>(op.getLoc(), yielded);
  }

  DictionaryAttr spaceSizes() {
    llvm::SmallVector<NamedAttribute> entries;
    for (std::uint64_t i = 0; i <= plan::getMaxEnumValForSpace(); ++i)
      entries.push_back(builder.getNamedAttr(plan::stringifySpace(static_cast<plan::Space>(i)),
                                             builder.getI64IntegerAttr(sizes[i])));
    return builder.getDictionaryAttr(entries);
  }

  nn::StepOp step;
  const Decisions &decisions;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> tensors;                         ///< the tensor from which a value
                                                                ///< is read
  llvm::DenseMap<Value, llvm::SmallVector<Value, 1>> gradients; ///< the tensors to which a member
                                                                ///< is written
  std::int64_t sizes[plan::getMaxEnumValForSpace() + 1] = {};
  std::optional<plan::Phase> phase;
  llvm::StringSet<> stored; ///< names of the model's parameters and states
  int constants = 0;        ///< named so far
};

} // namespace

FailureOr<plan::ProgramOp> writePlan(nn::StepOp step, const Decisions &decisions) {
  return Writer(step, decisions).write();
}

} // namespace syncline::lower
