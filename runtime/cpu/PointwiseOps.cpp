// Generated pointwise loops in a common layout of their operands. The loops compute with f32.
// Operands that are stored as bf16 pass through short arrays of f32 in the first-level cache.
#include "runtime/core/Rounding.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Loops.h"

#include <algorithm>

namespace syncline::cpu {

namespace {

/// A layout that some operands have, with the sum of their sizes.
struct Candidate {
  Layout layout;
  std::int64_t elements = 0;
};

/// The layout of most operands, so that the fewest are converted; between equals, blocked rather
/// than plain. Plain where the loop cannot run over padding or a result has no room for it.
Layout commonLayout(Preparation &p, std::span<const Tensor> ins, std::span<const Tensor> outs,
                    const PointwiseInfo &info) {
  const Shape &shape = p.shape(outs[0]);
  const Layout plain = plainLayout(shape, DataType::f32);
  std::vector<Tensor> operands(ins.begin(), ins.end());
  operands.insert(operands.end(), outs.begin(), outs.end());
  std::vector<Candidate> candidates;
  for (Tensor operand : operands) {
    if (p.type(operand) == DataType::undef)
      return plain; // eight-byte elements have only the plain layout
    if (!p.isLaidOut(operand) || p.layout(operand).dims() != plain.dims())
      continue;
    const Layout layout = withType(p.layout(operand), DataType::f32);
    auto found = std::find_if(candidates.begin(), candidates.end(),
                              [&](const Candidate &other) { return other.layout == layout; });
    if (found == candidates.end())
      found = candidates.insert(candidates.end(), {layout, 0});
    found->elements += core::elementCount(shape);
  }
  Candidate best{plain, 0};
  for (const Candidate &candidate : candidates)
    if (candidate.elements > best.elements ||
        (candidate.elements == best.elements && isPlain(best.layout)))
      best = candidate;
  if (!isPadded(best.layout))
    return best.layout;
  const bool hasRoom = std::all_of(outs.begin(), outs.end(), [&](Tensor out) {
    const DataType type = p.info(out).isRounded ? DataType::bf16 : p.type(out);
    return static_cast<std::int64_t>(withType(best.layout, type).get_size()) <=
           p.info(out).reserved;
  });
  return info.keepsZero && hasRoom ? best.layout : plain;
}

/// A kernel's operand: its memory, the size of the kernel's elements, and whether they are stored
/// as bf16.
struct Operand {
  dnnl::memory memory;
  std::int64_t elementBytes;
  bool isRounded;

  std::byte *at(std::int64_t element) const {
    return pointer<std::byte>(memory) + element * (isRounded ? 2 : elementBytes);
  }
};

/// A kernel with its operands.
struct Loop {
  PointwiseKernel kernel;
  std::vector<Operand> outs, ins;

  bool hasRounded() const {
    const auto isRounded = [](const Operand &operand) { return operand.isRounded; };
    return std::ranges::any_of(outs, isRounded) || std::ranges::any_of(ins, isRounded);
  }

  void run(std::int64_t begin, std::int64_t n) const {
    std::vector<void *> results;
    std::vector<const void *> operands;
    for (const Operand &out : outs)
      results.push_back(out.at(begin));
    for (const Operand &in : ins)
      operands.push_back(in.at(begin));
    kernel(results.data(), operands.data(), n, /*queue=*/nullptr);
  }

  /// As run(), by short parts whose rounded operands are widened before and rounded behind.
  void runRounded(std::int64_t begin, std::int64_t n) const {
    constexpr std::int64_t length = 1024;
    std::vector<float> wide((outs.size() + ins.size()) * length);
    std::vector<void *> results(outs.size());
    std::vector<const void *> operands(ins.size());
    for (const std::int64_t end = begin + n; begin < end; begin += length) {
      const std::int64_t count = std::min(length, end - begin);
      float *next = wide.data();
      for (std::size_t i = 0; i < ins.size(); ++i, next += length) {
        operands[i] = ins[i].isRounded ? next : static_cast<const void *>(ins[i].at(begin));
        if (ins[i].isRounded)
          core::widen(ElementType::bf16, reinterpret_cast<const std::uint16_t *>(ins[i].at(begin)),
                      next, count);
      }
      for (std::size_t i = 0; i < outs.size(); ++i, next += length)
        results[i] = outs[i].isRounded ? next : static_cast<void *>(outs[i].at(begin));
      kernel(results.data(), operands.data(), count, /*queue=*/nullptr);
      for (std::size_t i = 0; i < outs.size(); ++i)
        if (outs[i].isRounded)
          core::narrow(ElementType::bf16, static_cast<const float *>(results[i]),
                       reinterpret_cast<std::uint16_t *>(outs[i].at(begin)), count);
    }
  }
};

/// Whether the loop reads or writes this operand as bf16, because it is stored so. Not when a
/// tensor on the other side occupies the same place with elements of another size (a result in the
/// place of an operand that ends here): one part would overwrite what another has not read yet.
bool staysRounded(const Preparation &p, Tensor tensor, std::span<const Tensor> others) {
  return p.isRounded(tensor) && std::ranges::none_of(others, [&](Tensor other) {
           return !p.isRounded(other) && core::overlap(p.info(tensor), p.info(other));
         });
}

} // namespace

void CpuBuilder::pointwise(std::string_view layer, PointwiseKernel kernel,
                           std::span<const Tensor> ins, std::span<const Tensor> outs,
                           const PointwiseInfo &info) {
  prepare("pointwise", layer, [&](Preparation &p) {
    core::checkPointwise(p, ins, outs, info);
    const Layout common = info.flat ? commonLayout(p, ins, outs, info) : Layout();
    auto wanted = [&](Tensor tensor) {
      return info.flat && !isPlain(common) ? withType(common, p.type(tensor)) : p.plain(tensor);
    };
    const auto isRounded = [&](Tensor tensor) { return p.isRounded(tensor); };
    if (info.flat && std::ranges::any_of(ins, isRounded))
      for (Tensor out : outs)
        if (!p.isLaidOut(out) && p.info(out).type == ElementType::f32)
          program.layOut(out, withType(wanted(out), DataType::bf16));
    Loop loop{kernel, {}, {}};
    const auto operand = [&](Tensor tensor, std::span<const Tensor> others, auto provide) {
      const bool rounded = info.flat && staysRounded(p, tensor, others);
      const Layout layout = rounded ? withType(wanted(tensor), DataType::bf16) : wanted(tensor);
      return Operand{provide(tensor, layout), core::elementBytes(p.info(tensor).type), rounded};
    };
    for (Tensor in : ins)
      loop.ins.push_back(
          operand(in, outs, [&](Tensor of, const Layout &layout) { return p.input(of, layout); }));
    for (Tensor out : outs)
      loop.outs.push_back(
          operand(out, ins, [&](Tensor of, const Layout &layout) { return p.output(of, layout); }));
    const std::int64_t n = static_cast<std::int64_t>(wanted(outs[0]).get_size()) /
                           core::elementBytes(p.info(outs[0]).type);
    p.call(info.flat ? "flat" : "dense", [=, loop = std::move(loop), flat = info.flat] {
      if (!flat)
        return loop.run(0, n);
      parallelParts(n, [&](std::int64_t begin, std::int64_t end) {
        if (loop.hasRounded())
          loop.runRounded(begin, end - begin);
        else
          loop.run(begin, end - begin);
      });
    });
  });
}

} // namespace syncline::cpu
