/**
 * The requirement of steps and of the functions of `Flow`.
 */
import type * as Types from "effect/Types"

/** A step of this name that can fail with `E`. */
export interface Failing<out Name extends string, out E> {
  readonly name: Types.Covariant<Name>
  readonly error: Types.Covariant<E>
}

/**
 * The requirement of a step call, which only a body of a flow satisfies. It is a phantom, not a service: only `Flow.make` accepts it.
 * `R` are the requirements of the step's own `run`, passed on to `Flow.run`; `F` names the step and its errors, for the message when
 * a flow does not declare them.
 *
 * A compiler message that names this type means that a body of a flow uses a service directly, which a resumed flow would do again.
 * Move that code into the `run` of a step.
 */
export interface FlowContext<out R, out F = unknown> {
  readonly "a flow calls only steps and functions of Flow: use services in the run of a step": Types.Covariant<R>
  readonly "errors of steps": Types.Covariant<F>
}

/** The requirements of the steps behind a phantom requirement. */
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

/** The tags of errors that come from no step. */
type Tag<Missing> = Missing extends { readonly _tag: infer T extends string } ? T : "an error without a tag"

type MissingOf<Steps extends string, Missing> = [Steps] extends [never]
  ? `the error schema of the flow lacks ${Tag<Missing>}, which its body fails with`
  : `the error schema of the flow lacks the errors of the step ${Steps}: name it in Flow.errorsOf(...)`

/** No constraint when `Declared` has all errors of a body, else the remedy, as a type that no body has. */
export type Declares<Declared, E, Context> = [Exclude<E, Declared>] extends [never]
  ? unknown
  : MissingOf<StepsFailingWith<Context, Exclude<E, Declared>>, Exclude<E, Declared>>
