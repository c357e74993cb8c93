/**
 * The requirement that steps and the functions of `Flow` have.
 */
import type * as Types from "effect/Types"

/**
 * What a step needs where it is called: the body of a flow. It is a phantom, no service: nothing provides it, only
 * `Flow.make` accepts it. `R` is what the step's own `run` needs, handed on to `Flow.run`.
 *
 * A compiler message that names this type means that a body of a flow uses a service directly, which a flow that is
 * resumed would do again. Move that code into the `run` of a step.
 */
export interface FlowContext<out R> {
  readonly "a flow calls only steps and functions of Flow: use services in the run of a step": Types.Covariant<R>
}

/** What the steps behind a requirement need. */
export type RequirementOf<Context> = Context extends FlowContext<infer R> ? R : never
