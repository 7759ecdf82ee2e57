// Files of a folder over HTTP, for pages that are served beside the proxy.

import { createReadStream, readdirSync, realpathSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream'
import { sortTexts } from '../base/text-order.js'

const types: { readonly [ending: string]: string } = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
}

/** `path` is what stands behind the prefix, as it was sent. */
export function serveFile(folder: string, path: string, response: ServerResponse): void {
  const file = fileAt(folder, path)
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (file === undefined || stat === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
    return
  }
  if (!stat.isDirectory()) {
    sendFile(file, stat.size, response)
    return
  }
  const index = join(file, 'index.html')
  const page = statSync(index, { throwIfNoEntry: false })
  if (page?.isFile() === true && fileAt(folder, join(path, 'index.html')) !== undefined) sendFile(index, page.size, response)
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(listing(file))
}

/** Undefined where it is outside of the folder, by dots or by links. */
function fileAt(folder: string, path: string): string | undefined {
  try {
    const root = realpathSync(resolve(folder))
    const file = realpathSync(join(root, decodeURIComponent(path)))
    return file === root || file.startsWith(root.endsWith(sep) ? root : `${root}${sep}`) ? file : undefined
  } catch {
    return undefined
  }
}

function sendFile(file: string, size: number, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': types[extname(file).toLowerCase()] ?? 'application/octet-stream', 'content-length': size })
  pipeline(createReadStream(file), response, (problem) => {
    if (problem) response.destroy()
  })
}

function listing(folder: string): string {
  const names = readdirSync(folder, { withFileTypes: true }).map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
  const asText = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
  return `<pre>\n${sortTexts(names)
    .map((name) => `<a href="${encodeURI(name).replaceAll('?', '%3F').replaceAll('#', '%23')}">${asText(name)}</a>\n`)
    .join('')}</pre>\n`
}
