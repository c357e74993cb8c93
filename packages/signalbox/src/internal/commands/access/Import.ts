/** `signalbox import`: brings what another room has into a workspace. */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoomError } from "@signalbox/api/ControlRoomError"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { askedKey } from "../../connection/AskedKey.ts"
import { connected, connectionFlags } from "../../connection/Connection.ts"
import { type Gap, Gaps } from "../../import/Gaps.ts"
import * as Plan from "../../import/Plan.ts"
import * as Reading from "../../import/Reading.ts"
import * as Report from "../../import/Report.ts"
import { shown } from "../../import/Shown.ts"
import { Source } from "../../import/Source.ts"
import type { ImportStep } from "../../import/Step.ts"
import * as Problem from "../../output/Problem.ts"
import { exitCodes } from "../../process/ExitCodes.ts"
import { confirm, yesFlag } from "../../resources/Confirm.ts"

/** Not all of the source is in the workspace. */
export class Incomplete extends TaggedError<Incomplete>()("Incomplete", { message: Schema.String }) {
  readonly exitCode = exitCodes.incomplete
}

/** The workspace cannot be changed any further. */
export class ImportStopped extends TaggedError<ImportStopped>()("ImportStopped", { message: Schema.String }) {}

const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const Address = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
      return "Expected an absolute http or https address, such as https://room.example.com"
    }
    const { hash, password, search, username } = new URL(text)
    return username + password + search + hash === "" || "Expected an address without credentials, query and fragment"
  })
)

/** Failures of the room or the connection, and not of what is written: nothing after them would work. */
const isFatal = (error: unknown) =>
  error instanceof ControlRoomError && ["Unreachable", "Timeout", "Unauthorized"].includes(error.reason._tag)

/** Runs the steps in order. One that is refused is reported, and the others go on. */
const carryOut = Effect.fnUntraced(function* (steps: ReadonlyArray<ImportStep>, replace: boolean) {
  const lines: Array<Report.Line> = []
  const refused: Array<Gap> = []
  for (const step of steps) {
    const { action, detail, kind, name } = step
    if (action === "unchanged" || action === "different" || (action === "change" && !replace)) {
      lines.push(Report.planned(step, replace))
      continue
    }
    const exit = yield* Effect.exit(step.run)
    if (Exit.isSuccess(exit)) {
      lines.push({ status: action === "create" ? "created" : "replaced", kind, name, detail })
      continue
    }
    if (Cause.hasInterrupts(exit.cause)) return yield* Effect.interrupt
    const why = Problem.ofCause(exit.cause)
    if (isFatal(Cause.squash(exit.cause))) {
      return yield* new ImportStopped({
        message: `${kind} ${shown(name)} failed: ${shown(why)}; done: ${Report.summary(lines)}; import again to continue`
      })
    }
    refused.push({ kind, name, why })
  }
  return { lines, refused }
})

export const importRoom = Command.make(
  "import",
  {
    from: Flag.String("from").pipe(
      Flag.withDescription("The address of the control room to import from"),
      Flag.withSchema(Address)
    ),
    workspace: Flag.String("workspace").pipe(
      Flag.withDescription("The id of the workspace there"),
      Flag.withSchema(WorkspaceId)
    ),
    packages: Flag.String("package").pipe(
      Flag.withDescription(
        "The id of a task package, where the control room does not list them; may be repeated. Those of assistants are found"
      ),
      Flag.withMetavar("ID"),
      Flag.atLeast(0)
    ),
    items: flag("items", "Also import new work items with their files"),
    secrets: flag("secrets", "Also import values of secrets; needs a key that may read them"),
    replace: flag("replace", "Replace what exists and differs"),
    processesFile: Flag.String("processes-file").pipe(
      Flag.withDescription("Where to write processes of a control room that does not show what their steps run"),
      Flag.withDefault("processes.yaml")
    ),
    allowPrivate: flag(
      "allow-private-targets",
      "Also download files from private addresses, when the control room names them"
    ),
    dryRun: flag("dry-run", "Show the plan and change nothing"),
    yes: yesFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ allowPrivate, data, dryRun, from, json, packages, workspace, yes, ...options }) {
    const { replace } = options
    const key = yield* askedKey("SIGNALBOX_IMPORT_KEY", `The key of the workspace at ${new URL(from).origin}`)
    const gaps = new Gaps()
    const program = Effect.gen(function* () {
      const reading = yield* Reading.read(packages, gaps)
      const steps = yield* Plan.make(reading, options, gaps)
      const plan = [...steps.map((step) => Report.planned(step, replace)), ...gaps.found.map(Report.ofGap)]
      const hasWork = plan.some(({ status }) => status === "create" || status === "replace")
      const isOnlyPlanned = dryRun || !hasWork
      if (isOnlyPlanned || !json) yield* Report.print(plan, json)
      if (!json) yield* Console.log(`Plan for ${shown(reading.workspace)}: ${Report.summary(plan)}.`)
      if (isOnlyPlanned) return plan
      yield* confirm("import this", yes)
      const { lines, refused } = yield* carryOut(steps, replace)
      const all = [...lines, ...[...gaps.found, ...refused].map(Report.ofGap)]
      yield* Report.print(all, json)
      if (!json) yield* Console.log(`Imported: ${Report.summary(all)}.`)
      return all
    })
    const source = Source.layer({ from: new URL(from), workspace, key, allowPrivate })
    const lines = yield* connected(data)(Effect.scoped(Effect.provide(program, source)))
    const left = lines.filter(({ status }) => status === "different" || status === "not to be had")
    if (left.length > 0) {
      return yield* new Incomplete({ message: `not everything is here: ${Report.summary(left)}; the report says why` })
    }
  })
).pipe(
  Command.withDescription(
    "Imports assets, packages, processes and other resources from another control room, the hosted service included. What acts arrives switched off"
  ),
  Command.withExamples([
    {
      command: "signalbox import --from https://room.example.com --workspace 0199a1b2-... --dry-run",
      description: "Show the plan; the key is in SIGNALBOX_IMPORT_KEY, or asked for"
    },
    {
      command: "signalbox import --from https://room.example.com --workspace 0199a1b2-... --items --secrets --yes",
      description: "Also import new work items and values of secrets; a second import finds all equal"
    }
  ])
)
