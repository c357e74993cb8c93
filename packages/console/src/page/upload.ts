/** Uploads of files by the forms of the control room. */
import type { UploadForm } from "@signalbox/api/contract/Files"
import { ApiError, messageOf, parse } from "./api.ts"

/**
 * Sends a file by a form. `onProgress` gets the share that is sent, 0 to 1: `fetch` does not tell it. Rejects with
 * `ApiError`.
 */
export const upload = (
  form: UploadForm,
  file: Blob & { readonly name?: string },
  onProgress: (share: number) => void = () => {}
): Promise<void> =>
  new Promise((resolve, reject) => {
    const data = new FormData()
    for (const [name, value] of Object.entries(form.form_data)) data.append(name, value)
    data.append("file", file, file.name ?? "file")
    const request = new XMLHttpRequest()
    // The form has the public address; this page may have been opened by another name of the same service.
    const { pathname, search } = new URL(form.url, document.baseURI)
    request.open("POST", `${pathname}${search}`)
    request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total)
    })
    request.addEventListener("error", () => reject(new ApiError(0, "the control room cannot be reached")))
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) {
        onProgress(1)
        resolve()
      } else reject(new ApiError(request.status, messageOf(parse(request.responseText), request.status)))
    })
    request.send(data)
  })
