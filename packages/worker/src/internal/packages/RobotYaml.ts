/**
 * `robot.yaml`: what a task package says of its tasks.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Yaml from "effect/encoding/Yaml"
import { split } from "shlex"
import { PackageFailure } from "./PackageFailure.ts"

const Words = Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String)))

const File = Schema.Struct({
  tasks: Schema.Record(Schema.String, Schema.Unknown),
  artifactsDir: Schema.optionalKey(Schema.NullOr(Schema.String)),
  PATH: Words,
  PYTHONPATH: Words,
  preRunScripts: Words,
  condaConfigFile: Schema.optionalKey(Schema.NullOr(Schema.String)),
  environmentConfigs: Words
})

const TaskEntry = Schema.Struct({
  robotTaskName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  shell: Schema.optionalKey(Schema.NullOr(Schema.String)),
  command: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Union([Schema.String, Schema.Finite]))))
})

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

/** What is needed to run one task of a package. Paths are as the file has them, relative to its folder. */
export interface Robot {
  readonly command: Command
  readonly artifactsFolder: string
  readonly path: ReadonlyArray<string>
  readonly pythonPath: ReadonlyArray<string>
  /** Those meant for this machine. */
  readonly preRunScripts: ReadonlyArray<Command>
  /** The files that describe an environment to be made for the task. */
  readonly environments: ReadonlyArray<string>
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = (error: Schema.SchemaError): string => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return `${path === "" ? "" : `${path}: `}${first?.message ?? "not valid"}`
}

const fault = (message: string, code: "START_FAILURE" | "SETUP_FAILURE" = "START_FAILURE") =>
  new PackageFailure({ code, message: `robot.yaml: ${message}` })

const decodeFile = Schema.decodeUnknownEffect(File)
const decodeTask = Schema.decodeUnknownEffect(TaskEntry)

const isCommand = (words: ReadonlyArray<string>): words is Command => words.length > 0 && words[0] !== ""

/** Splits a line into words as a shell would; nothing in it is expanded. */
const commandOf = Effect.fnUntraced(function* (line: string, where: string, code: "START_FAILURE" | "SETUP_FAILURE") {
  const words = yield* Effect.try({
    try: () => split(line),
    catch: () => fault(`${where}: a quote is not closed`, code)
  })
  return isCommand(words) ? words : yield* fault(`${where} is empty`, code)
})

const systems: Readonly<Record<string, string>> = { win32: "windows", darwin: "darwin", linux: "linux" }
const machines: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" }

/** A script whose name has the name of a system or a kind of processor in it is for these alone. */
export const isMeantFor = (script: string, platform: string, arch: string): boolean => {
  const system = /windows|darwin|linux/i.exec(script)?.[0]
  const machine = /amd64|arm64/i.exec(script)?.[0]
  return (system ?? systems[platform]) === systems[platform] && (machine ?? machines[arch]) === machines[arch]
}

const isInside = (path: string) =>
  !path.startsWith("/") && !path.startsWith("\\") && !/^[a-z]:/i.test(path) && !path.split(/[/\\]/).includes("..")

const taskCommand = Effect.fnUntraced(function* (task: string, entry: unknown, artifactsFolder: string) {
  const where = `tasks: ${task}`
  const { command, robotTaskName, shell } = yield* Effect.mapError(decodeTask(entry), (error) =>
    fault(`${where}: ${describe(error)}`)
  )
  if (typeof robotTaskName === "string" && robotTaskName !== "") {
    const flags = ["--report", "NONE", "--outputdir", artifactsFolder, "--logtitle", "Task log"]
    const robot: Command = ["python", "-m", "robot", ...flags, "--task", robotTaskName, "."]
    return robot
  }
  if (typeof shell === "string") return yield* commandOf(shell, `${where}: shell`, "START_FAILURE")
  const words = (command ?? []).map(String)
  return isCommand(words) ? words : yield* fault(`${where} needs robotTaskName, shell or command (a list of words)`)
})

/** Reads the file for one of its tasks. */
export const read = Effect.fnUntraced(function* (text: string, task: string) {
  const parsed = yield* Effect.try({
    try: () => Yaml.parse(text),
    catch: () => fault("it is not valid YAML")
  })
  const file = yield* Effect.mapError(decodeFile(parsed), (error) => fault(describe(error)))
  const names = Object.keys(file.tasks)
  if (!names.includes(task)) {
    return yield* fault(`there is no task "${task}"; its tasks: ${names.map((name) => `"${name}"`).join(", ")}`)
  }
  const artifactsFolder = file.artifactsDir ?? "output"
  if (!isInside(artifactsFolder)) return yield* fault("artifactsDir must be a folder inside the package")
  const scripts = (file.preRunScripts ?? []).filter((script) => isMeantFor(script, process.platform, process.arch))
  const robot: Robot = {
    command: yield* taskCommand(task, file.tasks[task], artifactsFolder),
    artifactsFolder,
    path: file.PATH ?? [],
    pythonPath: file.PYTHONPATH ?? [],
    preRunScripts: yield* Effect.forEach(scripts, (line) => commandOf(line, "preRunScripts", "SETUP_FAILURE")),
    environments: [...(file.environmentConfigs ?? []), ...(file.condaConfigFile ? [file.condaConfigFile] : [])]
  }
  return robot
})
