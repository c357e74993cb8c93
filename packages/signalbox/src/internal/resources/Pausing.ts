/** `pause` and `resume` of a kind of resource. */
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { Paused, PauseState } from "@signalbox/api/contract/Pauses"
import { defined } from "@signalbox/transport/Defined"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { find, nameArgument, NameError, type Noun } from "./Resource.ts"

type Call = Effect.Effect<PauseState, CallError | NameError, ControlRoom>

interface Pausable<Listed> {
  /** `step`: the name or id of a step, if one was given. */
  readonly pause: (listed: Listed, options: { readonly note?: string; readonly step?: string }) => Call
  readonly resume: (listed: Listed, options: { readonly step?: string }) => Call
}

/** What a list says of a pause. */
export const pausedText = (paused: Paused | null) =>
  paused === null ? "" : ["paused", ...(paused.note === null ? [] : [paused.note])].join(": ")

/** `pause` and `resume`; those of processes take a step as well. */
export const pauseCommands = <Listed>(noun: Noun<Listed>, { pause, resume }: Pausable<Listed>, steps: boolean) => {
  const name = { name: nameArgument(noun) }
  const step = Flag.String("step").pipe(
    Flag.withDescription("Only this step of the process, by its name or its id"),
    Flag.optional
  )
  const note = Flag.String("note").pipe(Flag.withDescription("The reason, shown to other users"), Flag.optional)
  const flags = { ...name, ...connectionFlags, step: steps ? step : Flag.map(step, () => Option.none<string>()) }
  const stepOf = (given: Option.Option<string>) => (Option.isNone(given) ? {} : { step: given.value })
  const say = (json: boolean, listed: Listed, given: Option.Option<string>, what: string, state: PauseState) =>
    Console.log(
      json
        ? JSON.stringify({ id: noun.idOf(listed), name: noun.nameOf(listed), ...stepOf(given), ...state })
        : `${what} ${noun.one} ${noun.nameOf(listed)}${Option.isNone(given) ? "" : `, step ${given.value}`}`
    )
  return [
    Command.make(
      "pause",
      { ...flags, note },
      Effect.fnUntraced(function* ({ data, json, name, note, step }) {
        const program = Effect.gen(function* () {
          const listed = yield* find(noun, name)
          const options = { ...stepOf(step), ...defined({ note: Option.getOrUndefined(note) }) }
          yield* say(json, listed, step, "paused", yield* pause(listed, options))
        })
        yield* connected(data)(program)
      })
    ).pipe(
      Command.withDescription(`Pauses a ${noun.one}: step runs in progress continue, and workers receive no more work`),
      Command.withExamples([
        {
          command: `signalbox ${noun.command} pause NAME --note "maintenance until noon"`,
          description: "Pause with a reason"
        }
      ])
    ),
    Command.make(
      "resume",
      flags,
      Effect.fnUntraced(function* ({ data, json, name, step }) {
        const program = Effect.gen(function* () {
          const listed = yield* find(noun, name)
          yield* say(json, listed, step, "resumed", yield* resume(listed, stepOf(step)))
        })
        yield* connected(data)(program)
      })
    ).pipe(
      Command.withDescription(`Resumes a ${noun.one} that is paused`),
      Command.withExamples([{ command: `signalbox ${noun.command} resume NAME`, description: "By its name or its id" }])
    )
  ] as const
}
