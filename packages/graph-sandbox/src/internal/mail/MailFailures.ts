/**
 * What a mailbox refuses, and with which words.
 */
import { Failure, make } from "../model/Failure.ts"

export const notFound = make(404, "ErrorItemNotFound", "The specified object was not found in the store.")
export const accessDenied = make(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")
export const folderExists = make(409, "ErrorFolderExists", "A folder with the specified name already exists.")
export const invalidRequest = make(400, "ErrorInvalidRequest", "The request is invalid.")
export const inefficient = make(
  400,
  "InefficientFilter",
  "The restriction or sort order is too complex for this operation."
)
export const noRecipients = make(400, "ErrorInvalidRecipients", "At least one recipient isn't valid.")
export const sentAlready = make(
  400,
  "ErrorInvalidPropertyUpdateSentMessage",
  "Update operation is invalid for property of a sent message."
)
export const distinguished = make(403, "ErrorDeleteDistinguishedFolder", "Distinguished folders cannot be deleted.")
export const tooLarge = make(413, "BadRequest", "The maximum request length supported is 4MB.")
export const attachmentTooSmall = make(
  400,
  "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize",
  "Attachment size must be at least 3 MB."
)
export const messageTooLarge = make(400, "ErrorMessageSizeExceeded", "The message exceeds the maximum supported size.")

/** More requests of one app to one mailbox at a time than are allowed. */
export const concurrency = new Failure({
  status: 429,
  code: "ApplicationThrottled",
  message: "Application is over its MailboxConcurrency limit.",
  headers: { "retry-after": "1" }
})
