/**
 * Tokens in a file of the user, for scripts on Node. The file is readable by its owner alone, replaced as a whole, and renewed
 * by one process at a time.
 */
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import * as PrivateFile from "./internal/login/PrivateFile.ts"
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
  const path = resolve(options.path ?? (yield* defaultPath))
  const file = yield* PrivateFile.make("the token file", path)
  const unreadable = new TokenStoreError({
    message: `the token file (${path}) does not hold a token: move it away and authorize again`
  })
  return TokenStore.of({
    load: Effect.flatMap(file.read, (text) => {
      if (Option.isNone(text)) return Effect.succeedNone
      const found = fromStored(Option.getOrNull(parse(text.value)))
      return found === "unreadable" ? Effect.fail(unreadable) : Effect.succeed(found)
    }),
    save: (tokens) => file.replace(`${JSON.stringify(toStored(tokens), null, 1)}\n`),
    exclusive: file.exclusive
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
