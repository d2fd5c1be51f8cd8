// Refuses what contradicts `compile --consistency`.
#include "frontend/driver/ConsistencyOption.h"

#include "frontend/driver/ChooseConsistency.h"
#include "ir/sync/Consistency.h"
#include "syncline/WirePrecision.h"

namespace syncline::driver {

Status checkConsistency(const CompileOptions &options, mlir::MLIRContext *context) {
  if (isAutoConsistency(options.consistency)) {
    Result<std::vector<std::string>> forms = consistenciesOf(options.consistency);
    for (std::size_t i = 0; forms && i < forms->size(); ++i)
      if (Status valid = checkConsistency(asForm(options, (*forms)[i]), context); !valid)
        return valid;
    return forms ? Status::ok() : forms.status();
  }
  const Result<sync::ConsistencyAttr> form = sync::parseConsistency(options.consistency, context);
  const auto refuse = [](const std::string &what) {
    return Status::error(ErrorKind::badUsage, "--consistency: " + what);
  };
  if (!form)
    return refuse(form.status().message());
  if (!*form)
    return Status::ok();
  if ((*form).getForm() == sync::ConsistencyForm::easgd &&
      (*form).getVariant() == sync::EasgdVariant::momentum && options.optimizer != "sgd")
    return refuse("'" + options.consistency +
                  "' is SGD with momentum, expected '--optimizer sgd', "
                  "got '" +
                  options.optimizer + "'");
  if (options.wire != wireName(WirePrecision::fp32))
    return refuse("weights travel in float32, expected '--wire fp32', got '" + options.wire + "'");
  if (options.overlap != "backward")
    return refuse("gradients that stay on their rank have nothing to hide, expected '--overlap "
                  "backward', got '" +
                  options.overlap + "'");
  if (options.channels != "1")
    return refuse("weights have one channel of their own, expected '--channels 1', got '" +
                  options.channels + "'");
  if (options.planner != "optimal")
    return refuse("no planner has gradients to merge, expected '--planner optimal', got '" +
                  options.planner + "'");
  return Status::ok();
}

} // namespace syncline::driver
