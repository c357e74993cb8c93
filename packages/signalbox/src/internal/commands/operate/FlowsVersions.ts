/** `signalbox flows versions`: the versions of flows, and which of them may be deleted from the code. */
import type { VersionStatus } from "@signalbox/flows/FlowExecutions"
import { onWire } from "@signalbox/flows/FlowManagementClient"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { connected, flags } from "../../connection/FlowsConnection.ts"
import { durationOf } from "../../output/FlowReport.ts"
import { table } from "../../text/Table.ts"

const processesOf = ({ processes }: VersionStatus): string => {
  const draining = processes.filter(({ draining }) => draining).length
  const hosts = [...new Set(processes.map(({ host }) => host))].join(", ")
  const drains = draining === 0 ? "" : draining === processes.length ? ", draining" : `, ${draining} draining`
  return processes.length === 0 ? "none" : `${processes.length} on ${hosts}${drains}`
}

const rowOf =
  (now: number) =>
  (status: VersionStatus): ReadonlyArray<string> => {
    const { executions, flow, newest, oldest, removable, unended, version } = status
    const states = Object.entries(executions).filter(([, count]) => count > 0)
    return [
      `${flow}@${version}`,
      newest ? "newest" : "",
      `${unended}`,
      states.map(([state, count]) => `${count} ${state}`).join(", "),
      oldest === null ? "" : `${new Date(oldest).toISOString()} (${durationOf(now - oldest)})`,
      processesOf(status),
      removable ? "yes" : "no"
    ]
  }

const head = ["version", "", "unended", "by state", "oldest start", "processes", "removable"]

export const versions = Command.make(
  "versions",
  {
    flow: Argument.String("flow").pipe(
      Argument.withDescription("The name of a flow; default: all flows"),
      Argument.optional
    ),
    ...flags
  },
  ({ flow, json, url }) =>
    connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const all = yield* flows.versions(Option.getOrUndefined(flow))
        if (json)
          return yield* Effect.forEach(all, (one) => Console.log(JSON.stringify(onWire.version(one))), {
            discard: true
          })
        const now = yield* Clock.currentTimeMillis
        yield* Console.log(all.length === 0 ? "No versions" : table(head, all.map(rowOf(now))))
      })
    )
).pipe(
  Command.withDescription(
    "Lists the versions of flows: executions that have not ended, the processes that run them, and whether the code may be deleted"
  ),
  Command.withExamples([
    { command: "signalbox flows versions", description: "List the versions of all flows" },
    { command: "signalbox flows versions payments --json", description: "Print JSON for one flow" }
  ])
)
