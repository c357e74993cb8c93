/**
 * The requirement that steps and the functions of `Flow` have.
 */
import type * as Types from "effect/Types"

/** That a step of this name can fail with `E`. */
export interface Failing<out Name extends string, out E> {
  readonly name: Types.Covariant<Name>
  readonly error: Types.Covariant<E>
}

/**
 * What a step needs where it is called: the body of a flow. It is a phantom, no service: nothing provides it, only
 * `Flow.make` accepts it. `R` is what the step's own `run` needs, handed on to `Flow.run`; `F` names the step and its errors,
 * for the message when a flow does not declare them.
 *
 * A compiler message that names this type means that a body of a flow uses a service directly, which a flow that is
 * resumed would do again. Move that code into the `run` of a step.
 */
export interface FlowContext<out R, out F = unknown> {
  readonly "a flow calls only steps and functions of Flow: use services in the run of a step": Types.Covariant<R>
  readonly "errors of steps": Types.Covariant<F>
}

/** What the steps behind a requirement need. */
export type RequirementOf<Context> = Context extends FlowContext<infer R> ? R : never

/** The names of the steps behind a requirement that can fail with one of these errors. */
type StepsFailingWith<Context, Missing> =
  Context extends FlowContext<unknown, infer F>
    ? F extends Failing<infer Name, infer E>
      ? [Extract<E, Missing>] extends [never]
        ? never
        : Name
      : never
    : never

/** Of errors that no step brings: their tags. */
type Tag<Missing> = Missing extends { readonly _tag: infer T extends string } ? T : "an error without a tag"

type MissingOf<Steps extends string, Missing> = [Steps] extends [never]
  ? `the error schema of the flow lacks ${Tag<Missing>}, which its body fails with`
  : `the error schema of the flow lacks the errors of the step ${Steps}: name it in Flow.errorsOf(...)`

/** Nothing when `Declared` has all errors of a body, else what to do, as a type that no body has. */
export type Declares<Declared, E, Context> = [Exclude<E, Declared>] extends [never]
  ? unknown
  : MissingOf<StepsFailingWith<Context, Exclude<E, Declared>>, Exclude<E, Declared>>
