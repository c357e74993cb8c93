/** The question before something is destroyed. */
import { TaggedError } from "@signalbox/transport/Printed"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { ConnectionName } from "../connection/Connection.ts"

/** The question was answered with no, or there was nowhere to ask it. */
export class NotConfirmed extends TaggedError<NotConfirmed>()("NotConfirmed", { message: Schema.String }) {}

/** The flag of commands that ask. */
export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withDescription("Do not ask for confirmation; needed without a terminal"),
  Flag.withDefault(false)
)

/** Asks on the terminal, which has to be one. */
export const ask = Effect.fn("ask")(function* (what: string, where: string) {
  const answer = yield* Effect.orElseSucceed(
    Prompt.Confirm({ message: `${what.slice(0, 1).toUpperCase()}${what.slice(1)} (${where})?` }),
    // Ctrl-C.
    () => false
  )
  if (!answer) return yield* new NotConfirmed({ message: "nothing was changed" })
})

/** Asks on a terminal whether to go on, and says in which control room. Elsewhere `--yes` has to be given. */
export const confirm = Effect.fn("confirm")(function* (what: string, yes: boolean) {
  if (yes) return
  const { baseUrl, workspaceId } = yield* ControlRoom
  const where = `workspace ${workspaceId} at ${baseUrl}, of ${yield* ConnectionName}`
  if (!(yield* TerminalCapabilities).canPrompt) {
    return yield* new NotConfirmed({
      message: `nothing was changed: add --yes to ${what} (${where}), since there is no terminal to ask for confirmation`
    })
  }
  yield* ask(what, where)
})
