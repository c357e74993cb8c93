/**
 * `signalbox worker prepare` and `signalbox worker doctor`: environments of task packages on this machine.
 */
import * as Environments from "@signalbox/worker/Environments"
import * as Limits from "@signalbox/worker/Limits"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"
import { columns, orVariable, print } from "../Connection.ts"
import { environmentFlags, settingsOf } from "../EnvironmentFlags.ts"

const flags = {
  data: Flag.String("data").pipe(
    Flag.withDescription("The worker's own folder; default: SIGNALBOX_WORKER_DATA, else .signalbox-worker"),
    Flag.optional
  ),
  ...environmentFlags,
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, a line for each result"), Flag.withDefault(false))
}

const folderOf = (data: Option.Option<string>) =>
  Effect.map(orVariable(data, "SIGNALBOX_WORKER_DATA"), (folder) => join(folder ?? ".signalbox-worker", "environments"))

const packages = Argument.String("package").pipe(
  Argument.withDescription("The folder or the zip of a task package"),
  Argument.variadic()
)

export const prepare = Command.make(
  "prepare",
  {
    packages: packages.pipe(
      Argument.filter(
        (all) => all.length > 0,
        () => "name a folder or a zip"
      )
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ data, json, packages, ...given }) {
    const options = {
      folder: yield* folderOf(data),
      settings: yield* settingsOf(given),
      write: (lines: ReadonlyArray<string>) => (lines.length === 0 ? Effect.void : Console.error(lines.join("\n")))
    }
    for (const path of packages) {
      const prepared = yield* Environments.prepare(path, options)
      yield* print(json, { package: path, environment: prepared }, () => {
        if (prepared === null) return `${path} describes no environment`
        const how = prepared.cached ? "was built before" : `built in ${prepared.seconds.toFixed(1)} s`
        return `${path}: ${prepared.source} by ${prepared.provider}, ${how} (${prepared.digest.slice(0, 12)})`
      })
    }
  })
).pipe(
  Command.withDescription("Builds the environments of task packages ahead of their first step run"),
  Command.withExamples([
    { command: "signalbox worker prepare robots/invoices", description: "The next run starts without a build" },
    {
      command: "signalbox worker prepare invoices.zip --wheels /srv/wheels --data /srv/worker",
      description: "Without internet, for the worker of that folder"
    }
  ])
)

const sayOf = ({ provider, refusal, version }: Environments.Opinion) =>
  columns(
    [provider, 10],
    [version ?? "not there", 24],
    [refusal === null || version === null ? "" : `would not build it: ${refusal}`, 0]
  )

const limitLines = ({ memory, processes }: Limits.Enforcement) =>
  [
    ["CPU time, open files, size of files", processes],
    ["memory", memory]
  ].map(([what, why]) => columns([what ?? "", 36], [why === null ? "enforced" : `not enforced: ${why}`, 0]))

export const doctor = Command.make(
  "doctor",
  { packages, ...flags },
  Effect.fnUntraced(function* ({ data, json, packages, ...given }) {
    const options = { folder: yield* folderOf(data), settings: yield* settingsOf(given) }
    const paths: ReadonlyArray<string | null> = packages.length === 0 ? [null] : packages
    for (const path of paths) {
      const { opinions, source } = yield* Environments.inspect(path, options)
      const builder = source === null ? null : (opinions.find(({ refusal }) => refusal === null)?.provider ?? null)
      const limits = path === null ? yield* Limits.inspect : null
      const found = { package: path, source, builder, tools: opinions, ...(limits === null ? {} : { limits }) }
      yield* print(json, found, () => {
        const title =
          path === null
            ? []
            : [source === null ? `${path} describes no environment` : `${path}: ${source} by ${builder ?? "no tool"}`]
        const lines = limits === null ? [] : ["Limits of tasks:", ...limitLines(limits)]
        return [...title, ...opinions.map(sayOf), ...lines].join("\n")
      })
    }
  })
).pipe(
  Command.withDescription(
    "Says which tools build environments on this machine and which would build those of packages, and what it can limit"
  ),
  Command.withExamples([
    { command: "signalbox worker doctor", description: "Which tools are there, and which limits can be enforced" },
    {
      command: "signalbox worker doctor robots/invoices",
      description: "What would build its environment, or why nothing"
    }
  ])
)
