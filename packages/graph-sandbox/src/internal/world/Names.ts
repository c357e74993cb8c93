/**
 * Names of files and folders.
 */
import * as Result from "effect/Result"
import * as Failure from "../model/Failure.ts"

const forbidden = /["*:<>?/\\|]/

/** Why a name cannot be used. */
export const check = (name: unknown): Result.Result<string, Failure.Failure> => {
  if (typeof name !== "string" || name === "") {
    return Result.fail(Failure.invalidRequest("The name of an item must be given.", "invalidParameterFormat"))
  }
  if (name.length > 255) return Result.fail(Failure.invalidRequest("The name is too long.", "parameterIsTooLong"))
  return forbidden.test(name) || name.endsWith(".") || name.trim() !== name || name.startsWith("~$")
    ? Result.fail(
        Failure.invalidRequest("The provided name cannot contain special characters.", "nameContainsInvalidCharacters")
      )
    : Result.succeed(name)
}
