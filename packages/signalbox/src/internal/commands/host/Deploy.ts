/** `signalbox deploy files`: the deployment files of this version, without a clone of the repository. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { dirname, join } from "node:path"
import * as DeployFiles from "../../files/DeployFiles.ts"

/** Writes the files of a kind and returns those that were not there as they are. It changes nothing where it refuses. */
const write = Effect.fnUntraced(function* (kind: DeployFiles.DeployKind, folder: string, force: boolean) {
  const fs = yield* FileSystem.FileSystem
  const files = yield* DeployFiles.read(kind)
  const compared = yield* Effect.forEach(files, ({ path, text }) =>
    Effect.gen(function* () {
      const place = join(folder, path)
      const before = (yield* fs.exists(place)) ? yield* fs.readFileString(place) : undefined
      return { path, text, place, before }
    })
  )
  const changed = compared.filter(({ before, text }) => before !== undefined && before !== text)
  if (changed.length > 0 && !force) {
    const names = changed.map(({ path }) => path).join(", ")
    return yield* new DeployFiles.DeployFilesError({
      message: `${folder} already has different versions of ${names}; nothing was written: choose another folder with --out, or replace the files with --force`
    })
  }
  const written = compared.filter(({ before, text }) => before !== text)
  for (const { place, text } of written) {
    yield* fs.makeDirectory(dirname(place), { recursive: true })
    yield* fs.writeFileString(place, text)
  }
  return written.map(({ place }) => place)
})

const files = Command.make(
  "files",
  {
    kind: Argument.Literals("kind", DeployFiles.deployKinds).pipe(Argument.withDescription("The kind of deployment")),
    out: Flag.String("out").pipe(
      Flag.withDescription("The folder to write to; default: the name of the kind"),
      Flag.optional
    ),
    force: Flag.Boolean("force").pipe(Flag.withDescription("Replace files that differ"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ force, kind, out }) {
    const folder = Option.getOrElse(out, () => kind)
    const written = yield* Effect.catchTag(write(kind, folder, force), "PlatformError", ({ message }) =>
      Effect.fail(
        new DeployFiles.DeployFilesError({
          message: `cannot write to ${folder}: ${message}; check --out and its permissions`
        })
      )
    )
    for (const place of written) yield* Console.log(`wrote ${place}`)
    if (written.length === 0) yield* Console.log(`${folder} already has these files`)
    yield* Console.log(["Next:", ...DeployFiles.nextCommands(kind, folder).map((line) => `  ${line}`)].join("\n"))
  })
).pipe(
  Command.withDescription(
    "Writes the deployment files of this version: units, images with a compose file, manifests, a chart, proxies, monitoring"
  ),
  Command.withExamples([
    {
      command: "signalbox deploy files compose",
      description: "Write compose.yaml and the Dockerfiles to ./compose"
    },
    { command: "signalbox deploy files helm --out chart", description: "Write the Helm chart to ./chart" },
    { command: "signalbox deploy files systemd --force", description: "Replace the files of an older version" }
  ])
)

export const deploy = Command.make("deploy").pipe(
  Command.withDescription("Writes files to deploy a control room and workers"),
  Command.withSubcommands([files])
)
