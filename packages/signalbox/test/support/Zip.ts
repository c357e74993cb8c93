import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"

/** A task package with these tasks. */
export const robotZip = (...tasks: ReadonlyArray<string>) =>
  Stream.succeed(
    Zip.file(
      "robot.yaml",
      `tasks:\n${tasks.map((task) => `  ${JSON.stringify(task)}:\n    shell: python tasks.py\n`).join("")}`
    )
  ).pipe(Stream.pipeThroughChannel(Zip.encode()), Stream.mkUint8Array, Effect.orDie)

/** A zip with these files. */
export const zipOf = (files: Readonly<Record<string, string>>) =>
  Stream.fromIterable(Object.entries(files).map(([name, content]) => Zip.file(name, content))).pipe(
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.mkUint8Array,
    Effect.orDie
  )
