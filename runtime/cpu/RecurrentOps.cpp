// Recurrent layers: loops of this backend. They compute in f32 in every precision; with bf16 the
// inputs' products, which are products of their own, are computed in it.
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Recurrence.h"

namespace syncline::cpu {

namespace {

RecurrentLayer layerOf(const Preparation &p, const core::RecurrentTensors &all, std::int64_t cell,
                       bool reverse) {
  core::checkRecurrent(p, all, cell, reverse);
  const Shape &x = p.shape(all.x), &r = p.shape(all.r);
  return {static_cast<RecurrentCell>(cell), reverse, x[0], x[1], r[0], r[2]};
}

dnnl::memory floats(Preparation &p, std::int64_t count) {
  return p.scratch(plainLayout({count}, DataType::f32));
}

/// Memory of an operand that may be missing, and its address.
dnnl::memory lengthsOrNone(Preparation &p, Tensor tensor) {
  return tensor.isValid() ? p.plainInput(tensor) : dnnl::memory();
}
dnnl::memory resultOrNone(Preparation &p, Tensor tensor) {
  return tensor.isValid() ? p.plainOutput(tensor) : dnnl::memory();
}
template <typename T> T *addressOf(const dnnl::memory &memory) {
  return memory ? pointer<T>(memory) : nullptr;
}

} // namespace

void CpuBuilder::recurrent(std::string_view layer, Tensor x, Tensor r, Tensor bias, Tensor initial,
                           Tensor lengths, Tensor y, Tensor last, Tensor saved, std::int64_t cell,
                           bool reverse) {
  prepare("recurrent", layer, [&](Preparation &p) {
    const RecurrentLayer of =
        layerOf(p, {x, r, bias, initial, lengths, y, last, saved}, cell, reverse);
    p.call("loop", [of, x = p.plainInput(x), r = p.plainInput(r), bias = p.plainInput(bias),
                    initial = p.plainInput(initial), lengths = lengthsOrNone(p, lengths),
                    y = p.plainOutput(y), last = p.plainOutput(last), saved = p.plainOutput(saved),
                    scratch = floats(p, recurrentScratch(of))] {
      recurrentForward(of,
                       {pointer<float>(x), pointer<float>(r), pointer<float>(bias),
                        pointer<float>(initial), addressOf<std::int64_t>(lengths),
                        pointer<float>(y), pointer<float>(last), pointer<float>(saved)},
                       pointer<float>(scratch));
    });
  });
}

void CpuBuilder::recurrentBackward(std::string_view layer, Tensor r, Tensor initial, Tensor saved,
                                   Tensor dy, Tensor dlast, Tensor lengths, Tensor dx, Tensor dr,
                                   Tensor dbias, Tensor dinitial, std::int64_t cell, bool reverse) {
  prepare("recurrentBackward", layer, [&](Preparation &p) {
    const RecurrentLayer of =
        layerOf(p, {dx, r, dbias, initial, lengths, dy, dlast, saved}, cell, reverse);
    if (dr.isValid())
      p.expectLike(dr, r);
    if (dinitial.isValid())
      p.expectLike(dinitial, initial);
    p.call("loop", [of, r = p.plainInput(r), initial = p.plainInput(initial),
                    saved = p.plainInput(saved), dy = p.plainInput(dy), dlast = p.plainInput(dlast),
                    lengths = lengthsOrNone(p, lengths), dx = p.plainOutput(dx),
                    dr = resultOrNone(p, dr), dbias = resultOrNone(p, dbias),
                    dinitial = resultOrNone(p, dinitial),
                    scratch = floats(p, recurrentBackwardScratch(of))] {
      cpu::recurrentBackward(
          of,
          {pointer<float>(r), pointer<float>(initial), pointer<float>(saved), pointer<float>(dy),
           pointer<float>(dlast), addressOf<std::int64_t>(lengths), pointer<float>(dx),
           addressOf<float>(dr), addressOf<float>(dbias), addressOf<float>(dinitial)},
          pointer<float>(scratch));
    });
  });
}

} // namespace syncline::cpu
