/**
 * The tracer that nobody listens to.
 *
 * @internal
 */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as FiberRefs from "effect/FiberRefs"
import * as Tracer from "effect/Tracer"

/**
 * The default of the reference, and not of this copy of effect: an application may have loaded another one.
 *
 * @internal
 */
export const native: Tracer.Tracer = Context.get(
  FiberRefs.getOrDefault(FiberRefs.empty(), DefaultServices.currentServices),
  Tracer.Tracer
)
