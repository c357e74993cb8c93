/** How limits reach a program, and which of them it has exceeded. */
import type { Command } from "@signalbox/task-package/RobotYaml"
import type { Limits } from "../../Limits.ts"
import type { Enforced } from "./Enforced.ts"

/** Between the signal that a program may catch and the one that it cannot. */
const graceSeconds = 5

/** The arguments of prlimit; empty: it limits nothing. */
export const argumentsOf = ({ cpuSeconds, fileBytes, openFiles }: Limits): ReadonlyArray<string> => [
  ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + graceSeconds}`]),
  ...(openFiles === undefined ? [] : [`--nofile=${openFiles}:${openFiles}`]),
  ...(fileBytes === undefined ? [] : [`--fsize=${fileBytes}:${fileBytes}`])
]

/** The command that runs a program, by its path, within the limits. */
export const limited = ({ limits, prlimit }: Enforced, path: string, args: ReadonlyArray<string>): Command =>
  prlimit === null ? [path, ...args] : [prlimit, ...argumentsOf(limits), "--", path, ...args]

const units = [
  ["GB", 1024 ** 3],
  ["MB", 1024 ** 2],
  ["kB", 1024]
] as const

const sizeOf = (bytes: number) => {
  for (const [unit, size] of units) if (bytes >= size) return `${Number((bytes / size).toFixed(1))} ${unit}`
  return `${bytes} bytes`
}

/** What is known of a program that failed. */
export interface Facts {
  readonly exitCode?: number
  readonly signal?: string
  /** Whether the kernel killed a process because of the memory of the group. */
  readonly outOfMemory: boolean
  /** What the output says: messages of the system for a file too large, and for too many open files. */
  readonly says: ReadonlySet<"file" | "files" | null>
}

/** What a line of the output says of limits. Programs translate neither of the two names of errors. */
export const saysOf = (line: string): "file" | "files" | null =>
  /File too large|\bEFBIG\b/.test(line) ? "file" : /Too many open files|\bEMFILE\b/.test(line) ? "files" : null

/** A shell reports the signal of its last program as 128 and its number. */
const endedBy = ({ exitCode, signal }: Facts, name: string, number: number) =>
  signal === name || exitCode === 128 + number

const rules: ReadonlyArray<{
  readonly what: (limits: Limits) => string | null
  readonly holds: (facts: Facts) => boolean
}> = [
  {
    what: ({ memoryBytes }) => (memoryBytes === undefined ? null : `memory, ${sizeOf(memoryBytes)}`),
    holds: ({ outOfMemory }) => outOfMemory
  },
  {
    what: ({ cpuSeconds }) => (cpuSeconds === undefined ? null : `CPU time, ${cpuSeconds} s`),
    holds: (facts) => endedBy(facts, "SIGXCPU", 24)
  },
  {
    what: ({ fileBytes }) => (fileBytes === undefined ? null : `the size of a file, ${sizeOf(fileBytes)}`),
    holds: (facts) => endedBy(facts, "SIGXFSZ", 25) || facts.says.has("file")
  },
  {
    what: ({ openFiles }) => (openFiles === undefined ? null : `open files, ${openFiles}`),
    holds: ({ says }) => says.has("files")
  }
]

/** Names the limit that a program has exceeded, by what is known of its end; null: none. */
export const exceeded = (limits: Limits, facts: Facts): string | null => {
  for (const { holds, what } of rules) {
    const limit = what(limits)
    if (limit !== null && holds(facts)) return limit
  }
  return null
}
