// A registry that has packages which are not published, and sends npm to another one for all others.
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"

/** Listens on this machine only. */
export const serve = async (elsewhere) => {
  const own = new Map()
  const server = createServer((request, response) => {
    const found = own.get(decodeURIComponent(request.url ?? "/"))
    if (found === undefined) {
      return response.writeHead(307, { location: `${elsewhere.replace(/\/$/, "")}${request.url}` }).end()
    }
    return response.writeHead(200, { "content-type": found.type }).end(found.body)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const url = `http://127.0.0.1:${server.address().port}`
  return {
    url,
    /** Has this package, as `npm pack` made it. */
    add: async (manifest, file) => {
      const { name, version } = manifest
      const body = await readFile(file)
      const path = `/${name}/-/${version}.tgz`
      const integrity = `sha512-${createHash("sha512").update(body).digest("base64")}`
      const versions = { [version]: { ...manifest, dist: { tarball: `${url}${path}`, integrity } } }
      own.set(path, { type: "application/octet-stream", body })
      own.set(`/${name}`, {
        type: "application/json",
        body: JSON.stringify({ name, "dist-tags": { latest: version }, versions })
      })
    },
    close: () => server.close()
  }
}
