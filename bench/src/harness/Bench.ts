/**
 * What suites get: how long to measure, processes, databases and folders, which end with the suite.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Postgres from "./Postgres.ts"
import * as Processes from "./Processes.ts"

export interface Options {
  readonly rounds: number
  /** How long a timed measurement takes. */
  readonly seconds: number
  /** A fraction of the numbers of items, for a quick look; 1 for figures. */
  readonly scale: number
}

export const make = ({ rounds, scale, seconds }: Options) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const processes = Processes.make()
  const postgres = Postgres.make()
  let folders = 0
  return {
    rounds,
    seconds,
    /** So many at full scale, at least `least`. */
    scaled: (count: number, least = 1) => Math.max(least, Math.round(count * scale)),
    program: processes.program,
    database: postgres.database,
    /** A new, empty folder. */
    folder: (name: string) => {
      const path = join(folder, `${name}-${folders++}`)
      mkdirSync(path)
      return path
    },
    close: async () => {
      await processes.close()
      await postgres.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export type Bench = ReturnType<typeof make>
