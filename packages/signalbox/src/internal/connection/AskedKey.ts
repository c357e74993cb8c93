/** A key of a workspace, from a variable or a prompt; never from a flag, which others could see. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Prompt from "effect/cli/Prompt"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { variable } from "../settings/FlagValues.ts"

/** There is no key. */
export class NoKey extends TaggedError<NoKey>()("NoKey", { message: Schema.String }) {}

/** `what`: which key, as the prompt asks for it. */
export const askedKey = Effect.fnUntraced(function* (name: string, what: string) {
  const key = yield* variable(name)
  if (key !== null) return Redacted.make(key)
  const missing = (problem: string) => new NoKey({ message: `${problem}: set ${name} to a key of the workspace` })
  if (!(yield* TerminalCapabilities).canPrompt) return yield* missing("there is no terminal to ask for the key")
  return yield* Effect.mapError(Prompt.Password({ message: what }), () => missing("no key was given"))
})
