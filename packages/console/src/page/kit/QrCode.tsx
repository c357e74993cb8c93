/** A text as a picture that a phone reads. What draws it is loaded when it is needed. */
import { useEffect, useState } from "preact/hooks"

/** One square each, in rows. */
const pathOf = (rows: ReadonlyArray<ReadonlyArray<boolean>>) =>
  rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("")

export const QrCode = ({ text: content, label }: { readonly text: string; readonly label: string }) => {
  const [rows, setRows] = useState<ReadonlyArray<ReadonlyArray<boolean>> | null>(null)
  useEffect(() => {
    // Where it does not load, the text beside the picture is typed.
    import("qr").then(
      ({ encodeQR }) => setRows(encodeQR(content, "raw", { border: 4 })),
      () => {}
    )
  }, [content])
  return rows === null ? null : (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${rows.length} ${rows.length}`}>
      <path d={pathOf(rows)} />
    </svg>
  )
}
