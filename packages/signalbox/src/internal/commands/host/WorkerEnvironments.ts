/**
 * `signalbox worker prepare`, `signalbox worker doctor` and `signalbox worker environments`: environments of task packages on this machine.
 */
import * as Environments from "@signalbox/worker/Environments"
import * as Limits from "@signalbox/worker/Limits"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"
import { columns, print } from "../../connection/Connection.ts"
import * as EnvironmentSettings from "../../settings/Environments.ts"
import { type AllGiven, flagsOf, read } from "../../settings/Setting.ts"
import { home } from "../../settings/Worker.ts"

const stored = {
  home: flagsOf({ data: { ...home.data, description: "The folder of the worker" } }),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, a line for each result"), Flag.withDefault(false))
}
const flags = { ...stored, environments: flagsOf(EnvironmentSettings.environments) }

const write = (lines: ReadonlyArray<string>) => (lines.length === 0 ? Effect.void : Console.error(lines.join("\n")))

const folderOf = (given: AllGiven) => Effect.map(read(home, given), ({ data }) => join(data, "environments"))

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
        () => "expected a folder or a zip of a task package"
      )
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ environments, home, json, packages }) {
    const options = {
      folder: yield* folderOf(home),
      settings: yield* EnvironmentSettings.read(environments),
      write
    }
    for (const path of packages) {
      const prepared = yield* Environments.prepare(path, options)
      yield* print(json, { package: path, environment: prepared }, () => {
        if (prepared === null) return `${path} describes no environment`
        const how = prepared.cached ? "already built" : `built in ${prepared.seconds.toFixed(1)} s`
        return `${path}: ${prepared.source} by ${prepared.provider}, ${how} (${prepared.digest.slice(0, 12)})`
      })
    }
  })
).pipe(
  Command.withDescription("Builds the environments of task packages before their first step run"),
  Command.withExamples([
    { command: "signalbox worker prepare robots/invoices", description: "Build the environment before the next run" },
    {
      command: "signalbox worker prepare invoices.zip --wheels /srv/wheels --data /srv/worker",
      description: "Build without internet, for the worker of the folder"
    }
  ])
)

const sayOf = ({ provider, refusal, version }: Environments.Opinion) =>
  columns(
    [provider, 10],
    [version ?? "not installed", 24],
    [refusal === null || version === null ? "" : `cannot build it: ${refusal}`, 0]
  )

const limitLines = ({ memory, processes }: Limits.Enforcement) =>
  [
    ["CPU time, open files, size of files", processes],
    ["memory", memory]
  ].map(([what, why]) => columns([what ?? "", 36], [why === null ? "enforced" : `not enforced: ${why}`, 0]))

export const doctor = Command.make(
  "doctor",
  { packages, ...flags },
  Effect.fnUntraced(function* ({ environments, home, json, packages }) {
    const options = { folder: yield* folderOf(home), settings: yield* EnvironmentSettings.read(environments) }
    const paths: ReadonlyArray<string | null> = packages.length === 0 ? [null] : packages
    for (const path of paths) {
      const { opinions, source } = yield* Environments.inspect(path, options)
      const builder = source === null ? null : (opinions.find(({ refusal }) => refusal === null)?.provider ?? null)
      const limits = path === null ? yield* Limits.inspect : null
      const found = { package: path, source, builder, tools: opinions, limits: limits ?? undefined }
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
    "Shows the tools that build environments on this machine, the tool used for each package, and the enforced limits"
  ),
  Command.withExamples([
    { command: "signalbox worker doctor", description: "Show tools and enforced limits" },
    {
      command: "signalbox worker doctor robots/invoices",
      description: "Show the tool that builds the environment, or why none can"
    }
  ])
)

const digests = Argument.String("digest").pipe(
  Argument.withDescription("The digest of an environment, or its first characters"),
  Argument.variadic(),
  Argument.filter(
    (all) => all.length > 0,
    () => "expected the digest of an environment: see `signalbox worker environments list`"
  )
)

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`

const list = Command.make(
  "list",
  stored,
  Effect.fnUntraced(function* ({ home, json }) {
    const folder = yield* folderOf(home)
    for (const one of yield* Environments.list({ folder })) {
      yield* print(json, one, () =>
        columns(
          [one.digest.slice(0, 12), 12],
          [one.provider, 10],
          [megabytes(one.bytes), 9],
          [`used ${one.last_used_at}`, 29],
          [one.in_use ? "in use by a step run" : "", 0]
        )
      )
    }
  })
).pipe(
  Command.withDescription(
    "Lists the environments of a worker, last used first; with --json also the installed packages"
  ),
  Command.withExamples([
    {
      command: "signalbox worker environments list --data /srv/worker",
      description: "Show the size and the last use of each environment"
    }
  ])
)

const rebuild = Command.make(
  "rebuild",
  { digests, ...flags },
  Effect.fnUntraced(function* ({ digests, environments, home, json }) {
    const options = { folder: yield* folderOf(home), settings: yield* EnvironmentSettings.read(environments), write }
    for (const digest of digests) {
      const built = yield* Environments.rebuild(digest, options)
      yield* print(
        json,
        built,
        () => `${built.digest.slice(0, 12)}: rebuilt by ${built.provider} in ${built.seconds.toFixed(1)} s`
      )
    }
  })
).pipe(
  Command.withDescription(
    "Rebuilds environments; running step runs continue with the old one, and later step runs use the new one"
  ),
  Command.withExamples([
    {
      command: "signalbox worker environments rebuild 3fa8c1",
      description: "Rebuild with the same flags as the worker"
    }
  ])
)

const remove = Command.make(
  "remove",
  { digests, ...stored },
  Effect.fnUntraced(function* ({ digests, home, json }) {
    const folder = yield* folderOf(home)
    for (const begin of digests) {
      const digest = yield* Environments.remove(begin, { folder })
      yield* print(json, { digest, removed: true }, () => `${digest.slice(0, 12)}: removed`)
    }
  })
).pipe(
  Command.withDescription(
    "Removes environments that no step run uses; the next step run that needs one builds it again"
  ),
  Command.withExamples([
    {
      command: "signalbox worker environments remove 3fa8c1",
      description: "Remove the environment and free its disk space"
    }
  ])
)

export const environments = Command.make("environments").pipe(
  Command.withDescription("Lists, rebuilds and removes the environments of a worker"),
  Command.withSubcommands([list, rebuild, remove])
)
