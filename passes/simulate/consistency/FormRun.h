// FormRun: one consistency's rule in virtual time.
#pragma once

#include "passes/simulate/consistency/ActionQueue.h"
#include "passes/simulate/consistency/ServerLinks.h"
#include "passes/simulate/consistency/Workers.h"

#include <memory>

namespace syncline::simulate {

/// What a rule acts on. All must outlive it.
struct FormPlace {
  const WorkerScenario &scenario;
  ActionQueue &queue;
  Workers &workers;
  ServerLinks &links;
};

class FormRun {
public:
  virtual ~FormRun() = default;
  /// Begins the first steps. Everything else follows from events.
  virtual void start() = 0;
};

std::unique_ptr<FormRun> createBoundedRun(const FormPlace &place);    ///< ssp, asp, dssp
std::unique_ptr<FormRun> createElasticRun(const FormPlace &place);    ///< easgd by servers
std::unique_ptr<FormRun> createCollectiveRun(const FormPlace &place); ///< the others

} // namespace syncline::simulate
