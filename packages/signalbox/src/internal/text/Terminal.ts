/**
 * The console of a terminal. Names, messages of failures and output of robots come from others, and could contain control
 * sequences that change the title, the clipboard, or what the terminal showed before.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const harmless = new Set(["\t", "\n", "\r"])

/** Replaces controls that a terminal would carry out; colors stay. */
export const shown = (text: string): string =>
  text.replaceAll(/(\p{Cc})(\[[\d;]*m)?/gu, (found: string, control: string, color = "") =>
    harmless.has(control) || (control === "\u001B" && color !== "") ? found : `\uFFFD${color}`
  )

type Method = "log" | "error"

const through = (console: Console.Console, method: Method, stream: { readonly isTTY?: boolean }) =>
  stream.isTTY === true
    ? (...values: ReadonlyArray<unknown>) =>
        Reflect.apply(
          console[method],
          console,
          values.map((value) => (typeof value === "string" ? shown(value) : value))
        )
    : console[method].bind(console)

/** What is not for a terminal is printed as it is. */
export const layer = Layer.effect(
  Console.Console,
  Effect.map(Effect.service(Console.Console), (console): Console.Console =>
    Object.assign(Object.create(console), {
      log: through(console, "log", process.stdout),
      error: through(console, "error", process.stderr)
    })
  )
)
