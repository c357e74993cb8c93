/**
 * Packages of conda that are taken from an index of Python packages, where only that is asked: most robots name one or two that
 * are there too, under the same name and the same versions.
 */
import type { Recipe } from "@signalbox/task-package/Recipe"
import * as Effect from "effect/Effect"
import { BuildFailure, type Site } from "./Provider.ts"

/** Programs and libraries of conda: what an index has under their names is something else. */
const others = new Set([
  "chromedriver",
  "ffmpeg",
  "firefox",
  "geckodriver",
  "ghostscript",
  "git",
  "imagemagick",
  "nodejs",
  "opencv",
  "openjdk",
  "openssl",
  "poppler",
  "sqlite",
  "tesseract"
])

const remedy = "install micromamba, which supports conda packages"

const specOf = /^(?:[^\s:[\]]+::)?([A-Za-z0-9][A-Za-z0-9._-]*)\s*(.*)$/
const versionOf = /^\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?$/

/** A condition of conda as one of pip; null when there is none that means the same. */
const clauseOf = (clause: string): string | null => {
  const [, operator = "", text = ""] = /^(>=|<=|==|!=|~=|>|<|=)?(.+)$/.exec(clause) ?? []
  const plain = text.replace(/\.?\*$/, "")
  const isPrefix = plain !== text
  if (!versionOf.test(plain)) return null
  // `=1.2` is any 1.2, as `1.2.*` is; `==1.2`, and `1.2` alone, is 1.2.
  if (operator === "=" || ((operator === "" || operator === "==") && isPrefix)) return `==${plain}.*`
  if (operator === "") return `==${plain}`
  return isPrefix && operator === "!=" ? `!=${plain}.*` : `${operator}${plain}`
}

/** The requirement of pip that means what a package of conda says; null when none does, as with its builds. */
export const requirementOf = (spec: string): string | null => {
  const [, name = "", version = ""] = specOf.exec(spec) ?? []
  if (name === "" || others.has(name.toLowerCase())) return null
  if (version === "" || version === "*" || version === "=*") return name
  const clauses = version
    .replaceAll(/(^|[,=<>!~])\s+/g, "$1")
    .split(/\s*,\s*/)
    .map(clauseOf)
  return clauses.includes(null) ? null : `${name}${clauses.join(",")}`
}

/** Why the packages of conda cannot come from an index; null when they may. */
export const refusalOf = ({ conda }: Recipe): string | null => {
  const alone = conda.filter((spec) => requirementOf(spec) === null)
  return alone.length === 0 ? null : `packages that exist only in conda: ${alone.join(", ")}; ${remedy}`
}

/** What pip installs: its own list, and what is taken from conda's. */
export const requirementsOf = ({ conda, pip }: Recipe): ReadonlyArray<string> => [
  ...conda.flatMap((spec) => requirementOf(spec) ?? []),
  ...pip
]

/** Says which packages of conda come from the index, and names those that a failure is about. */
export const install = Effect.fnUntraced(function* (
  { conda }: Recipe,
  site: Site,
  run: Effect.Effect<void, BuildFailure>
) {
  for (const spec of conda) {
    yield* site.say(`${spec} is a conda package: installed from the Python package index as ${requirementOf(spec)}`)
  }
  yield* Effect.mapError(run, (error) => {
    const words = new Set(error.message.toLowerCase().match(/[a-z0-9][a-z0-9._-]*/g))
    const named = conda.filter((spec) => words.has(specOf.exec(spec)?.[1]?.toLowerCase() ?? ""))
    if (named.length === 0 || error.message.includes("did not respond")) return error
    return new BuildFailure({
      message: `${error.message}\nNot found in the index, but in conda: ${named.join(", ")}; ${remedy}`
    })
  })
})
