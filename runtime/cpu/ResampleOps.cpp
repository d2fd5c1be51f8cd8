// Resizing of dimensions, in the operand's layout where they are positions of images.
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/ResampleParts.h"

namespace syncline::cpu {

namespace {

/// `from` and `to` are x and y forward, dy and dx backward.
void appendResize(Preparation &p, const core::Resampling &r, Tensor from, Tensor to,
                  bool isBackward) {
  core::checkResample(p, isBackward ? to : from, isBackward ? from : to, r);
  const Layout stored = p.layout(from);
  const bool isKept = keepsLayout(stored, r.axes);
  const Layout source = isKept ? stored : p.plain(from);
  const Layout target = isKept ? *likeLayout(stored, p.shape(to)) : p.plain(to);
  std::vector<ResamplePass> passes;
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(r.axes[i]);
    const std::int64_t before = p.shape(from)[axis], after = p.shape(to)[axis];
    passes.emplace_back(isBackward ? core::transposed(core::bandsOf(r, i, after, before))
                                   : core::bandsOf(r, i, before, after));
  }
  withElement(source, [&]<typename From>(From) {
    withElement(target, [&]<typename To>(To) {
      p.call("passes", [x = p.input(from, source), y = p.output(to, target),
                        resizing = Resizing(source, r.axes, std::move(passes))] {
        resizing.run(pointer<const From>(x), pointer<To>(y));
      });
    });
  });
}

} // namespace

void CpuBuilder::resample(std::string_view layer, Tensor x, Tensor y, const Shape &axes,
                          const Shape &coordinates, std::int64_t filter, double cubicCoefficient,
                          bool excludeOutside, bool antialias) {
  prepare("resample", layer, [&](Preparation &p) {
    appendResize(p,
                 {axes, coordinates, static_cast<ResampleFilter>(filter), cubicCoefficient,
                  excludeOutside, antialias},
                 x, y, /*isBackward=*/false);
  });
}

void CpuBuilder::resampleBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &axes,
                                  const Shape &coordinates, std::int64_t filter,
                                  double cubicCoefficient, bool excludeOutside, bool antialias) {
  prepare("resampleBackward", layer, [&](Preparation &p) {
    appendResize(p,
                 {axes, coordinates, static_cast<ResampleFilter>(filter), cubicCoefficient,
                  excludeOutside, antialias},
                 dy, dx, /*isBackward=*/true);
  });
}

} // namespace syncline::cpu
