// Which consistency a plan has, where the user names several: the one with most samples a second.
#pragma once

#include "frontend/driver/Compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace syncline::driver {

/// Whether the text is "auto:FORM,FORM,..".
bool isAutoConsistency(const std::string &text);
/// The forms that it names. Returns badUsage where they are none. Precondition: isAutoConsistency.
Result<std::vector<std::string>> consistenciesOf(const std::string &text);

/// The options with which this form is compiled alone. Only gradients, which bsp has, can travel
/// beyond the backward pass.
CompileOptions asForm(const CompileOptions &options, const std::string &form);

/// Plans the module with these options, whose consistency is one form.
using PlanAs =
    std::function<Status(const CompileOptions &options, mlir::OwningOpRef<mlir::ModuleOp> &module)>;

/// Plans a copy of the module for each form of "auto:..", and replaces the options by those of the
/// form that takes least seconds a step in virtual time; of equal ones by the one named first.
/// Returns the table of all, and what that one trades, for people; nothing where the user named one
/// form. Errors: badInput where none of the forms can be planned and simulated.
Result<std::string> chooseConsistency(CompileOptions &options, mlir::ModuleOp module,
                                      const PlanAs &plan);

} // namespace syncline::driver
