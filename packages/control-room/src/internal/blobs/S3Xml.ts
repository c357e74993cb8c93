/** The little XML of the S3 interface: flat elements, read by name. */

const entities: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

const unescape = (text: string) =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|apos|gt|lt|quot));/gi, (_, decimal, hexadecimal, name) =>
    name === undefined
      ? String.fromCodePoint(decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal))
      : (entities[String(name).toLowerCase()] ?? "")
  )

const escape = (text: string) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)

/** The text of the first element of this name; null: there is none. */
export const textOf = (xml: string, name: string): string | null => {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return text === undefined ? null : unescape(text)
}

/** The content of every element of this name. */
export const elementsOf = (xml: string, name: string): ReadonlyArray<string> =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs"))].map(([, content = ""]) => content)

/** A part of a multipart upload, as the service confirmed it. */
export interface Part {
  readonly number: number
  readonly etag: string
}

/** The body that completes a multipart upload. */
export const completion = (parts: ReadonlyArray<Part>): string => {
  const listed = parts.map(
    ({ etag, number }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escape(etag)}</ETag></Part>`
  )
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed.join("")}</CompleteMultipartUpload>`
}
