/** The environment of a program with promises: found at once, so that `connect` says what is missing, and without modules of Node. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import type { Options } from "../../ControlRoom.ts"
import { findOptions } from "../environment/Environment.ts"

/** Files, where there are any: bundlers for browsers see no import of a module of Node. */
const nodeFiles = () =>
  typeof process === "object" && typeof process.getBuiltinModule === "function"
    ? process.getBuiltinModule("node:fs")
    : undefined

const notFound = (path: string) =>
  PlatformError.systemError({
    _tag: "NotFound",
    module: "FileSystem",
    method: "readFileString",
    pathOrDescriptor: path
  })

const layerFiles = FileSystem.layerNoop({
  readFileString: (path) =>
    Effect.try({
      try: () => {
        const files = nodeFiles()
        if (files === undefined) throw new Error("there are no files here")
        return files.readFileSync(path, "utf8")
      },
      catch: () => notFound(path)
    })
})

/** The options that the environment has now; throws `NotConfigured`. */
export const environmentOptions = (): Options => {
  // The provider of the runtime has the variables of its first use, and a program may load others from a file.
  const layerVariables = ConfigProvider.layer(ConfigProvider.fromEnv())
  return Effect.runSync(Effect.provide(findOptions, Layer.merge(layerFiles, layerVariables)))
}
