// Chooses the precision and compares it with the profile's.
#include "frontend/driver/PrecisionOption.h"

#include "frontend/files/ClusterKinds.h"
#include "ir/nn/NN.h"

#include <cstdio>

using namespace mlir;

namespace syncline::driver {

static const std::string usual = nn::precisions[0].str();

std::string precisionFor(const std::string &requested, const std::string &measured,
                         const std::string &backend, const std::string &kind) {
  if (!requested.empty())
    return requested;
  const bool isKnown = !measured.empty() && (measured != "tf32" || backend != "cpu");
  if (isKnown)
    return measured;
  constexpr std::int64_t ampere = 80; // the first with tf32
  return backend == "cuda" && files::deviceCapability(kind) >= ampere ? "tf32" : usual;
}

void attachPrecision(const std::string &precision, const files::Profile *profile,
                     const std::string &path, bool isPredicted, ModuleOp module) {
  if (module.getOps<nn::StepOp>().empty())
    return;
  const std::string measured = profile ? profile->precision : "";
  if (precision != usual)
    module->setAttr(nn::precisionAttr, StringAttr::get(module.getContext(), precision));
  if (!profile && !isPredicted && precision != usual)
    std::fprintf(stderr,
                 "syncline: note: computation is predicted by the cluster file's rates, which are "
                 "not of one precision; 'syncline profile' of this plan measures it\n");
  if (!measured.empty() && measured != precision)
    std::fprintf(stderr,
                 "syncline: note: '%s' was measured in %s, the plan computes in %s; 'syncline "
                 "profile' of this plan measures that\n",
                 path.c_str(), measured.c_str(), precision.c_str());
}

} // namespace syncline::driver
