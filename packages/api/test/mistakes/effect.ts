/** Mistakes of programs with Effect, and what the compiler says of them (`Mistakes.test.ts`). */
// @effect-diagnostics missingEffectContext:off
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"

declare const process: ProcessId
declare const item: WorkItemId

export const anotherId =
  // @ts-expect-error Argument of type 'ProcessId' is not assignable to parameter of type 'WorkItemId'.
  WorkItems.get(process)

export const textAsAnId =
  // @ts-expect-error Argument of type 'string' is not assignable to parameter of type 'WorkItemId'.
  WorkItems.get("0199...")

export const anotherIdInAnInput =
  // @ts-expect-error Type 'WorkItemId' is not assignable to type 'ProcessRef'.
  // Type 'WorkItemId' is not assignable to type 'ProcessId'.
  WorkItems.create({ process: item })

export const noProcess =
  // @ts-expect-error Property 'process' is missing in type '{ payload: { day: number; }; }' but required in type 'NewWorkItem'.
  WorkItems.create({ payload: { day: 1 } })

export const noYield = Effect.fn(function* () {
  const found = WorkItems.get(item)
  // @ts-expect-error Property 'payload' does not exist on type 'Effect<WorkItem, ControlRoomError | NotFound, ControlRoom>'.
  return yield* Effect.succeed(found.payload)
})

export const yieldOfAStream = Effect.fn(function* () {
  // @ts-expect-error Type 'Stream<WorkItemListed, ControlRoomError | InvalidRequest, ControlRoom>' must have a
  // '[Symbol.iterator]()' method that returns an iterator.
  return yield* WorkItems.stream()
})

export const errorThatTheCallDoesNotHave = WorkItems.get(item).pipe(
  // @ts-expect-error Argument of type '"Conflict"' is not assignable to parameter of type '"ControlRoomError" | "NotFound" |
  Effect.catchTag("Conflict", () => Effect.succeed(null))
)

export const noLayer = () =>
  // @ts-expect-error Argument of type 'Effect<WorkItem, ControlRoomError | NotFound, ControlRoom>' is not assignable to parameter of
  // type 'Effect<WorkItem, ControlRoomError | NotFound, never>'
  Effect.runPromise(WorkItems.get(item))

export const pageAsAList =
  // @ts-expect-error Property 'length' does not exist on type 'Page<WorkItemListed>'.
  Effect.map(WorkItems.list(), (items) => items.length)
