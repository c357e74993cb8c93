/**
 * The interpreter that a branch of a body calls: each operation is a function of the branch and the services of its execution.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { type Claimed, type Interpreter, segment, usedTwice } from "../../body/Position.ts"
import { type Branch, isCancelled } from "../Branches.ts"
import type { Caller, Services } from "./Caller.ts"
import * as Groups from "./Groups.ts"
import * as Says from "./Says.ts"
import * as Steps from "./Steps.ts"
import * as Waits from "./Waits.ts"

/** Claims a path. It becomes that of the calls of `Flow.compensate` around it that have none yet. */
const claim = (
  { branch, services: { names } }: Caller,
  prefix: string,
  name: string,
  key: string | undefined,
  repeats: boolean
): Effect.Effect<Claimed> =>
  Effect.suspend(() => {
    const base = prefix + segment(name, key)
    const numbered = names.get(base) ?? { count: 0, last: null }
    names.set(base, numbered)
    numbered.count++
    if (!repeats && numbered.count > 1) return Effect.die(usedTwice(base))
    const path = numbered.count === 1 ? base : `${base}#${numbered.count}`
    for (const region of branch.regions) region.path ??= path
    return Effect.succeed({ path, numbered: repeats ? numbered : null })
  })

/** Begins the next chapter when no operation is open any more. The branch stays parked until then. */
const continueAs = ({ branch, services }: Caller, input: Schema.Json): Effect.Effect<never> =>
  Effect.suspend(() =>
    // A cancelled execution has no next chapter, not even while a call runs to its end for its undo.
    isCancelled(branch)
      ? Effect.interrupt
      : services.branches.park<never, never>(branch, () => {
          services.continueAs(input)
          return { cancel: () => services.branches.interrupt(branch) }
        })
  )

export const interpreterOf = (branch: Branch, services: Services): Interpreter => {
  const caller: Caller = { branch, services }
  return {
    claim: (prefix, name, key, repeats) => claim(caller, prefix, name, key, repeats),
    step: (call) => Steps.step(caller, call),
    flow: (call) => Steps.flow(caller, call),
    sleep: (place, millis) => Waits.sleep(caller, place, millis),
    signal: (place, address, schema) => Waits.message(caller, "signal", place, address, schema),
    inbox: (place, address, schema) => Waits.message(caller, "inbox", place, address, schema),
    request: (place, address, schema) => Waits.request(caller, place, address, schema),
    answer: (answer) => Says.answer(caller, answer),
    patched: (place) => Waits.patched(caller, place),
    say: (address, saying) => Says.say(caller, address, saying),
    halt: (defect) => services.branches.broken(branch, Cause.die(defect)),
    continueAs: (input) => continueAs(caller, input),
    all: (members, concurrency) => Groups.all(caller, members, concurrency),
    race: (members) => Groups.race(caller, members),
    compensate: (prefix, call, undo) => Groups.compensate(caller, prefix, call, undo)
  }
}
