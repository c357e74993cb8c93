/** `signalbox open`: opens the console in the browser of this machine, signed in. */
import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { connected, connectionFlags } from "../../connection/Connection.ts"

/** The program of each system that opens an address in the browser of its user. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...ReadonlyArray<string>]>> = {
  darwin: ["open"],
  linux: ["xdg-open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
}

/** Whether a browser was started. Where there is no desktop, there is none to start. */
const openBrowser = Effect.fnUntraced(
  function* (url: string) {
    const opener = openers[process.platform]
    if (opener === undefined) return false
    const [program, ...args] = opener
    const spawner = yield* ChildProcessSpawner
    const options = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const
    return (yield* spawner.exitCode(ChildProcess.make(program, [...args, url], options))) === 0
  },
  Effect.timeout("10 seconds"),
  Effect.orElseSucceed(() => false)
)

export const open = Command.make(
  "open",
  {
    print: Flag.Boolean("print").pipe(
      Flag.withDescription("Print the address instead of starting a browser"),
      Flag.withDefault(false)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, print }) {
    const { expires_at, url } = yield* connected(data)(ConsoleTickets.create())
    const address = Redacted.value(url)
    if (json) return yield* Console.log(JSON.stringify({ url: address, expires_at }))
    if (!print && (yield* openBrowser(address))) {
      return yield* Console.log("The console is open in your browser")
    }
    yield* Console.log(address)
    yield* Console.error("Open it within a minute; it works once")
  })
).pipe(
  Command.withDescription("Opens the console in your browser, signed in with the key of the connection"),
  Command.withExamples([
    { command: "signalbox open", description: "Open the console of the control room of this folder" },
    { command: "signalbox open --print", description: "Print the address, for the browser of another machine" }
  ])
)
