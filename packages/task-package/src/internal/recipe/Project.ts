/**
 * `pyproject.toml` beside a `uv.lock`.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Toml from "effect/encoding/Toml"
import type { InvalidRecipe } from "../../InvalidRecipe.ts"
import { invalid } from "./Located.ts"

const decode = Schema.decodeUnknownResult(
  Schema.Struct({
    project: Schema.Struct({ name: Schema.String, "requires-python": Schema.optionalKey(Schema.String) })
  })
)

const file = "pyproject.toml"

/** The versions of Python that a project takes, null where it does not say. */
export const pythonOf = (content: string): Result.Result<string | null, InvalidRecipe> =>
  Result.gen(function* () {
    const toml = yield* Result.mapError(Toml.parse(content), (error) => {
      const line = /line (\d+)/.exec(error.message)?.[1]
      const what = error.message.replace(/ at line \d+, column \d+$/, "")
      return invalid({ file, line: line === undefined ? null : Number(line) }, `not valid TOML: ${what}`)
    })
    const { project } = yield* Result.mapError(decode(toml), () =>
      invalid({ file, line: null }, "has no table [project] with a name; `uv sync` needs one")
    )
    return project["requires-python"]?.replaceAll(/\s+/g, "") ?? null
  })
