/**
 * Tokens in a file of the user, for scripts on Node. The file is readable by its owner alone, replaced as a whole, and renewed
 * by one process at a time.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { uuidV4Unsafe } from "effect/crypto/SecureRandom"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { hold } from "./internal/FileLock.ts"
import { TokenStore, TokenStoreError } from "./TokenStore.ts"
import { fromStored, toStored } from "./Tokens.ts"

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Below the folder for settings of the user: `XDG_CONFIG_HOME`, on Windows `APPDATA`, else `~/.config`. */
export const defaultPath: Effect.Effect<string> = Effect.gen(function* () {
  const [xdg, appData] = yield* Config.all([
    Config.option(Config.String("XDG_CONFIG_HOME")),
    Config.option(Config.String("APPDATA"))
  ]).pipe(Effect.orElseSucceed(() => [Option.none<string>(), Option.none<string>()]))
  const home = Option.getOrElse(
    Option.orElse(xdg, () => appData),
    () => join(homedir(), ".config")
  )
  return join(home, "signalbox", "graph", "auth_token.json")
})

const make = Effect.fnUntraced(function* (options: { readonly path?: string }) {
  const fs = yield* FileSystem.FileSystem
  const path = resolve(options.path ?? (yield* defaultPath))
  const permit = yield* Semaphore.make(1)

  const failed = (what: string) => (error: PlatformError) =>
    new TokenStoreError({ message: `cannot ${what} the token file (${path}): ${error.message}` })
  const unreadable = new TokenStoreError({
    message: `the token file (${path}) does not hold a token: move it away and authorize again`
  })
  const folder = fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 })

  const load = fs.readFileString(path).pipe(
    Effect.asSome,
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
    Effect.mapError(failed("read")),
    Effect.flatMap((text) => {
      if (Option.isNone(text)) return Effect.succeedNone
      const found = fromStored(Option.getOrNull(parse(text.value)))
      return found === "unreadable" ? Effect.fail(unreadable) : Effect.succeed(found)
    })
  )

  /** Written beside, on the disk, then renamed: a reader sees the old file or the new one. */
  const replace = Effect.fnUntraced(function* (text: string) {
    const temporary = `${path}.${uuidV4Unsafe()}.tmp`
    yield* folder
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(new TextEncoder().encode(text))
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  return TokenStore.of({
    load,
    save: (tokens) => Effect.mapError(replace(`${JSON.stringify(toStored(tokens), null, 1)}\n`), failed("write")),
    exclusive: (effect) =>
      permit.withPermits(1)(
        Effect.scoped(
          Effect.andThen(
            Effect.andThen(Effect.mapError(folder, failed("make the folder of")), hold(`${path}.lock`)),
            effect
          )
        )
      )
  })
})

/**
 * A store in a file; default `defaultPath`. Reads the token files of other programs of this field too.
 *
 * ```ts
 * import * as FileTokenStore from "@signalbox/graph/FileTokenStore"
 *
 * export const store = FileTokenStore.layer({ path: "./tokens/ann.json" })
 * ```
 */
export const layer = (options: { readonly path?: string } = {}): Layer.Layer<TokenStore> =>
  Layer.effect(TokenStore, make(options)).pipe(Layer.provide(NodeFileSystem.layer))
