// Copies modules of the published package to `dist/`: declarations, and the client for browser bundlers. The packages of this repository
// are not published under their names, so imports between them become relative.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const packages = ['api', 'client', 'server']
const entries = ['server/assemble/index.d.ts', 'client/index.d.ts', 'client/browser.d.ts', 'client/browser.js']
const builtPath = (path) => join('packages', path.replace('/', '/dist/'))
const specifiers = /((?:\bfrom|\bimport)\s*\(?\s*)(['"])((?:\.{1,2}|@cluster-apiserver)\/[^'"]+)\2/g

/** The path under `dist/` that an import of `from` leads to. */
const resolve = (from, specifier) =>
  specifier.startsWith('.') ? join(dirname(from), specifier) : specifier.slice('@cluster-apiserver/'.length)

function relativePath(from, to) {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

for (const name of packages) rmSync(join('dist', name), { recursive: true, force: true })
const waiting = [...entries]
const written = new Set()
for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
  if (written.has(path)) continue
  written.add(path)
  const from = path
  const text = readFileSync(builtPath(path), 'utf8').replaceAll(specifiers, (_, head, quote, specifier) => {
    const target = resolve(from, specifier)
    waiting.push(from.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target)
    return `${head}${quote}${relativePath(from, target)}${quote}`
  })
  mkdirSync(join('dist', dirname(path)), { recursive: true })
  writeFileSync(join('dist', path), text)
}
copyFileSync(builtPath('client/index.d.cts'), 'dist/client/index.d.cts')
