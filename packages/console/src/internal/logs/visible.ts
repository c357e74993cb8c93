/** Text of robots and people, without the characters that change how other text reads. */

// oxlint-disable-next-line no-control-regex -- robots write escape sequences, and these are what is looked for
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g
// oxlint-disable-next-line no-control-regex -- these are the characters to be shown by a picture of theirs
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g
/** Marks of direction, and what has no width. Joiners stay: emoji and several scripts need them. */
const marks = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g

/** A message as text that changes nothing around it: without colours, with its control characters and marks to be seen. */
export const visible = (message: string): string =>
  message
    .replace(/\r\n/g, "\n")
    .replace(escapes, "")
    .replace(controls, (char) => String.fromCharCode(0x2400 + (char === "\u007f" ? 0x21 : char.charCodeAt(0))))
    .replace(marks, (char) => `[U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`)
