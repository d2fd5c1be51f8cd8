// Scales a program's tensors and places them again.
#include "passes/lower/MemoryElsewhere.h"

#include "ir/plan/Plan.h"
#include "passes/lower/Lifetimes.h"
#include "passes/lower/Placement.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;

namespace syncline::lower {

namespace {

/// Whether a kernel's result belongs to weights or channels, so that it has no samples.
bool isSummed(StringRef role) {
  constexpr std::array<StringLiteral, 7> summed = {"dw",   "dbias",    "dscale", "dshift",
                                                   "mean", "variance", "dtable"};
  return llvm::is_contained(summed, role);
}

/// Whether a product sums over the samples, as a weight's gradient does.
bool sumsSamples(plan::CallOp call) {
  return call.getCallee() == plan::Kernel::matmul && call->hasAttr("transpose_a");
}

class Rescaling {
public:
  Rescaling(plan::ProgramOp program, const MemoryNeed &there)
      : program(program), there(there), batch(static_cast<std::int64_t>(program.getBatch())),
        ranks(static_cast<std::int64_t>(program.getRanks())) {
    for (Operation &op : program.getBody().front()) {
      read(&op);
      if (plan::executes(&op))
        ++executed;
    }
  }

  std::int64_t bytes() {
    std::int64_t total = place(buffers()).bytes;
    for (NamedAttribute space : program.getSpaces())
      if (space.getName() != plan::stringifySpace(plan::Space::arena) &&
          space.getName() != plan::stringifySpace(plan::Space::input) &&
          space.getName() != plan::stringifySpace(plan::Space::target))
        total += cast<IntegerAttr>(space.getValue()).getInt();
    return total + samplesBytes();
  }

private:
  void read(Operation *op) {
    if (auto tensor = dyn_cast<plan::TensorOp>(op)) {
      const plan::Space space = tensor.getSpace();
      if (space == plan::Space::input || space == plan::Space::target)
        sampled.insert(tensor.getResult());
    } else if (auto call = dyn_cast<plan::CallOp>(op)) {
      readCall(call);
    } else if (auto loop = dyn_cast<plan::PointwiseOp>(op)) {
      if (holdsSamples(loop.getIns()))
        sampled.insert(loop.getOuts().begin(), loop.getOuts().end());
      if (loop.getFlat())
        sharePlaces(loop.getIns(), loop.getOuts());
    } else if (auto gather = dyn_cast<plan::GatherOp>(op)) {
      for (auto [factor, all] : llvm::zip(gather.getIns(), gather.getOuts()))
        if (sampled.contains(factor))
          sampled.insert(all);
      gathered.insert(gather.getOuts().begin(), gather.getOuts().end());
      gathers.push_back(gather);
    }
  }

  void readCall(plan::CallOp call) {
    const std::size_t ins = call.getIns().size();
    if (call.getCallee() == plan::Kernel::embeddingBackward)
      sharePlaces(call.getIns().drop_front(2), call.getOuts());
    for (auto [number, out] : llvm::enumerate(call.getOuts())) {
      if (auto tensor = out.getDefiningOp<plan::TensorOp>();
          tensor && tensor.getSpace() == plan::Space::gradients)
        written.try_emplace(tensor.getName().str(), executed);
      const StringRef role = cast<StringAttr>(call.getRoles()[ins + number]).getValue();
      if (holdsSamples(call.getIns()) && !isSummed(role) && !sumsSamples(call))
        sampled.insert(out);
    }
  }

  bool holdsSamples(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return sampled.contains(value); });
  }

  /// Shares places as the program does, by the exception of P10.
  void sharePlaces(ValueRange ins, ValueRange outs) {
    for (Value out : outs)
      for (Value in : ins) {
        auto to = out.getDefiningOp<plan::TensorOp>(), from = in.getDefiningOp<plan::TensorOp>();
        if (to && from && to.getLive() && from.getLive() && to.getOffset() == from.getOffset() &&
            (*from.getLive())[1] == executed)
          placeOf[out] = in;
      }
  }

  /// The value's type with the samples of `there` in the first dimension that counts samples.
  RankedTensorType scaled(Value value) const {
    auto type = cast<MemRefType>(value.getType());
    llvm::SmallVector<std::int64_t> shape(type.getShape());
    const bool all = gathered.contains(value);
    const std::int64_t from = batch * (all ? ranks : 1), to = there.batch * (all ? there.ranks : 1);
    auto dimension = llvm::find_if(shape, [&](std::int64_t n) { return n % from == 0; });
    if (sampled.contains(value) && dimension != shape.end())
      *dimension = *dimension / from * to;
    return RankedTensorType::get(shape, type.getElementType());
  }

  std::int64_t samplesBytes() {
    std::int64_t total = 0;
    for (auto tensor : program.getOps<plan::TensorOp>())
      if (tensor.getSpace() == plan::Space::input || tensor.getSpace() == plan::Space::target)
        total += static_cast<std::int64_t>(
            llvm::alignTo(plan::denseBytes(scaled(tensor.getResult())), plan::alignment));
    return total;
  }

  /// The parameter whose factors the bucket gathers: the first of its members.
  std::string carrierOf(plan::GatherOp gather) {
    for (auto bucket : program.getOps<plan::BucketOp>())
      if (bucket.getId() == gather.getBucket() && !bucket.getMembers().empty())
        return cast<StringAttr>(bucket.getMembers()[0]).getValue().str();
    return {};
  }

  /// Gathered tensors of gradients that travel by factors in the program, but not in `there`.
  llvm::DenseSet<Value> dropped() {
    llvm::DenseSet<Value> values;
    for (plan::GatherOp gather : gathers)
      if (!there.factors.contains(carrierOf(gather)))
        values.insert(gather.getOuts().begin(), gather.getOuts().end());
    return values;
  }

  std::vector<Buffer> buffers() {
    std::vector<Buffer> result;
    llvm::DenseMap<Value, std::size_t> bufferOf;
    const llvm::DenseSet<Value> missing = dropped();
    for (auto tensor : program.getOps<plan::TensorOp>()) {
      const Value value = tensor.getResult();
      if (!tensor.getLive() || missing.contains(value))
        continue;
      const std::int64_t first = (*tensor.getLive())[0], last = (*tensor.getLive())[1];
      auto source = placeOf.find(value);
      auto shared = source == placeOf.end() ? bufferOf.end() : bufferOf.find(source->second);
      if (shared != bufferOf.end()) {
        const std::size_t buffer = shared->second;
        bufferOf[value] = buffer;
        result[buffer].last = std::max(result[buffer].last, last);
        continue;
      }
      bufferOf[value] = result.size();
      result.push_back({first, last, arenaReserve(scaled(value), tensor.getRounded())});
    }
    addFactors(result);
    return result;
  }

  void addFactors(std::vector<Buffer> &result) {
    std::map<std::string, bool> own;
    for (plan::GatherOp gather : gathers)
      own[carrierOf(gather)] = true;
    for (const auto &[name, bytes] : there.factors) {
      auto first = written.find(name);
      if (own.contains(name) || first == written.end())
        continue;
      result.push_back({first->second, executed - 1, bytes});
      result.push_back({there.isCarrying ? 0 : first->second, executed - 1, bytes * there.ranks});
    }
  }

  plan::ProgramOp program;
  const MemoryNeed &there;
  std::int64_t batch, ranks; ///< the program's samples per rank and ranks
  std::int64_t executed = 0;
  llvm::DenseSet<Value> sampled;  ///< values with a dimension that counts samples
  llvm::DenseSet<Value> gathered; ///< values gathered from all ranks
  llvm::SmallVector<plan::GatherOp> gathers;
  llvm::DenseMap<Value, Value> placeOf;        ///< result → the operand whose place it takes
  std::map<std::string, std::int64_t> written; ///< gradient → number of its first writer
};

} // namespace

std::int64_t memoryElsewhere(plan::ProgramOp program, const MemoryNeed &there) {
  return Rescaling(program, there).bytes();
}

} // namespace syncline::lower
