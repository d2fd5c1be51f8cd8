// Registration of every dialect and interface.
#include "passes/RegisterAll.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/differentiate/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

void syncline::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<cluster::ClusterDialect, nn::NNDialect, sync::SyncDialect, plan::PlanDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect>();
  differentiate::registerDifferentiationRules(registry);
}
