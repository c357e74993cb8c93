/**
 * Groups of branches, and calls that are undone when the execution fails later.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { FlowDefect } from "../../../FlowDefect.ts"
import { at, type Members, type Position } from "../../body/Position.ts"
import type { Region } from "../Branches.ts"
import type { Caller } from "./Caller.ts"

/** A member has the context of the group, and its own position. */
const provided = <A, E, R>(members: Members<A, E, R>, context: Context.Context<R>) =>
  members.map(
    ([prefix, member]) =>
      [prefix, (position: Position) => Effect.provideContext(at(position)(member), context)] as const
  )

export const all = <A, E, R>(
  { branch, services }: Caller,
  members: Members<A, E, R>,
  concurrency: number
): Effect.Effect<Array<A>, E, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    services.branches.all<A, E>(branch, provided(members, context), concurrency)
  )

export const race = <A, E, R>({ branch, services }: Caller, members: Members<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWith((context: Context.Context<R>) => services.branches.race<A, E>(branch, provided(members, context)))

/** Runs a call as a region of its branch, and registers its undo under the path of the first step in it. */
export const compensate = <A, E, R, E2, R2>(
  { branch, services }: Caller,
  prefix: string,
  call: Effect.Effect<A, E, R>,
  undo: (value: A) => Effect.Effect<unknown, E2, R2>
): Effect.Effect<A, E, R | R2> =>
  Effect.contextWith((context: Context.Context<R | R2>) => {
    if (services.isUndo(prefix)) return call
    const region: Region = { path: null, begun: false }
    branch.regions.push(region)
    return Effect.onExit(call, (exit) =>
      Effect.suspend(() => {
        branch.regions.splice(branch.regions.indexOf(region), 1)
        if (Exit.isFailure(exit)) return Effect.void
        if (region.path === null) {
          return Effect.die(new FlowDefect({ message: "the effect of Flow.compensate calls no step" }))
        }
        const undone = Effect.suspend(() => undo(exit.value))
        services.register(branch, region.path, (position) => Effect.provideContext(at(position)(undone), context))
        return Effect.void
      })
    )
  })
