/** `signalbox doctor`: what keeps this machine and the connection from working. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeTransport from "@signalbox/transport/node"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Option from "effect/Option"
import { connected, connectionFlags } from "../../connection/Connection.ts"
import * as DoctorChecks from "./DoctorChecks.ts"
import * as Problem from "../../output/Problem.ts"
import * as Server from "../../settings/Server.ts"
import { flagsOf, type Given } from "../../settings/Setting.ts"

/** Something does not work. */
export class NotWell extends TaggedError<NotWell>()("NotWell", { message: Schema.String }) {}

const lineOf = ({ check, message, remedy, status }: DoctorChecks.Finding) =>
  `${status.padEnd(4)}  ${check.padEnd(11)}  ${message}${remedy === null ? "" : `: ${remedy}`}`

export const doctor = Command.make(
  "doctor",
  {
    place: flagsOf({
      host: {
        ...Server.server.host,
        description:
          "The address to check; default: SIGNALBOX_HOST, or the address of the control room of the data folder"
      },
      port: {
        ...Server.server.port,
        description: "The port to check; default: SIGNALBOX_PORT, or the port of the control room of the data folder"
      }
    }),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, place }) {
    const folder = Option.map(data, (text): Given => ({ source: "flag", text }))
    const settings = yield* Server.read({ ...place, data: Option.getOrUndefined(folder) })
    const isPortChosen = Object.values(place).some((given) => given !== null)
    const ofConnection = connected(data)(DoctorChecks.ofConnection).pipe(
      Effect.catchCause((cause) =>
        Effect.succeed([
          {
            check: "connection",
            status: "fail",
            message: Problem.ofCause(cause),
            remedy: null
          } satisfies DoctorChecks.Finding
        ])
      )
    )
    const dead = yield* DoctorChecks.ofDeadFolder(settings)
    const findings =
      dead === null ? [...(yield* DoctorChecks.ofMachine(settings, isPortChosen)), ...(yield* ofConnection)] : [dead]
    for (const finding of findings) yield* Console.log(json ? JSON.stringify(finding) : lineOf(finding))
    const wrong = findings.filter(({ status }) => status === "fail").map(({ check }) => check)
    if (wrong.length > 0) return yield* new NotWell({ message: `checks failed: ${wrong.join(", ")}` })
  }, Effect.provide(NodeTransport.layer))
).pipe(
  Command.withDescription(
    "Checks Node, the data folder, disk, port, database, connection, clock, permissions, workers and nodes, and prints remedies. Exits with 1 when a check fails"
  ),
  Command.withExamples([
    { command: "signalbox doctor", description: "Print a line for each check: ok, warn or fail, with the remedy" },
    { command: "signalbox doctor --port 8080", description: "Check whether `up --port 8080` can listen" },
    { command: "signalbox doctor --context staging --json", description: "Print JSON; check another control room" }
  ])
)
