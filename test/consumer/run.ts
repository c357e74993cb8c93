/**
 * What users get: the packed packages, installed into empty folders outside of the repository by npm and by pnpm, and what the pages of
 * the documentation show, run there. Ends with 1 when something does not work.
 *
 * `npx -y pnpm@12 test:consumer [--keep] [name ...]`: only the checks whose names contain one of these; `--keep` leaves the folders.
 */
import { parseArgs } from "node:util"
import { checksOf, installs } from "./checks.ts"
import { startConsumer } from "./consumer.ts"
import { pageChecks, startPages } from "./following.ts"
import { isolated } from "./network.ts"
import { projectChecks } from "./projects.ts"

const { positionals, values } = parseArgs({ allowPositionals: true, options: { keep: { type: "boolean" } } })
const isKept = values.keep === true

const wanted = (name: string) => positionals.length === 0 || positionals.some((part) => name.includes(part))

/** Whether a check succeeds. */
const succeeds = async (name: string, check: () => Promise<unknown>) => {
  const begun = performance.now()
  const time = () => `${name} (${Math.round(performance.now() - begun)} ms)`
  try {
    await check()
    console.log(`✓ ${time()}`)
    return true
  } catch (error) {
    console.error(`✗ ${time()}\n${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

const consumer = startConsumer(isKept)

/** In the folder of the consumer, one after the other. */
const inFolder = async (): Promise<ReadonlyArray<boolean>> => {
  const results: Array<boolean> = []
  for (const [name, check] of Object.entries(checksOf(consumer))) {
    if (!installs.includes(name) && !wanted(name)) continue
    results.push(await succeeds(name, check))
    if (results.at(-1) === false && installs.includes(name)) return results
  }
  return results
}

/** The forms of `init` come first: they take longest, and none of them is to be alone in the end. */
const following = async (): Promise<ReadonlyArray<boolean>> => {
  const left = Object.entries({ ...projectChecks, ...pageChecks }).filter(([name]) => wanted(name))
  if (left.length === 0) return []
  const shared = await startPages(consumer, isKept)
  const next = async (): Promise<ReadonlyArray<boolean>> => {
    const entry = left.shift()
    if (entry === undefined) return []
    const [name, check] = entry
    const result = await succeeds(name, () => check(shared))
    return [result, ...(await next())]
  }
  // Each waits for processes most of the time.
  const results = await Promise.all(Array.from({ length: isolated ? 3 : 1 }, next)).finally(shared.close)
  return results.flat()
}

const results = [...(await inFolder()), ...(await following())]
consumer.close()
const failed = results.filter((succeeded) => !succeeded).length
console.log(failed === 0 ? "all passed" : `${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
