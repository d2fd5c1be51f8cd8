// A module parsed from text, for tests of functions over IR.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <string>

namespace syncline {

/// Owns a context, a module in it, and the text of the last diagnostic.
struct Parsed {
  explicit Parsed(llvm::StringRef text)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); }) {
    context.loadDialect<cluster::ClusterDialect, nn::NNDialect, sync::SyncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  nn::StepOp step() { return *module->getOps<nn::StepOp>().begin(); }
  mlir::Attribute attr(llvm::StringRef text) { return mlir::parseAttribute(text, &context); }

  mlir::MLIRContext context;
  std::string error;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace syncline
