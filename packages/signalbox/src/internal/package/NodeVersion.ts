/** The Node that a package needs: that of the command, or a newer one that its project asks for. */
import * as Schema from "effect/Schema"
import packageJson from "../../../package.json" with { type: "json" }
import type { Manifest } from "./Manifests.ts"

/** Major, minor, patch. */
export type NodeVersion = readonly [number, number, number]

/** Of a range like `>=22.19`; null for any other. */
const parse = (range: string): NodeVersion | null => {
  const found = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range.trim())
  if (found === null) return null
  const [, major, minor = "0", patch = "0"] = found
  return [Number(major), Number(minor), Number(patch)]
}

const isOlder = (one: NodeVersion, other: NodeVersion) => {
  const differs = one.findIndex((part, index) => part !== other[index])
  return differs !== -1 && (one[differs] ?? 0) < (other[differs] ?? 0)
}

const hasNode = Schema.is(Schema.Struct({ node: Schema.String }))

const least = parse(packageJson.engines.node) ?? [0, 0, 0]

/** The oldest Node on which a package of this project runs. A range that is not `>=` a version is not read. */
export const neededBy = ({ engines }: Manifest): NodeVersion => {
  const own = hasNode(engines) ? parse(engines.node) : null
  return own !== null && isOlder(least, own) ? own : least
}

/** The first module of a package, which an old Node can read, and which then says what is missing. */
export const guard = (needed: NodeVersion, module: string): string => `const needed = ${JSON.stringify(needed)}
const own = process.versions.node.split(".").map(Number)
const differs = needed.findIndex((part, index) => part !== own[index])
if (differs !== -1 && own[differs] < needed[differs]) {
  console.error("this task package needs Node >=${needed.join(".")}, this is " + process.versions.node + "; update Node on the machine of the worker")
  process.exitCode = 1
} else {
  await import(${JSON.stringify(module)})
}
`
