/** Text to paste elsewhere. */
import { useRef, useState } from "preact/hooks"
import { Button } from "./Basics.tsx"

const select = (element: HTMLElement | null) => {
  const selection = getSelection()
  if (element === null || selection === null) return
  selection.removeAllRanges()
  const range = document.createRange()
  range.selectNodeContents(element)
  selection.addRange(range)
}

/** The text, and a button that copies it. `label` names it for those who do not see it, such as `Command`. */
export const Copyable = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const element = useRef<HTMLPreElement>(null)
  const [said, setSaid] = useState("")
  const copy = async () => {
    select(element.current)
    // Pages over plain HTTP have no clipboard, but may copy what is selected.
    const isCopied = isSecureContext
      ? await navigator.clipboard.writeText(text).then(
          () => true,
          () => document.execCommand("copy")
        )
      : document.execCommand("copy")
    setSaid(isCopied ? "Copied" : "Selected: press Ctrl-C")
    setTimeout(() => setSaid(""), 3000)
  }
  return (
    <div class="copyable">
      <pre ref={element} tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <Button aria-label={`Copy: ${label}`} onClick={() => void copy()}>
        {said === "" ? "Copy" : said}
      </Button>
      <span class="hidden" role="status">
        {said}
      </span>
    </div>
  )
}
