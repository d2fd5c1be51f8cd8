// Joining norms and sums, and what operations are said to read and write then.
#include "runtime/cuda/NormSums.h"

#include <algorithm>
#include <array>
#include <utility>

namespace syncline::cuda {

namespace {

/// Whether this operation is the one in front of the operation that is being prepared.
bool isInFront(const Preparation &p, std::size_t operation) {
  return operation + 2 == p.program.table.operations.size();
}

core::OperationInfo &own(Preparation &p) { return p.program.table.operations.back(); }

bool isStored(const Preparation &p, Tensor tensor, const Layout &layout) {
  return p.info(tensor).space == Space::arena && p.layout(tensor) == layout;
}

/// Whether the norm's pass over the elements reads some of these bytes.
bool isRead(const Program &program, const NormThenSum &norm, Space space, std::int64_t offset,
            std::int64_t bytes) {
  return std::ranges::any_of(std::array{norm.x, norm.mean, norm.shift}, [&](Tensor each) {
    const core::StepTensor &read = program.table.of(each);
    return read.space == space && read.offset < offset + bytes &&
           offset < read.offset + read.reserved;
  });
}

bool isRead(const Preparation &p, const NormThenSum &norm, Tensor by) {
  const core::StepTensor &info = p.info(by);
  return isRead(p.program, norm, info.space, info.offset, info.reserved);
}

/// The norm that makes the addend, if its elements can be computed when `out` is written.
std::shared_ptr<NormThenSum> normOf(const Preparation &p, Tensor addend, Tensor out) {
  const std::shared_ptr<NormThenSum> norm = p.program.placement(addend).norm;
  const bool isOpen = std::ranges::find(p.program.openNorms, norm) != p.program.openNorms.end();
  const bool canWait = norm && isOpen && !norm->isTaken && !norm->isNormRead &&
                       norm->from.isValid() && !isRead(p, *norm, out);
  return canWait ? norm : nullptr;
}

/// Leaves the norm's elements to another norm's kernel.
void defer(Preparation &p, NormThenSum &norm) {
  norm.isDeferred = true;
  const std::int64_t bytes = p.count(norm.mean) * static_cast<std::int64_t>(sizeof(float));
  norm.gain = {p.program, p.program.reserveKept(bytes)};
  std::erase(p.program.table.operations[norm.operation].results, norm.y.id);
}

} // namespace

std::shared_ptr<const NormThenSum> offerNorm(Preparation &p, const Layout &layout,
                                             NormThenSum norm) {
  norm.layout = normalized(layout, p.shape(norm.y));
  if (!isStored(p, norm.y, norm.layout))
    return nullptr;
  norm.operation = p.program.table.operations.size() - 1;
  if (!isStored(p, norm.x, norm.layout))
    norm.from = {};
  const auto offered = std::make_shared<NormThenSum>(std::move(norm));
  std::erase_if(p.program.openNorms, [](const auto &open) {
    return open->isTaken || open->isDeferred || open->isNormRead;
  });
  p.program.openNorms.push_back(offered);
  p.program.placement(offered->y).norm = offered;
  return offered;
}

bool joinsNorm(Preparation &p, std::span<const Tensor> ins, std::span<const Tensor> outs,
               const PointwiseInfo &info) {
  if ((info.form != LoopForm::sum && info.form != LoopForm::sumRelu) || p.program.openNorms.empty())
    return false;
  const std::shared_ptr<NormThenSum> norm = p.program.openNorms.back();
  const bool isFirst = ins[0].id == norm->y.id;
  const Tensor addend = ins[isFirst ? 1 : 0], out = outs[0];
  if (!isInFront(p, norm->operation) || (!isFirst && ins[1].id != norm->y.id) ||
      addend.id == norm->y.id || !isStored(p, addend, norm->layout))
    return false;
  // The sum is computed where the norm is, so it must not destroy what the norm still reads.
  if (isRead(p, *norm, out))
    return false;
  p.layOut(out, norm->layout);
  if (!isStored(p, out, norm->layout))
    return false;

  norm->isTaken = true;
  norm->hasRelu = info.form == LoopForm::sumRelu;
  core::OperationInfo &first = p.program.table.operations[norm->operation];
  if (const std::shared_ptr<NormThenSum> other = normOf(p, addend, out)) {
    defer(p, *other);
    norm->other = other;
    norm->addend = Place<const std::byte>(p.program.data(addend));
    first.operands.insert(first.operands.end(), {other->x.id, other->mean.id});
  } else {
    norm->addend = p.input<std::byte>(addend, norm->layout);
    first.operands.push_back(addend.id);
  }
  norm->result = p.output<std::byte>(out, norm->layout);
  std::ranges::replace(first.results, norm->y.id, out.id);
  own(p).operands.clear();
  own(p).results.clear();
  p.call("in batchNorm", [] {});
  return true;
}

void storeNorm(Program &program, NormThenSum &norm) {
  if (norm.isNormRead)
    return;
  norm.isNormRead = true;
  if (norm.isTaken || norm.isDeferred)
    program.table.operations[norm.operation].results.push_back(norm.y.id);
}

void closeNorms(Program &program, Space space, std::int64_t offset, std::int64_t bytes) {
  std::erase_if(program.openNorms,
                [&](const auto &open) { return isRead(program, *open, space, offset, bytes); });
}

std::shared_ptr<const SumThenNorm> offerSum(Preparation &p, std::span<const Tensor> ins, Tensor out,
                                            const PointwiseInfo &info,
                                            std::span<const Place<const std::byte>> operands,
                                            const Place<std::byte> &result) {
  const Layout layout = p.layout(out);
  const bool hasGate = info.form == LoopForm::reluGradient;
  if ((info.form != LoopForm::sum && !hasGate) || own(p).reorders != 0 ||
      !isStored(p, out, layout) ||
      !std::ranges::all_of(ins, [&](Tensor in) { return isStored(p, in, layout); }))
    return nullptr;
  SumThenNorm sum{.operation = p.program.table.operations.size() - 1,
                  .result = out,
                  .layout = layout,
                  .to = result};
  for (std::size_t i = 0; i < ins.size(); ++i)
    if (hasGate && i == static_cast<std::size_t>(info.gate))
      sum.gate = operands[i];
    else
      (sum.first.isValid() ? sum.second : sum.first) = operands[i];
  p.program.sumInFront = std::make_shared<SumThenNorm>(std::move(sum));
  return p.program.sumInFront;
}

std::shared_ptr<const SumThenNorm> takeSum(Preparation &p, Tensor dy, const Layout &layout) {
  const std::shared_ptr<SumThenNorm> sum = p.program.sumInFront;
  if (!sum || !isInFront(p, sum->operation) || sum->result.id != dy.id ||
      sum->layout != normalized(layout, p.shape(dy)))
    return nullptr;
  sum->isTaken = true;
  core::OperationInfo &loop = p.program.table.operations[sum->operation], &norm = own(p);
  loop.implementation = "in batchNormBackward";
  std::erase(norm.operands, dy.id);
  norm.operands.insert(norm.operands.end(), loop.operands.begin(), loop.operands.end());
  norm.results.push_back(dy.id);
  loop.operands.clear();
  loop.results.clear();
  return sum;
}

} // namespace syncline::cuda
