/** Parses `robot.yaml`, which describes the tasks of a package. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Yaml from "effect/encoding/Yaml"
import { shown } from "./internal/zip/Refusal.ts"
import { type Command, commandOf, isCommand } from "./internal/recipe/Words.ts"

/**
 * The file cannot be used. `field` is the invalid one, null when it is about the whole file; the message names both and
 * the remedy.
 */
export class InvalidRobotYaml extends Schema.TaggedError<InvalidRobotYaml>()("InvalidRobotYaml", {
  field: Schema.NullOr(Schema.String),
  message: Schema.String
}) {}

export type { Command } from "./internal/recipe/Words.ts"

/** What is needed to run one task of a package. Paths are as in the file, relative to its folder. */
export interface Robot {
  readonly command: Command
  /** `artifactsDir`; default `output`. */
  readonly artifactsFolder: string
  /** Folders for the variable `PATH`. */
  readonly path: ReadonlyArray<string>
  /** Folders for the variable `PYTHONPATH`. */
  readonly pythonPath: ReadonlyArray<string>
  /** Scripts for this machine. */
  readonly preRunScripts: ReadonlyArray<Command>
}

const Words = Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String)))

const File = Schema.Struct({
  tasks: Schema.Record(Schema.String, Schema.Unknown),
  artifactsDir: Schema.optionalKey(Schema.NullOr(Schema.String)),
  PATH: Words,
  PYTHONPATH: Words,
  preRunScripts: Words
})

const Task = Schema.Struct({
  robotTaskName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  shell: Schema.optionalKey(Schema.NullOr(Schema.String)),
  command: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Union([Schema.String, Schema.Finite]))))
})

const decodeFile = Schema.decodeUnknownEffect(File)
const decodeTask = Schema.decodeUnknownEffect(Task)
const decodeTasks = Schema.decodeUnknownEffect(Schema.Struct({ tasks: File.fields.tasks }))
const decodeIgnoreFiles = Schema.decodeUnknownEffect(Schema.Struct({ ignoreFiles: Words }))

const isTaskName = Schema.is(Schema.String.check(Schema.isPattern(/^[^\0\p{Cs}]*$/u), Schema.isBetweenLength(1, 255)))
const isTask = Schema.is(
  Schema.Union([
    Schema.Struct({ robotTaskName: Schema.String }),
    Schema.Struct({ shell: Schema.String }),
    Schema.Struct({ command: Schema.Unknown })
  ])
)
const format = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = (error: Schema.SchemaError) => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part))
  return { field: path[0] ?? null, message: [path.join("."), first?.message ?? "not valid"].filter(Boolean).join(": ") }
}

const fault = (field: string | null, message: string) =>
  new InvalidRobotYaml({ field, message: `robot.yaml: ${message}` })

/** Like `fault`, for a message that begins with the name of the file. */
const whole = (field: string | null, message: string) =>
  new InvalidRobotYaml({ field, message: `robot.yaml ${message}` })

const parse = (text: string) =>
  Effect.try({
    try: () => Yaml.parse(text),
    catch: (error) =>
      whole(null, `is not valid YAML: ${error instanceof SyntaxError ? error.message : "it cannot be read"}`)
  })

/**
 * The files that name the tasks of a package, the first that exists: `package.yaml`, which packages of actions have, is
 * used like `robot.yaml` when that is missing.
 *
 * ```ts
 * import { taskFiles } from "@signalbox/task-package/RobotYaml"
 *
 * export const isTaskFile = (name: string) =>
 *   taskFiles.some((file) => file === name)
 * ```
 */
export const taskFiles = ["robot.yaml", "package.yaml"] as const
export type TaskFile = (typeof taskFiles)[number]

/**
 * The same error for a text that is from another file than `robot.yaml`, which its message then names.
 *
 * ```ts
 * import * as RobotYaml from "@signalbox/task-package/RobotYaml"
 * import * as Effect from "effect/Effect"
 *
 * export const tasks = (text: string) =>
 *   Effect.mapError(RobotYaml.tasksOf(text), RobotYaml.inFile("package.yaml"))
 * ```
 */
export const inFile =
  (file: TaskFile) =>
  ({ field, message }: InvalidRobotYaml): InvalidRobotYaml =>
    new InvalidRobotYaml({ field, message: message.replace(/^robot\.yaml/, file) })

/** Decodes the bytes of the file. Fails with `InvalidRobotYaml` unless they are UTF-8. */
export const textOf = (bytes: Uint8Array) =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => whole(null, "is not valid UTF-8; save it as UTF-8")
  })

/**
 * Resolves to the names below `tasks`, in their order. Ignores everything else, so that a package may be for a newer
 * worker than this version knows.
 *
 * Fails with `InvalidRobotYaml` unless there is a task, and each has a name of 1 to 255 characters and a command.
 *
 * ```ts
 * import * as RobotYaml from "@signalbox/task-package/RobotYaml"
 * import * as Effect from "effect/Effect"
 *
 * export const names = (bytes: Uint8Array) =>
 *   Effect.flatMap(RobotYaml.textOf(bytes), RobotYaml.tasksOf)
 * ```
 */
export const tasksOf = Effect.fnUntraced(function* (text: string) {
  const { tasks } = yield* Effect.mapError(decodeTasks(yield* parse(text)), () =>
    whole("tasks", "has no mapping `tasks`; add a task with its command")
  )
  const names = Object.keys(tasks)
  if (names.length === 0) return yield* whole("tasks", "has no task in `tasks`; add a task with its command")
  for (const name of names) {
    if (!isTaskName(name)) return yield* fault("tasks", `tasks: ${shown(name)} is not a name of 1 to 255 characters`)
    if (!isTask(tasks[name])) {
      return yield* fault("tasks", `tasks: ${shown(name)} needs robotTaskName, shell or command`)
    }
  }
  return names
})

/**
 * Resolves to the files named under `ignoreFiles`, whose patterns exclude files from the zip.
 *
 * Fails with `InvalidRobotYaml` when the file is not YAML, or has no list of names there.
 *
 * ```ts
 * import * as RobotYaml from "@signalbox/task-package/RobotYaml"
 *
 * export const files = RobotYaml.ignoreFilesOf(
 *   "tasks: {}\nignoreFiles: [.gitignore]"
 * )
 * ```
 */
export const ignoreFilesOf = Effect.fnUntraced(function* (text: string) {
  const { ignoreFiles } = yield* Effect.mapError(decodeIgnoreFiles(yield* parse(text)), () =>
    fault("ignoreFiles", "ignoreFiles: expected a list of file names")
  )
  return ignoreFiles ?? []
})

const systems: Readonly<Record<string, string>> = { win32: "windows", darwin: "darwin", linux: "linux" }
const machines: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" }

/**
 * Whether a script may run on a system and processor, named as in `process.platform` and `process.arch`: a script whose
 * name contains the names of some systems or processors runs only on those.
 *
 * ```ts
 * import * as RobotYaml from "@signalbox/task-package/RobotYaml"
 *
 * export const isForLinux = RobotYaml.isMeantFor("setup_linux.sh", "linux", "x64")
 * ```
 */
export const isMeantFor = (script: string, platform: string, arch: string): boolean => {
  const system = /windows|darwin|linux/i.exec(script)?.[0]
  const machine = /amd64|arm64/i.exec(script)?.[0]
  return (system ?? systems[platform]) === systems[platform] && (machine ?? machines[arch]) === machines[arch]
}

const isInside = (path: string) =>
  !path.startsWith("/") && !path.startsWith("\\") && !/^[a-z]:/i.test(path) && !path.split(/[/\\]/).includes("..")

/** Splits a line into words as a shell would. */
const wordsOf = (line: string, field: string, where = field) =>
  Effect.mapError(Effect.fromResult(commandOf(line)), (why) => fault(field, `${where}: ${why}`))

const taskCommand = Effect.fnUntraced(function* (task: string, entry: unknown, artifactsFolder: string) {
  const where = `tasks: ${task}`
  const { command, robotTaskName, shell } = yield* Effect.mapError(decodeTask(entry), (error) =>
    fault("tasks", `${where}: ${describe(error).message}`)
  )
  if (typeof robotTaskName === "string" && robotTaskName !== "") {
    const flags = ["--report", "NONE", "--outputdir", artifactsFolder, "--logtitle", "Task log"]
    const robot: Command = ["python", "-m", "robot", ...flags, "--task", robotTaskName, "."]
    return robot
  }
  if (typeof shell === "string") return yield* wordsOf(shell, "tasks", `${where}: shell`)
  const words = (command ?? []).map(String)
  return isCommand(words)
    ? words
    : yield* fault("tasks", `${where} needs robotTaskName, shell or command (a list of words)`)
})

/**
 * Reads the file for one of its tasks, on this machine.
 *
 * Fails with `InvalidRobotYaml` when the task does not exist, or a field that is needed to run it is invalid.
 *
 * ```ts
 * import * as RobotYaml from "@signalbox/task-package/RobotYaml"
 *
 * export const robot = RobotYaml.read(
 *   "tasks: { Read: { shell: python tasks.py } }",
 *   "Read"
 * )
 * ```
 */
export const read = Effect.fnUntraced(function* (text: string, task: string) {
  const file = yield* Effect.mapError(decodeFile(yield* parse(text)), (error) => {
    const { field, message } = describe(error)
    return fault(field, message)
  })
  const names = Object.keys(file.tasks)
  if (!names.includes(task)) {
    return yield* fault(
      "tasks",
      `the task "${task}" does not exist; its tasks: ${names.map((name) => `"${name}"`).join(", ")}`
    )
  }
  const artifactsFolder = file.artifactsDir ?? "output"
  if (!isInside(artifactsFolder)) {
    return yield* fault("artifactsDir", "artifactsDir must be a folder inside the package")
  }
  const scripts = (file.preRunScripts ?? []).filter((script) => isMeantFor(script, process.platform, process.arch))
  const robot: Robot = {
    command: yield* taskCommand(task, file.tasks[task], artifactsFolder),
    artifactsFolder,
    path: file.PATH ?? [],
    pythonPath: file.PYTHONPATH ?? [],
    preRunScripts: yield* Effect.forEach(scripts, (line) => wordsOf(line, "preRunScripts"))
  }
  return robot
})
