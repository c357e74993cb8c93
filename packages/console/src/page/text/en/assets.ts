/** Text of assets. */

export const assets = {
  kindJson: "JSON, edited here",
  kindText: "Text, edited here",
  kindFile: "File upload",
  new: "New asset",
  create: "Create asset",
  created: (name: string) => `Asset ${name} created.`,
  nameHint: "Robots request the asset by this name, such as config/eu.json",
  none: "No assets yet",
  conflict: "Someone changed the asset since you opened this page. Copy your text and reload the page.",
  saved: "Asset saved. Robots read the new content from now on.",
  content: "Content",
  noContent: "No content yet",
  noContentHint: "Upload a file to add content.",
  notEditable: "This content cannot be edited here. Download the file, change and upload it again.",
  uploadTitle: (name: string) => `Upload content of ${name}`,
  upload: "Upload file",
  replaced: "Content replaced.",
  replaceHint: "The file replaces the current content when the upload is complete.",
  asset: "Asset",
  uploadMore: "Upload…",
  deleteAsset: "Delete asset",
  deleted: (name: string) => `Asset ${name} deleted.`,
  deleteHint: "Robots that request this asset will fail. This action cannot be undone.",
  notLoaded: "The content could not be loaded. Reload the page.",
  noneHint: "An asset is a text or a file that robots read by its name, such as settings."
}
