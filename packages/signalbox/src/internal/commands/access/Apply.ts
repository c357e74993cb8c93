/** `signalbox apply`: changes a workspace to match a file. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { dirname } from "node:path"
import { ApplyFileError, load } from "../../apply/Document.ts"
import * as Module from "../../apply/Module.ts"
import * as Plan from "../../apply/Plan.ts"
import type { Step } from "../../apply/Step.ts"
import { confirm, yesFlag } from "../../resources/Confirm.ts"
import { columns, connected, connectionFlags } from "../../connection/Connection.ts"
import * as ModuleFile from "../../files/ModuleFile.ts"
import * as Problem from "../../output/Problem.ts"

/** A step failed; earlier ones remain in effect, later ones were not tried. */
export class ApplyFailed extends TaggedError<ApplyFailed>()("ApplyFailed", { message: Schema.String }) {}

/** `--check`: the workspace is not what the file says. */
export class Drift extends TaggedError<Drift>()("Drift", { message: Schema.String }) {}

type Status = "planned" | "unchanged" | "done" | "failed" | "not done"

const marks = { create: "+", change: "~", delete: "-", unchanged: "=" } as const

const line = ({ action, detail, kind, name }: Step) =>
  columns([marks[action], 1], [action, 9], [kind, 12], [name, 0], [detail === "" ? "" : `(${detail})`, 0])

const tell = (json: boolean, step: Step, status: Status, error?: string) => {
  const { action, detail, kind, name } = step
  if (json) return Console.log(JSON.stringify({ action, kind, name, detail, status, error }))
  return status === "done" ? Console.log(`done: ${action} ${kind} ${name}`) : Effect.void
}

const count = (steps: ReadonlyArray<Step>, action: Step["action"]) =>
  steps.filter((step) => step.action === action).length

/** The plan in the form for people. */
const showPlan = Effect.fnUntraced(function* ({ besides, dependents, steps }: Plan.Plan) {
  for (const step of steps) yield* Console.log(line(step))
  const counts = [
    `${count(steps, "create")} to create`,
    `${count(steps, "change")} to change`,
    `${count(steps, "delete")} to delete`,
    `${count(steps, "unchanged")} unchanged`
  ]
  yield* Console.log(`Plan: ${counts.join(", ")}.`)
  if (besides > 0) yield* Console.log(`${besides} more in the workspace are not in the file; --prune deletes them.`)
  if (dependents !== "")
    yield* Console.log(`--prune also needs --with-dependents: these depend on deleted processes: ${dependents}.`)
})

const named = (steps: ReadonlyArray<Step>) =>
  steps.length === 0 ? "nothing" : steps.map(({ action, kind, name }) => `${action} ${kind} ${name}`).join(", ")

/** Runs the steps in order; the first failure ends it. */
const carryOut = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, json: boolean) {
  for (const [index, step] of steps.entries()) {
    const exit = yield* Effect.exit(step.run)
    if (Exit.isSuccess(exit)) {
      yield* tell(json, step, "done")
      continue
    }
    const error = Problem.ofCause(exit.cause)
    const rest = steps.slice(index + 1)
    yield* tell(json, step, "failed", error)
    for (const other of rest) yield* tell(json, other, "not done")
    return yield* new ApplyFailed({
      message: `${named([step])} failed: ${error}; done: ${named(steps.slice(0, index))}; not done: ${named(rest)}; apply again to continue`
    })
  }
})

export const apply = Command.make(
  "apply",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("A YAML or JSON file, or a TypeScript module; see the README of signalbox")
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withAlias("plan"),
      Flag.withDescription("Show the plan and change nothing"),
      Flag.withDefault(false)
    ),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Like --dry-run; exits with 1 when there are changes"),
      Flag.withDefault(false)
    ),
    waiting: Flag.Literals("waiting", ["keep", "delete"]).pipe(
      Flag.withDescription("How to handle waiting items whose step a process of a module removes or changes"),
      Flag.optional
    ),
    prune: Flag.Boolean("prune").pipe(
      Flag.withDescription(
        "Delete resources that the file does not name, in the sections of the file. Irreversible: asks first, or needs --yes"
      ),
      Flag.withDefault(false)
    ),
    withDependents: Flag.Boolean("with-dependents").pipe(
      Flag.withDescription(
        "With --prune: also delete webhooks, schedules, triggers and alerts of deleted processes in sections that the file does not have"
      ),
      Flag.withDefault(false)
    ),
    rewriteSecrets: Flag.Boolean("rewrite-secrets").pipe(
      Flag.withDescription("Also write the values of existing secrets, which cannot be compared"),
      Flag.withDefault(false)
    ),
    yes: yesFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({
    check,
    data,
    dryRun,
    file,
    json,
    prune,
    rewriteSecrets,
    waiting,
    withDependents,
    yes
  }) {
    if (withDependents && !prune) {
      return yield* new ApplyFileError({ message: "--with-dependents: needs --prune, which deletes the processes" })
    }
    const { code, document } = ModuleFile.isModule(file)
      ? yield* Module.load(file)
      : { code: new Map<string, never>(), document: yield* load(file) }
    const program = Effect.gen(function* () {
      const plan = yield* Plan.make(document, {
        folder: dirname(file),
        prune,
        withDependents,
        rewriteSecrets,
        code: {
          processes: code,
          waiting: Option.match(waiting, { onNone: () => ({}), onSome: (waiting) => ({ waiting }) })
        }
      })
      const work = plan.steps.filter(({ action }) => action !== "unchanged")
      const kept = plan.steps.filter(({ action }) => action === "unchanged")
      if (json) for (const step of kept) yield* tell(json, step, "unchanged")
      else yield* showPlan(plan)
      if (dryRun || check) {
        yield* Effect.forEach(work, (step) => tell(json, step, "planned"), { discard: true })
        if (!check || work.length === 0) return
        return yield* new Drift({ message: `the workspace differs from ${file}: ${named(work)}; apply the file` })
      }
      if (work.length === 0) return json ? undefined : yield* Console.log("No changes.")
      const deleted = count(work, "delete")
      if (deleted > 0) yield* confirm(`apply this, and delete ${deleted} that the file does not name`, yes)
      return yield* carryOut(work, json)
    })
    return yield* connected(data)(Effect.scoped(program))
  })
).pipe(
  Command.withDescription(
    "Applies a file in YAML, JSON or TypeScript: changes the packages, groups, processes, assistants, assets, secrets, webhooks, schedules, triggers and alerts of the workspace to match it"
  ),
  Command.withExamples([
    { command: "signalbox apply workspace.yaml --dry-run", description: "Show the plan" },
    { command: "signalbox apply workspace.yaml", description: "Apply the plan; a second run makes no changes" },
    { command: "signalbox apply workspace.ts --check", description: "In CI: fail when the workspace differs" },
    {
      command: "signalbox apply workspace.yaml --prune --yes --json",
      description: "Also delete what the file does not name; print JSON"
    }
  ])
)
