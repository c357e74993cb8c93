import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"

export const robotYaml = (...tasks: ReadonlyArray<string>) =>
  `tasks:\n${tasks.map((task) => `  ${JSON.stringify(task)}:\n    shell: python tasks.py\n`).join("")}`

/** A zip with these files. */
export const zipOf = (files: Readonly<Record<string, string>>) =>
  Stream.fromIterable(Object.entries(files).map(([name, content]) => Zip.file(name, content))).pipe(
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.mkUint8Array,
    Effect.orDie
  )

/** A task package with these tasks. */
export const robotZip = (...tasks: ReadonlyArray<string>) => zipOf({ "robot.yaml": robotYaml(...tasks) })

/** The modes and names in the directory of a zip. */
export const namesOf = (zip: Buffer) => {
  const names: Array<string> = []
  for (let at = zip.readUInt32LE(zip.length - 6); zip.readUInt32LE(at) === 0x02014b50;) {
    const [name, extra, comment] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)]
    names.push(`${(zip.readUInt32LE(at + 38) >>> 16).toString(8)} ${zip.toString("utf8", at + 46, at + 46 + name)}`)
    at += 46 + name + extra + comment
  }
  return names
}
