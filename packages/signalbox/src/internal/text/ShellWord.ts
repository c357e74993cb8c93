/** Texts in the lines that people copy into a shell. */

/** In single quotes, in which a shell of the family of sh reads nothing but the end. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** As one word of a command line: quoted where it has characters that mean something to a shell. */
export const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text))
