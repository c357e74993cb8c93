/** Text of a source as people and logs see it: nothing in it moves a cursor, hides a part or is longer than a line. */

const longest = 300

const hex = (code: number) => `\\u${code.toString(16).padStart(4, "0")}`

/** Controls, formats such as those that turn the direction of writing, and separators of lines. */
const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu

const escaped = (text: string) =>
  text.replace(hidden, (found) => Array.from({ length: found.length }, (_, at) => hex(found.charCodeAt(at))).join(""))

/** A name or a message of the source, in a line of output. */
export const shown = (text: string): string => {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text
  return escaped(short)
}

/** The same value as JSON; its hidden characters are escapes of JSON. */
export const json = (value: unknown): string => escaped(JSON.stringify(value))
