/**
 * What is different on Windows: commands and paths, as functions that can be tested anywhere. It has no process groups, so a
 * tree of processes is ended while its first process runs, and no `ps`.
 */
import type { Command } from "@signalbox/task-package/RobotYaml"
import { posix, win32 } from "node:path"

export type Platform = typeof process.platform

/** Prints when a process started, in the form of the system; nothing when it does not exist. */
export const startedCommand = (pid: number, platform: Platform): Command =>
  platform === "win32"
    ? [
        "powershell.exe",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        `(Get-Process -Id ${pid} -ErrorAction SilentlyContinue).StartTime.ToFileTimeUtc()`
      ]
    : ["ps", "-o", "lstart=", "-p", String(pid)]

/** Ends a process and all that it has started; null where a signal to its group does that. */
export const endTreeCommand = (pid: number, platform: Platform): Command | null =>
  platform === "win32" ? ["taskkill.exe", "/PID", String(pid), "/T", "/F"] : null

/** The folders of an environment for `PATH`. Those of conda have more than virtual environments. */
export const binariesOf = (prefix: string, platform: Platform): ReadonlyArray<string> =>
  platform === "win32"
    ? [prefix, win32.join(prefix, "Scripts"), win32.join(prefix, "Library", "bin")]
    : [posix.join(prefix, "bin")]

/** The Python of a virtual environment. */
export const pythonOf = (prefix: string, platform: Platform): string =>
  platform === "win32" ? win32.join(prefix, "Scripts", "python.exe") : posix.join(prefix, "bin", "python")

/** The endings of files that are programs. */
export const programSuffixes = (platform: Platform): ReadonlyArray<string> =>
  platform === "win32" ? [".exe", ".cmd", ".bat"] : [""]
