/**
 * The zip of a task package, read without trust: what workers will unpack must stay inside the folder that they unpack
 * it to, on any file system, and have no more than a package may have.
 */
import { Name } from "@signalbox/api/contract/Common"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Yaml from "effect/encoding/Yaml"
import * as Zip from "effect/encoding/Zip"
import { createHash } from "node:crypto"
import { limits } from "../Limits.ts"
import { Refused } from "../Refused.ts"
import { type CentralEntry, damaged, read } from "./CentralDirectory.ts"

const maxDepth = 64
const regular = 0o100000
const directory = 0o040000

const refuse = (message: string) =>
  new Refused({ code: "INVALID_REQUEST", message: `file: ${message}; nothing was kept` })

const shown = (name: string) => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)

/** Why an entry may not be unpacked, null when it may. */
const faultOf = ({ fileType, name }: CentralEntry): string | null => {
  if (fileType !== 0 && fileType !== regular && fileType !== directory) return "is a link or a special file"
  if ((fileType === directory) !== name.endsWith("/") && fileType !== 0) return "is not what its name says"
  if (name.includes("\\")) return "has a backslash in its name"
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(name)) return "has a control character in its name"
  if (name.startsWith("/") || /^[a-z]:/i.test(name)) return "has an absolute path"
  const segments = name.replace(/\/$/, "").split("/")
  if (segments.some((segment) => segment === ".." || segment === "." || segment === "")) {
    return "has `..`, `.` or an empty part in its path"
  }
  return name.length > 1024 || segments.length > maxDepth ? "has a path that is too long" : null
}

/** No two names may be one on a file system that ignores case or the form of accents. */
const folded = (name: string) => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")

const checkNames = Effect.fnUntraced(function* (entries: ReadonlyArray<CentralEntry>) {
  const known = new Map<string, { readonly path: string; readonly isFile: boolean }>()
  const listed = new Set<string>()
  let total = 0
  for (const entry of entries) {
    const fault = faultOf(entry)
    if (fault !== null) return yield* refuse(`the entry ${shown(entry.name)} ${fault}`)
    total += entry.size
    const isFolder = entry.name.endsWith("/")
    const segments = entry.name.replace(/\/$/, "").split("/")
    const whole = segments.join("/")
    if (listed.has(whole)) return yield* refuse(`the entry ${shown(entry.name)} is there twice`)
    listed.add(whole)
    let path = ""
    for (const [index, segment] of segments.entries()) {
      path = index === 0 ? segment : `${path}/${segment}`
      const isFile = !isFolder && index === segments.length - 1
      const other = known.get(folded(path))
      if (other !== undefined && (other.path !== path || other.isFile || isFile)) {
        return yield* refuse(`the entries ${shown(other.path)} and ${shown(path)} would be one on some file systems`)
      }
      known.set(folded(path), { path, isFile })
    }
  }
  if (total > limits.packageUnpacked) return yield* tooMuch()
})

const tooMuch = () =>
  refuse(`unpacked it has more than the ${limits.packageUnpacked} bytes that a task package may have`)

const Robot = Schema.Struct({ tasks: Schema.Record(Schema.String, Schema.Unknown) })
const decodeRobot = Schema.decodeUnknownEffect(Robot)
const isName = Schema.is(Name)
const isTask = Schema.is(
  Schema.Union([
    Schema.Struct({ robotTaskName: Schema.String }),
    Schema.Struct({ shell: Schema.String }),
    Schema.Struct({ command: Schema.Unknown })
  ])
)

/** The names below `tasks:` of a `robot.yaml`. */
export const tasksOf = Effect.fnUntraced(function* (robotYaml: Uint8Array) {
  const parsed = yield* Effect.try({
    try: () => Yaml.parse(new TextDecoder("utf-8", { fatal: true }).decode(robotYaml)),
    catch: (error) =>
      refuse(`robot.yaml is not valid YAML: ${error instanceof SyntaxError ? error.message : "it cannot be read"}`)
  })
  const { tasks } = yield* Effect.mapError(decodeRobot(parsed), () => refuse("robot.yaml has no mapping under `tasks`"))
  const names = Object.keys(tasks)
  if (names.length === 0) return yield* refuse("robot.yaml names no task under `tasks`")
  for (const name of names) {
    if (!isName(name)) return yield* refuse(`robot.yaml: tasks: ${shown(name)} is no name of 1 to 255 characters`)
    if (!isTask(tasks[name])) {
      return yield* refuse(`robot.yaml: tasks: ${shown(name)} needs robotTaskName, shell or command`)
    }
  }
  return names
})

/** Reads a zip of this many bytes from its first byte to its last; refuses one that no worker should unpack. */
export const inspect = Effect.fn("TaskArchive.inspect")(function* (path: string, length: number) {
  const fs = yield* FileSystem.FileSystem
  const entries = yield* read(path, length)
  yield* checkNames(entries)
  const hash = createHash("sha256")
  const robotYaml: Array<Uint8Array> = []
  let index = 0
  let total = 0

  const readEntry = Effect.fnUntraced(function* <E>(entry: Zip.Entry<E>) {
    const listed = entries[index++]
    // What is read here in order is what tools find through the directory.
    if (listed?.name !== entry.header.path) {
      return yield* damaged(`its entry ${shown(entry.header.path)} is not in its directory`)
    }
    const isRobot = listed.name === "robot.yaml"
    if (isRobot && listed.size > limits.robotYaml) {
      return yield* refuse(`robot.yaml has more than ${limits.robotYaml} bytes`)
    }
    let size = 0
    // Unpacking is work for the processor: others get their turn after each chunk.
    yield* Stream.runForEach(entry.body, (chunk) => {
      size += chunk.length
      total += chunk.length
      if (isRobot) robotYaml.push(chunk)
      // Stops here: a few bytes can unpack to more than any disk holds.
      if (total > limits.packageUnpacked) return Effect.fail(tooMuch())
      return size > listed.size ? Effect.fail(damaged(`${shown(listed.name)} is larger than it says`)) : Effect.yieldNow
    })
    if (size !== listed.size) return yield* damaged(`${shown(listed.name)} is smaller than it says`)
  })

  yield* fs.stream(path).pipe(
    Stream.orDie,
    Stream.tap((chunk) => Effect.sync(() => hash.update(chunk))),
    Stream.pipeThroughChannel(Zip.decode()),
    Stream.runForEach(readEntry),
    Effect.catchTag("ZipError", (error) => Effect.fail(damaged(error.message)))
  )
  if (index !== entries.length) return yield* damaged(`it has ${index} entries and its directory ${entries.length}`)
  if (robotYaml.length === 0) return yield* refuse("there is no robot.yaml at the root of the zip, or it is empty")
  return { tasks: yield* tasksOf(Buffer.concat(robotYaml)), digest: `sha256:${hash.digest("hex")}` }
})
