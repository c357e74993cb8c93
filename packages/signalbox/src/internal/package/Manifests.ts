/** The `package.json` of what a file belongs to. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { dirname, join } from "node:path"

const Text = Schema.Struct({ type: Schema.String })

/** Other people's files: what a member may be is decided where it is read. */
const Manifest = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  version: Schema.optionalKey(Schema.String),
  license: Schema.optionalKey(Schema.Unknown),
  /** Of packages from before `license`. */
  licenses: Schema.optionalKey(Schema.Unknown),
  engines: Schema.optionalKey(Schema.Unknown),
  optionalDependencies: Schema.optionalKey(Schema.Unknown),
  gypfile: Schema.optionalKey(Schema.Unknown),
  binary: Schema.optionalKey(Schema.Unknown),
  napi: Schema.optionalKey(Schema.Unknown)
})
export type Manifest = typeof Manifest.Type

/** A folder with a `package.json`. */
export interface Owner {
  readonly folder: string
  readonly manifest: Manifest
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))

/** The nearest folder above a file whose `package.json` is one that is wanted; null where there is none. */
const nearest = Effect.fnUntraced(function* (file: string, isWanted: (owner: Owner) => boolean) {
  const fs = yield* FileSystem.FileSystem
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const text = yield* Effect.option(fs.readFileString(join(folder, "package.json")))
    const manifest = Option.getOrNull(Option.flatMap(text, decode))
    if (manifest !== null && isWanted({ folder, manifest })) return { folder, manifest } satisfies Owner
  }
  return null
})

/** The project that a file of the user's is in; its `package.json` may be one that `npm install` wrote, without a name. */
export const projectOf = (file: string) => nearest(file, () => true)

/**
 * The package that has a file: its `package.json` has a name, and a version where it was installed. Some packages have further ones
 * inside, which only say how files are read.
 */
export const ownerOf = (file: string) =>
  nearest(
    file,
    ({ folder, manifest: { name, version } }) =>
      name !== undefined && (version !== undefined || !folder.includes("node_modules"))
  )

const isText = Schema.is(Text)
const isTexts = Schema.is(Schema.Array(Text))

/** What a manifest says of its licence, in the notation of SPDX where it uses that. Null when it says nothing. */
export const licenseOf = ({ license, licenses }: Manifest): string | null => {
  if (typeof license === "string" && license !== "") return license
  if (isText(license)) return license.type
  return isTexts(licenses) && licenses.length > 0 ? licenses.map(({ type }) => type).join(" OR ") : null
}
