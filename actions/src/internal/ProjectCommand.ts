/** The `signalbox` command that the project of a file has installed. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { InvalidInput } from "./Inputs.ts"

const Manifest = Schema.fromJsonString(Schema.Struct({ bin: Schema.Struct({ signalbox: Schema.String }) }))

const binOf = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const manifest = yield* Effect.try(() => createRequire(resolve(path)).resolve("signalbox/package.json"))
    const { bin } = yield* Schema.decodeEffect(Manifest)(yield* fs.readFileString(manifest))
    return join(dirname(manifest), bin.signalbox)
  },
  (effect, path) =>
    Effect.mapError(
      effect,
      () =>
        new InvalidInput({
          message: `path: the project of ${path} has no signalbox, which packages it; add it with \`npm install --save-dev signalbox rolldown\`, and run \`npm ci\` before this step`
        })
    )
)

/** The inputs have the key of the room, which is none of the business of what a tasks file imports. */
const environment = Effect.sync(() =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("INPUT_")))
)

/** Makes the task package of a tasks file as `signalbox packages push` does; the zip exists as long as the scope. */
export const packaged = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const bin = yield* binOf(path)
  const zip = join(yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-" }), "package.zip")
  const command = yield* ChildProcess.make(process.execPath, [bin, "package", path, "--out", zip], {
    env: yield* environment
  })
  const [said, exitCode] = yield* Effect.all(
    [
      Stream.mkString(Stream.decodeText(command.stderr)),
      Stream.runDrain(command.stdout).pipe(Effect.andThen(command.exitCode))
    ],
    { concurrency: 2 }
  )
  if (exitCode === 0) return zip
  return yield* new InvalidInput({ message: `path: ${said.trim().replace(/^signalbox: /, "")}` })
})
