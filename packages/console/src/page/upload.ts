/** Files to the control room, with how much of them is sent. */
import type { UploadForm } from "@signalbox/api/contract/Files"
import { call } from "./action.ts"
import { ApiError, messageOf } from "./api.ts"
import * as text from "./text/text.ts"

/** The address of a transfer as this page reaches the service: it may go by another name than its public address. */
export const hereOf = (address: string): string => {
  const { pathname, search } = new URL(address, document.baseURI)
  return `${pathname}${search}`
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Sends bytes; `onProgress` is called with a number from 0 to 1. Rejects with `ApiError`. */
export const transfer = (
  method: "POST" | "PUT",
  address: string,
  bytes: FormData | Blob,
  onProgress: (part: number) => void
): Promise<void> =>
  new Promise((resolve, reject) => {
    // `fetch` does not tell how much has been sent.
    const request = new XMLHttpRequest()
    request.open(method, hereOf(address))
    request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total)
    })
    request.addEventListener("load", () => {
      const { responseText, status } = request
      if (status >= 200 && status < 300) resolve()
      else reject(new ApiError(status, messageOf(parse(responseText), status)))
    })
    request.addEventListener("error", () => reject(new ApiError(0, text.kit.uploadCut)))
    request.send(bytes)
  })

/** Sends a file with a form that the control room has signed. */
export const sendForm = (form: UploadForm, file: File, onProgress: (part: number) => void): Promise<void> => {
  const data = new FormData()
  for (const [name, value] of Object.entries(form.form_data)) data.set(name, value)
  data.set("file", file)
  return transfer("POST", form.url, data, onProgress)
}

/** Creates a resource and sends its content; returns its id. Where that fails it is deleted, since it would keep the name. */
export const createFilled = async (
  path: string,
  name: string,
  fill: (id: string) => Promise<unknown>
): Promise<string> => {
  const { id } = await call<{ readonly id: string }>("POST", path, { body: { name } })
  try {
    await fill(id)
  } catch (error) {
    await call("DELETE", `${path}/${id}`).catch(() => {})
    throw error
  }
  return id
}
