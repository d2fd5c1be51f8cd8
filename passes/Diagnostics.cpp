// MLIR's diagnostics as one Status.
#include "passes/Diagnostics.h"

#include "ir/Refusal.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace syncline;

/// "model.onnx:12:3: " or "conv1: ", empty for unknown places.
static std::string placeOf(Location marked) {
  const Location location = syncline::refusedAt(marked).value_or(marked);
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file.getFilename().str() + (file.getLine() == 0
                                           ? ": "
                                           : ":" + std::to_string(file.getLine()) + ":" +
                                                 std::to_string(file.getColumn()) + ": ");
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str() + ": ";
  return {};
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler((context->printOpOnDiagnostic(false), context), [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        if (!message.empty())
          return success();
        message = placeOf(diagnostic.getLocation()) + diagnostic.str();
        isRefusal = refusedAt(diagnostic.getLocation()).has_value();
        for (Diagnostic &note : diagnostic.getNotes())
          message += "; " + placeOf(note.getLocation()) + note.str();
        return success();
      }) {}

syncline::Status DiagnosticCollector::status(const std::string &fallback) const {
  return Status::badInput(message.empty() ? fallback : message);
}

syncline::Status DiagnosticCollector::passStatus(const std::string &fallback) const {
  return isRefusal ? status(fallback)
                   : Status::error(ErrorKind::internal, message.empty() ? fallback : message);
}
