/**
 * The demo: starts a control room with two workers in this process, runs the flow over the real table of airports
 * through the public client over loopback HTTP, and prints the result. With `--console` it stays up afterwards, to be looked at
 * in a browser, and runs the flow durably, so that its execution is shown there too.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
import * as Files from "@signalbox/console/Files"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as TerminalProgress from "@signalbox/flows/TerminalProgress"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { join, relative } from "node:path"
import * as Embedded from "signalbox/Embedded"
import { summariseAirports } from "./flow.ts"
import { airports } from "./process.ts"
import { tasks } from "./tasks.ts"

const table = join(import.meta.dirname, "airports.csv")

const staysUp = process.argv.includes("--console")

/** Signs in whoever opens the address first, for ten minutes. */
const address = Effect.map(
  ConsoleTickets.create({ lifetime: "10 minutes" }),
  ({ url }) => Redacted.value(url)
)

type Input = typeof summariseAirports.input.Type
type Result = typeof summariseAirports.success.Type

const demo = Effect.fnUntraced(function* <E, R>(
  data: string,
  run: (input: Input) => Effect.Effect<Result, E, R>
) {
  const started = yield* Clock.currentTimeMillis
  const { origin } = yield* Embedded.Embedded
  yield* Console.log(`A control room runs at ${origin}, in the folder ${data}`)

  const folder = join(data, "outputs")
  const result = yield* run({ table, folder })

  const total = result.summaries.reduce(
    (sum, summary) => sum + summary.airports,
    0
  )
  const largest = [...result.summaries]
    .sort((a, b) => b.airports - a.airports)
    .slice(0, 5)
  const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000
  yield* Console.log(
    [
      "",
      "state  airports  northernmost",
      ...largest.map(
        ({ airports, northernmost, state }) =>
          `${state.padEnd(5)}  ${String(airports).padStart(8)}  ${northernmost.iata} ${northernmost.name}`
      ),
      `... and ${result.summaries.length - largest.length} more: ${total} airports in ${result.summaries.length} states and territories`,
      "",
      `${result.rejected.length} rows were rejected and marked done:`,
      ...result.rejected.map(({ code, message }) => `  ${code}: ${message}`),
      "",
      `The run ${result.run} is completed.`,
      `The table of each state is in ${relative("", folder)}`,
      `Done in ${seconds.toFixed(1)} s`
    ].join("\n")
  )
  if (!staysUp)
    return yield* Console.log(
      "Look at the run in a browser: npx -y pnpm@12 demo -- --console"
    )
  yield* Console.log(
    `\nLook at it: ${yield* address}\nCtrl-C ends the control room.`
  )
  return yield* Effect.never
})

const program = Effect.gen(function* () {
  const data = yield* Config.String("SIGNALBOX_DATA").pipe(
    Config.withDefault(".signalbox/demo")
  )
  const options = { data, port: 0, tasks, processes: [airports], workers: 2 }
  if (!staysUp) {
    return yield* Effect.provide(
      demo(data, (input) => Flow.run(summariseAirports, input)),
      Embedded.layer(options)
    )
  }
  const room = Layer.unwrap(
    Effect.gen(function* () {
      return Embedded.layer({
        ...options,
        console: yield* Files.read,
        flows: yield* FlowManagement.mounted
      })
    })
  )
  // In memory, so that each demo runs the flow anew.
  const durable = Flow.layer(summariseAirports).pipe(
    Layer.provideMerge(room),
    Layer.provideMerge(FlowEngine.layerMemory)
  )
  return yield* Effect.provide(
    demo(data, (input) => Flow.execute(summariseAirports, input)),
    durable
  )
})

program.pipe(
  Effect.provide(
    Layer.mergeAll(
      TerminalProgress.layer(),
      NodeServices.layer,
      Layer.succeed(References.MinimumLogLevel, "Warn")
    )
  ),
  NodeRuntime.runMain
)
