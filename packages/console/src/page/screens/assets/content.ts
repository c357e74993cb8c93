/** The content of assets: which of it is text, reading and writing it. */
import type { Asset, AssetUploadCreated } from "@signalbox/api/contract/Assets"
import { call } from "../../action.ts"
import { ApiError } from "../../api.ts"
import { hereOf, transfer } from "../../upload.ts"
import * as text from "../../text/text.ts"

/** Above this many bytes, text is not edited in the page. */
export const maxEdited = 1_000_000

/** The text, or null where it is none. */
export const readText = async (bytes: Blob): Promise<string | null> => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await bytes.arrayBuffer())
  } catch {
    return null
  }
}

export const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)

const isText = (type: string): boolean => /^text\/|[/+](?:json|xml|yaml|x-yaml|toml|javascript|sql|x-sh)\b/i.test(type)

export interface Content {
  readonly type: string
  readonly bytes: number
  /** Null: it is not edited in the page. */
  readonly text: string | null
}

/** The address at which its content is now, which changes; null when it has none. */
export const linkOf = ({ payload }: Asset): string | null => ("url" in payload ? hereOf(payload.url) : null)

/** What an asset has now; null when nothing. */
export const contentOf = async (id: string): Promise<Content | null> => {
  const asset = await call<Asset>("GET", `assets/${id}`)
  const link = linkOf(asset)
  if (link === null || !("content_type" in asset.payload)) return null
  const type = asset.payload.content_type
  const ended = new AbortController()
  const response = await fetch(link, { credentials: "omit", signal: ended.signal })
  if (!response.ok) throw new ApiError(response.status, text.assets.notLoaded)
  const bytes = Number(response.headers.get("content-length") ?? Number.NaN)
  if (!isText(type) || bytes > maxEdited) {
    ended.abort()
    return { type, bytes, text: null }
  }
  const blob = await response.blob()
  return { type, bytes: blob.size, text: blob.size > maxEdited ? null : await readText(blob) }
}

/** Gives an asset its content. Until all of it is sent, it keeps the old one. */
export const setContent = async (
  id: string,
  type: string,
  bytes: Blob,
  onProgress: (share: number) => void = () => {}
): Promise<void> => {
  const created = await call<AssetUploadCreated>("POST", `assets/${id}/uploads`, { body: { content_type: type } })
  if ("upload_url" in created) await transfer("PUT", created.upload_url, bytes, onProgress)
}
