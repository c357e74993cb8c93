/**
 * The file of a workbook: a zip archive of parts, most of them XML.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Xml from "effect/encoding/Xml"
import * as Zip from "effect/encoding/Zip"
import * as Failure from "../model/Failure.ts"

export type Element = Xml.Element

const unreadable = (why: string) => Failure.unsupportedWorkbook(`The workbook cannot be opened: ${why}`)

/** All parts, in the order of the file. */
export const unzip = (bytes: Uint8Array) =>
  Stream.make(bytes).pipe(
    Stream.pipeThroughChannel(Zip.decode()),
    Stream.filter(({ header }) => header.type === "File"),
    Stream.mapEffect(({ body, header }) =>
      Effect.map(Stream.runCollect(body), (chunks) => [header.path, new Uint8Array(Buffer.concat(chunks))] as const)
    ),
    Stream.runCollect,
    Effect.mapBoth({
      onFailure: ({ message }) => unreadable(message),
      onSuccess: (parts) => new Map<string, Uint8Array>(parts)
    })
  )

export const zip = (parts: ReadonlyMap<string, Uint8Array>) =>
  Stream.fromIterable(parts).pipe(
    Stream.map(([path, content]) => Zip.file(path, content)),
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.runCollect,
    Effect.mapBoth({
      onFailure: ({ message }) => unreadable(message),
      onSuccess: (chunks) => new Uint8Array(Buffer.concat(chunks))
    })
  )

/** A part as a tree. */
export const tree = Effect.fnUntraced(function* (parts: ReadonlyMap<string, Uint8Array>, path: string) {
  const content = parts.get(path)
  if (content === undefined) return yield* unreadable(`it has no part ${path}.`)
  const [root] = yield* Stream.make(content).pipe(
    Stream.pipeThroughChannel(Xml.decode({ maxTokenSize: Infinity })),
    Stream.pipeThroughChannel(Xml.elements(["*"], { maxElementSize: Infinity })),
    Stream.runCollect,
    Effect.mapError(({ message }) => unreadable(`${path}: ${message}`))
  )
  if (root === undefined || root.name.includes(":")) return yield* unreadable(`${path} has another form.`)
  return root
})

const isElement = (child: Element | string): child is Element => typeof child !== "string"

export const children = (parent: Element | undefined, name: string): ReadonlyArray<Element> =>
  parent?.children.filter(isElement).filter((child) => child.name === name) ?? []

export const child = (parent: Element | undefined, name: string): Element | undefined => children(parent, name)[0]

/** All text in it. */
export const textOf = (element: Element | undefined): string =>
  element?.children.map((child) => (isElement(child) ? textOf(child) : child)).join("") ?? ""

export const element = (
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  below: ReadonlyArray<Element | string> = []
): Element => ({
  name,
  attributes: Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  ),
  children: below
})

/** The same with other children of a name: where the first of them was, or behind the children with these names. */
export const withChild = (
  parent: Element,
  replacement: Element | null,
  name: string,
  behind: ReadonlyArray<string> = []
): Element => {
  const at = parent.children.findIndex((child) => isElement(child) && child.name === name)
  const kept = parent.children.filter((child) => !isElement(child) || child.name !== name)
  const place = at >= 0 ? at : kept.findLastIndex((child) => isElement(child) && behind.includes(child.name)) + 1
  return { ...parent, children: replacement === null ? kept : kept.toSpliced(place, 0, replacement) }
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** Characters that XML cannot have are left out. */
const escaped = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- those are the characters
  text.replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "").replace(/[&<>"]/g, (c) => escapes[c] ?? c)

const written = ({ attributes, children, name }: Element): string => {
  const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`)
  const inside = children.map((child) => (isElement(child) ? written(child) : escaped(child))).join("")
  return inside === "" ? `<${name}${given.join("")}/>` : `<${name}${given.join("")}>${inside}</${name}>`
}

export const bytesOf = (root: Element): Uint8Array =>
  new TextEncoder().encode(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${written(root)}`)

/** Where the relations of a part stand. */
export const relationsPath = (path: string): string => path.replace(/[^/]*$/, (name) => `_rels/${name}.rels`)

/** The path that a relation of a part leads to. */
export const targetOf = (path: string, target: string): string =>
  decodeURIComponent(new URL(target, `file:///${path}`).pathname.slice(1))

/** The relations of a part: id, kind and path of what they lead to. */
export const relations = Effect.fnUntraced(function* (parts: ReadonlyMap<string, Uint8Array>, path: string) {
  if (!parts.has(relationsPath(path))) return []
  const root = yield* tree(parts, relationsPath(path))
  return children(root, "Relationship").map(({ attributes: { Id = "", Target = "", Type = "" } }) => ({
    id: Id,
    kind: Type.slice(Type.lastIndexOf("/") + 1),
    path: targetOf(path, Target)
  }))
})
