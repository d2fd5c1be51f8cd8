// Which convolutions make sums for a norm, and where.
#include "runtime/cuda/dnn/ConvolutionSums.h"

#include "runtime/cuda/dnn/ConvolutionGraph.h"

namespace syncline::cuda {

void offerSums(Preparation &p, Tensor y, const ConvolutionSums &sums) {
  const Layout &layout = sums.plan.layout;
  if (layout.type == ElementType::bf16 && p.info(y).space == Space::arena &&
      p.layout(y) == normalized(layout, p.shape(y)))
    p.program.placement(y).sums = std::make_shared<ConvolutionSums>(sums);
}

std::shared_ptr<const ConvolutionSums> takeSums(Preparation &p, Tensor x, const Layout &layout) {
  const std::shared_ptr<ConvolutionSums> sums = p.program.placement(x).sums;
  if (!sums || p.layout(x) != normalized(layout, p.shape(x)))
    return nullptr;
  ConvolutionPlaces &places = *sums->places;
  if (!places.sums.isValid()) {
    // Both begin at multiples of 256 bytes, more than engines are promised.
    const std::int64_t each = (p.shape(x)[1] + 63) / 64 * 64;
    places.sums = {p.program, p.program.reserveKept(2 * each * std::int64_t{sizeof(float)})};
    places.squares = places.sums.after(each);
    std::string ignored;
    addGraphEngines(*sums->engines, p, sums->plan, ConvolutionKind::forwardAndSums, sums->places,
                    ignored);
  }
  return sums->engines->offerSums() ? sums : nullptr;
}

} // namespace syncline::cuda
