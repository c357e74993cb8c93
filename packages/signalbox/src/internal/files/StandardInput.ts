/** What is piped into a command. */
import * as Effect from "effect/Effect"
import { Stdio } from "effect/Stdio"
import * as Stream from "effect/Stream"

/** Reads all of standard input as text. */
export const readStandardInput = Effect.flatMap(Stdio, ({ stdin }) => Stream.mkString(Stream.decodeText(stdin)))
