/**
 * Bundles the command as it is published, from the sources, and the service alone, for the tests that start them as processes: to
 * load the sources takes a second of the CPU each time. A `globalSetup` of vitest, which bundles again when a file of the bundle has changed.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { bundleCommand, bundleProgram } from "./bundle.ts"

const here = import.meta.dirname
/** Beside `src`, since `bin` looks for the `package.json` above it. */
const folder = join(here, ".bundle-command")
const bundled = join(folder, "bundled.json")

/** The files with their times, as long as all of them are there. */
const timesOf = (files: ReadonlyArray<string>) => {
  const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs)
  return times.includes(undefined) ? undefined : Object.fromEntries(files.map((file, n) => [file, times[n]]))
}

const isCurrent = () => {
  if (!existsSync(bundled)) return false
  const before = readFileSync(bundled, "utf8")
  return JSON.stringify(timesOf(Object.keys(JSON.parse(before)))) === before
}

export default async () => {
  if (isCurrent()) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, "internal/process"), { recursive: true })
  for (const file of ["bin.ts", "internal/process/CompileCache.ts"])
    copyFileSync(join(here, "src", file), join(folder, file))
  symlinkSync(join(here, "../../deploy"), join(folder, "deploy"))
  symlinkSync(join(here, "templates"), join(folder, "templates"))
  const service = join(here, "../control-room/test/support/serve.ts")
  const modules = [...(await bundleCommand(folder, "ts")), ...(await bundleProgram(service, join(folder, "service")))]
  const ours = globSync(["*.ts", "src/bin.ts", "src/internal/process/CompileCache.ts"], { cwd: here }).map((file) =>
    join(here, file)
  )
  const files = [...ours, ...new Set(modules.filter((module) => existsSync(module)))]
  writeFileSync(bundled, JSON.stringify(timesOf(files)))
}
