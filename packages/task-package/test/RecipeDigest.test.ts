/**
 * The digest of an environment depends on what is listed, and on nothing else.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Recipe from "../src/Recipe.ts"

const Name = Schema.Literals(["alpha", "beta", "gamma", "delta", "omega"])
const Version = Schema.Literals(["1.0", "1.1", "2.0.3"])
const Listed = Schema.Struct({
  python: Schema.Literals(["3.9.13", "3.10.12", "3.12.8"]),
  pip: Schema.Record(Name, Version),
  conda: Schema.Record(Schema.Literals(["nodejs", "opencv", "tesseract"]), Version),
  channels: Schema.Literals(["conda-forge", "defaults"]),
  postInstall: Schema.Array(Schema.Literals(["rfbrowser init", "python -V"])).check(Schema.isMaxLength(2))
})
type Listed = typeof Listed.Type

/** How the same list may be written. */
const Style = Schema.Struct({
  reversed: Schema.Boolean,
  quoted: Schema.Boolean,
  pipFirst: Schema.Boolean,
  comments: Schema.Literals(["", "# pinned by hand\n"]),
  file: Schema.Literals(["conda.yaml", "robot/conda.yml"])
})
type Style = typeof Style.Type

const sorted = (record: Readonly<Record<string, string>>, reversed: boolean) => {
  const entries = Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return reversed ? entries.toReversed() : entries
}

const write = (listed: Listed, style: Style) => {
  const quote = (text: string) => (style.quoted ? `"${text}"` : text)
  const item = (indent: string) => (text: string) => `${indent}- ${quote(text)}\n`
  const conda = [`python=${listed.python}`, ...sorted(listed.conda, style.reversed).map(([n, v]) => `${n}=${v}`)]
  const lines = sorted(listed.pip, style.reversed).map(([name, version]) => item("    ")(`${name}==${version}`))
  const pip = lines.length === 0 ? "" : `  - pip:\n${lines.join("")}`
  const packages = conda.map(item("  ")).join("")
  const after = listed.postInstall.map(item("  ")).join("")
  return [
    style.comments,
    `channels: [${listed.channels}]\n`,
    `dependencies:\n${style.pipFirst ? `${pip}${packages}` : `${packages}${pip}`}`,
    style.comments,
    after === "" ? "" : `rccPostInstall:\n${after}`
  ].join("")
}

const digestOf = (listed: Listed, style: Style, context = ["venv 3.10.13", "linux", "x64"], more = "") => {
  const files: Readonly<Record<string, string>> = {
    "robot.yaml": `tasks: {}\ncondaConfigFile: ${style.file}\n${more}`,
    [style.file]: write(listed, style)
  }
  return Recipe.read((path) => Effect.succeed(files[path] ?? null), { platform: "linux", arch: "x64" }).pipe(
    Effect.map((recipe) => (recipe === null ? null : Recipe.digestOf(recipe, context))),
    Effect.runSync
  )
}

const plain: Style = { reversed: false, quoted: false, pipFirst: false, comments: "", file: "conda.yaml" }

const canonical = (listed: Listed) =>
  JSON.stringify([
    listed.python,
    listed.channels,
    listed.postInstall,
    sorted(listed.pip, false),
    sorted(listed.conda, false)
  ])

describe("the digest of an environment", () => {
  it.prop("is the same however the list is written", { listed: Listed, one: Style, other: Style }, (given) => {
    const { listed, one, other } = given
    assert.strictEqual(digestOf(listed, one), digestOf(listed, other))
  })

  it.prop("differs where anything that is listed differs", { one: Listed, other: Listed, style: Style }, (given) => {
    const { one, other, style } = given
    const same = canonical(one) === canonical(other)
    assert.strictEqual(digestOf(one, style) === digestOf(other, style), same)
  })

  it.prop("differs where one version differs, or what builds it", { listed: Listed, version: Version }, (given) => {
    const { listed, version } = given
    const changed = { ...listed, pip: { ...listed.pip, alpha: version } }
    assert.strictEqual(digestOf(listed, plain) === digestOf(changed, plain), listed.pip["alpha"] === version)
    assert.notStrictEqual(digestOf(listed, plain), digestOf(listed, plain, ["uv 0.9", "linux", "x64"]))
    const later = ["2026-11-20", "2026-11-21"].map((time) =>
      digestOf(listed, plain, undefined, `excludeNewer: ${time}\n`)
    )
    assert.strictEqual(new Set([digestOf(listed, plain), ...later]).size, 3)
  })
})
