/** Zips of valid task packages. (`HostileZips` has the others.) */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"

/** Creates a `robot.yaml` with these tasks. */
export const robotYaml = (...tasks: ReadonlyArray<string>) =>
  `tasks:\n${tasks.map((task) => `  ${JSON.stringify(task)}:\n    shell: python tasks.py\n`).join("")}`

/** Creates a zip with these files, in the form that every tool writes. */
export const zipOf = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Stream.fromIterable(Object.entries(files)).pipe(
    Stream.map(([path, content]) => Zip.file(path, content)),
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.mkUint8Array,
    Effect.orDie
  )
