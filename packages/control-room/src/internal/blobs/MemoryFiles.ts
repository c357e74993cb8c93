/**
 * A `FileSystem` in memory, with the part that the service uses: files that are written once, then read, renamed and
 * removed. Everything is synchronous, so that virtual time never runs ahead of a file.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { systemError } from "effect/PlatformError"

/** Bytes that are appended to. */
interface Content {
  bytes: Uint8Array
  size: number
}

const append = (content: Content, chunk: Uint8Array) => {
  const size = content.size + chunk.length
  if (size > content.bytes.length) {
    const larger = new Uint8Array(Math.max(size, content.bytes.length * 2))
    larger.set(content.bytes.subarray(0, content.size))
    content.bytes = larger
  }
  content.bytes.set(chunk, content.size)
  content.size = size
}

const failure = (tag: "NotFound" | "AlreadyExists", method: string, path: string) =>
  systemError({ module: "FileSystem", method, _tag: tag, pathOrDescriptor: path })

const infoOf = (content: Content): FileSystem.File.Info => ({
  type: "File",
  mtime: Option.none(),
  atime: Option.none(),
  birthtime: Option.none(),
  dev: 0n,
  ino: Option.none(),
  mode: 0o600,
  nlink: Option.none(),
  uid: Option.none(),
  gid: Option.none(),
  rdev: Option.none(),
  size: ByteSize.fromInputUnsafe(content.size),
  blksize: Option.none(),
  blocks: Option.none()
})

const handleOf = (content: Content): FileSystem.File => {
  let position = 0
  const readInto = (buffer: Uint8Array, at: number) => {
    const part = content.bytes.subarray(at, Math.min(at + buffer.length, content.size))
    buffer.set(part)
    return part.length
  }
  const read: FileSystem.File["read"] = (buffer, options) =>
    Effect.sync(() => {
      if (options?.position !== undefined) return readInto(buffer, Number(options.position))
      const got = readInto(buffer, position)
      position += got
      return got
    })
  const write = (chunk: Uint8Array) =>
    Effect.sync(() => {
      append(content, chunk)
      return chunk.length
    })
  return {
    [FileSystem.FileTypeId]: FileSystem.FileTypeId,
    stat: Effect.sync(() => infoOf(content)),
    seek: (offset, from) =>
      Effect.sync(() => {
        position = (from === "start" ? 0 : position) + Number(offset)
        return BigInt(position)
      }),
    sync: Effect.void,
    read,
    readAlloc: (size, options) =>
      Effect.suspend(() => {
        const buffer = new Uint8Array(Math.min(size, content.size))
        return Effect.map(read(buffer, options), (got) =>
          got === 0 ? Option.none() : Option.some(buffer.subarray(0, got))
        )
      }),
    truncate: () => Effect.die(new Error("files in memory cannot be truncated")),
    write,
    writeAll: (chunk) => Effect.asVoid(write(chunk))
  }
}

const make = Effect.sync(() => {
  const files = new Map<string, Content>()
  const find = (method: string, path: string) =>
    Effect.suspend(() => {
      const content = files.get(path)
      return content === undefined ? Effect.fail(failure("NotFound", method, path)) : Effect.succeed(content)
    })
  return FileSystem.make({
    ...FileSystem.makeNoop({}),
    access: (path) => Effect.asVoid(find("access", path)),
    // Folders exist by the paths of files.
    makeDirectory: () => Effect.void,
    readDirectory: (path) =>
      Effect.sync(() => {
        const below = [...files.keys()].filter((name) => name.startsWith(`${path}/`))
        return [...new Set(below.map((name) => name.slice(path.length + 1).split("/", 1)[0] ?? ""))]
      }),
    open: (path, options) =>
      Effect.suspend(() => {
        const flag = options?.flag ?? "r"
        if (flag === "r") return Effect.map(find("open", path), handleOf)
        if (flag === "wx" && files.has(path)) return Effect.fail(failure("AlreadyExists", "open", path))
        const content: Content = { bytes: new Uint8Array(), size: 0 }
        files.set(path, content)
        return Effect.succeed(handleOf(content))
      }),
    readFile: (path) => Effect.map(find("readFile", path), ({ bytes, size }) => bytes.slice(0, size)),
    stat: (path) => Effect.map(find("stat", path), infoOf),
    rename: (from, to) =>
      Effect.map(find("rename", from), (content) => {
        files.delete(from)
        files.set(to, content)
      }),
    remove: (path) => Effect.flatMap(find("remove", path), () => Effect.sync(() => void files.delete(path)))
  })
})

/** Empty, and lost when the layer is released. */
export const layer = Layer.effect(FileSystem.FileSystem, make)
