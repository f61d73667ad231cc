/** The resources: a text, a picture, one that changes, and a template. */
import { ResourceTemplate } from "@modelcontextprotocol/server"
import { watched } from "./changes.mjs"
import { png } from "./samples.mjs"

const day = 24 * 60 * 60 * 1000

export const registerResources = (server, changes) => {
  const resource = (name, uri, description, mimeType, content, ttlMs = day) =>
    server.registerResource(
      name,
      uri,
      { description, mimeType, cacheHint: { ttlMs, cacheScope: "public" } },
      () => ({ contents: [{ uri, mimeType, ...content() }] })
    )
  resource("static-text", "test://static-text", "A text", "text/plain", () => ({
    text: "This is the content of the static text resource."
  }))
  resource("static-binary", "test://static-binary", "A picture", "image/png", () => ({ blob: png }))
  resource("watched-resource", watched, "A text that changes", "text/plain", () => ({
    text: `Text number ${changes.now.text}`
  }), 0)
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "Data for an id", mimeType: "application/json", cacheHint: { ttlMs: day, cacheScope: "public" } },
    ({ href }, { id }) => ({
      contents: [{
        uri: href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
      }]
    })
  )
}
