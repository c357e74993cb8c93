/**
 * Lines of commands, split as a shell would and run in none.
 */
import * as Result from "effect/Result"
import { split } from "shlex"

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

export const isCommand = (words: ReadonlyArray<string>): words is Command => words.length > 0 && words[0] !== ""

/** Splits a line into words; nothing in it is expanded. Fails with what is wrong with it. */
export const commandOf = (line: string): Result.Result<Command, string> =>
  Result.flatMap(Result.try({ try: () => split(line), catch: () => "a quote is not closed" }), (words) =>
    isCommand(words) ? Result.succeed(words) : Result.fail("is empty")
  )
