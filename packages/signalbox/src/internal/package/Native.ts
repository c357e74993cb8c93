/** Which packages have parts that are compiled for a machine, so that they cannot be bundled for any. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Predicate from "effect/Predicate"
import { basename, join, relative } from "node:path"
import * as Manifests from "./Manifests.ts"

/** A package, and the file or the member of its `package.json` that shows its compiled part. */
export interface NativePart {
  readonly name: string
  readonly part: string
}

/** What tools that build or fetch compiled parts read. */
const members = ["gypfile", "binary", "napi"] as const

/** A package with the compiled part for one platform, such as `@img/sharp-linux-x64`. */
const isOfPlatform = (name: string) => /[-/](linux|darwin|win32)(-|$)/.test(name)

const signs: ReadonlyArray<
  (owner: Manifests.Owner) => Effect.Effect<string | undefined, never, FileSystem.FileSystem>
> = [
  Effect.fnUntraced(function* ({ folder }) {
    const fs = yield* FileSystem.FileSystem
    const isThere = yield* Effect.orElseSucceed(fs.exists(join(folder, "binding.gyp")), () => false)
    return isThere ? "binding.gyp" : undefined
  }),
  ({ manifest }) => Effect.succeed(members.find((member) => Boolean(manifest[member]))),
  ({ manifest: { optionalDependencies: optional } }) =>
    Effect.succeed(Predicate.isObject(optional) ? Object.keys(optional).find(isOfPlatform) : undefined)
]

const nameOf = ({ folder, manifest }: Manifests.Owner) => manifest.name ?? basename(folder)

/** The package that has a compiled file, and the path of the file in it. */
export const ofFile = Effect.fnUntraced(function* (file: string) {
  const owner = yield* Manifests.ownerOf(file)
  return (
    owner === null ? { name: basename(file), part: file } : { name: nameOf(owner), part: relative(owner.folder, file) }
  ) satisfies NativePart
})

/** The first package that has a compiled part, which it may load in a way that no bundler sees. */
export const ofPackages = Effect.fnUntraced(function* (owners: ReadonlyArray<Manifests.Owner>) {
  for (const owner of owners) {
    for (const sign of signs) {
      const part = yield* sign(owner)
      if (part !== undefined) return { name: nameOf(owner), part } satisfies NativePart
    }
  }
  return null
})
