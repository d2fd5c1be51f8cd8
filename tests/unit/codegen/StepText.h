// A plan's generated text, compiled and run against a builder that records.
#pragma once

#include "codegen/cpp/CppTarget.h"
#include "codegen/step/StepTarget.h"

#include <string>
#include <vector>

namespace syncline::test {

/// The step that is generated of a plan's text. The test fails and it is empty where none is.
std::string stepText(const std::string &plan,
                     const codegen::StepTarget &target = codegen::cppTarget());

/// Writes the step's text into the folder and compiles it to FOLDER/step.so.
Status compileStep(const std::string &step, const codegen::StepTarget &target,
                   const std::string &folder);

/// What the compiled step of a plan's text calls. The test fails where it does not compile.
std::vector<std::string> callsOf(const std::string &plan);

} // namespace syncline::test
