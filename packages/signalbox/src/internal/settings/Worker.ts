/** The settings of a worker on this machine: where it works, what it offers, how it ends, and the limits of its tasks. */
import { Label } from "@signalbox/api/contract/Common"
import type { Limits } from "@signalbox/worker/Limits"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { list, type Setting, setting, words } from "./Setting.ts"

/** A whole number above 0, with one of these units. */
const amount = (units: Readonly<Record<string, number>>, expected: string) => {
  const sizeOf = (text: string) => {
    const [, number = "", unit = ""] = /^(\d{1,12})\s*([a-z]*)$/i.exec(text.trim()) ?? []
    return Number(number) * (units[unit.toLowerCase()] ?? 0)
  }
  return Schema.String.check(
    Schema.makeFilter((text) => (sizeOf(text) > 0 ? undefined : `Expected ${expected}, not ${JSON.stringify(text)}`))
  ).pipe(Schema.decodeTo(Schema.Finite, SchemaTransformation.transform({ decode: sizeOf, encode: String })))
}

const seconds = { "": 1, s: 1 }
const bytes = { "": 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

const isLabel = Schema.is(Label)
const Labels = list(
  Schema.String.check(
    Schema.makeFilter((text) =>
      isLabel(text)
        ? undefined
        : `Expected letters, digits and . _ - = : / that begin with a letter or digit, not ${JSON.stringify(text)}`
    )
  ),
  words
).pipe(
  Schema.decodeTo(
    Schema.Array(Schema.String).check(Schema.isMaxLength(32, { message: "Expected at most 32 labels" })),
    SchemaTransformation.transform({
      decode: (labels): ReadonlyArray<string> => [...new Set(labels)],
      encode: (labels) => labels
    })
  )
)

/** The folder of a worker, for all commands that use one. */
export const home = {
  data: setting({
    flag: "data",
    variable: "SIGNALBOX_WORKER_DATA",
    description: "The folder of the worker, with its identity and task packages",
    help: "default: SIGNALBOX_WORKER_DATA, else .signalbox-worker",
    schema: Schema.String,
    default: ".signalbox-worker"
  })
}

export const worker = {
  url: setting({
    flag: "url",
    variable: "SIGNALBOX_BASE_URL",
    description: "The address of the control room",
    help: "default: SIGNALBOX_BASE_URL",
    schema: Schema.String,
    default: null,
    fallback: "none; needed"
  }),
  linkToken: setting({
    flag: "link-token",
    variable: "SIGNALBOX_LINK_TOKEN",
    description:
      "A link token, needed once to link the worker; prefer SIGNALBOX_LINK_TOKEN, since other users can see flags",
    // One from a file, such as a secret of a cluster, often ends with a line break.
    schema: Schema.RedactedFromValue(Schema.Trim),
    default: null,
    fallback: "none; needed once"
  }),
  ...home,
  tasks: setting({
    flag: "tasks",
    variable: "SIGNALBOX_TASKS",
    description: "A TypeScript or JavaScript file that exports `tasks` of this worker",
    help: "default: SIGNALBOX_TASKS",
    schema: Schema.String,
    default: null,
    fallback: "none"
  }),
  labels: setting({
    flag: "label",
    variable: "SIGNALBOX_LABELS",
    description: "A label of the worker, for steps that require it",
    help: "may be repeated. Default: SIGNALBOX_LABELS, separated by spaces",
    takes: "texts",
    metavar: "LABEL",
    schema: Labels,
    default: [],
    fallback: "none"
  }),
  drainSeconds: setting({
    flag: "drain-seconds",
    variable: "SIGNALBOX_DRAIN_SECONDS",
    description: "The time limit of running step runs after SIGTERM or Ctrl-C",
    help: "default: SIGNALBOX_DRAIN_SECONDS, else no limit",
    metavar: "N",
    schema: amount(seconds, "a number of seconds, such as 30"),
    default: null,
    fallback: "no limit"
  })
}

/** What a task may use. */
export const limits = {
  cpuSeconds: setting({
    flag: "limit-cpu",
    variable: "SIGNALBOX_LIMIT_CPU",
    description: "The CPU time limit of each process of a task",
    help: "default: SIGNALBOX_LIMIT_CPU",
    metavar: "SECONDS",
    schema: amount(seconds, "a number of seconds, such as 600"),
    default: undefined,
    fallback: "no limit"
  }),
  openFiles: setting({
    flag: "limit-open-files",
    variable: "SIGNALBOX_LIMIT_OPEN_FILES",
    description: "The most open files of each process of a task",
    help: "default: SIGNALBOX_LIMIT_OPEN_FILES",
    metavar: "N",
    schema: amount({ "": 1 }, "a number, such as 256"),
    default: undefined,
    fallback: "no limit"
  }),
  fileBytes: setting({
    flag: "limit-file-size",
    variable: "SIGNALBOX_LIMIT_FILE_SIZE",
    description: "The size limit of each file that a task writes, such as 500MB",
    help: "default: SIGNALBOX_LIMIT_FILE_SIZE",
    metavar: "SIZE",
    schema: amount(bytes, "a size, such as 500MB"),
    default: undefined,
    fallback: "no limit"
  }),
  memoryBytes: setting({
    flag: "limit-memory",
    variable: "SIGNALBOX_LIMIT_MEMORY",
    description: "The memory limit of all processes of a task together, such as 2GB",
    help: "default: SIGNALBOX_LIMIT_MEMORY",
    metavar: "SIZE",
    schema: amount(bytes, "a size, such as 2GB"),
    default: undefined,
    fallback: "no limit"
  })
} satisfies Readonly<Record<keyof Limits, Setting<number | undefined>>>
