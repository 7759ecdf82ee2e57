// Loads a bundled script with its V8 code cache (node:vm `cachedData`). V8 rejects the cache of another Node.js version; the start is slower then.

'use strict'

const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist', 'bundle')

const isBuilt = (name) => existsSync(join(folder, `${name}.js`))

/** The text of the script is a function with the parameters of a CommonJS module. */
function loadScript(name) {
  const path = join(folder, `${name}.js`)
  const cachePath = join(folder, `${name}.cache`)
  const cachedData = existsSync(cachePath) ? readFileSync(cachePath) : undefined
  const script = new Script(readFileSync(path, 'utf8'), { filename: path, cachedData })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path))
  return { script, cachePath, exports: module.exports }
}

const load = (name) => loadScript(name).exports

module.exports = { isBuilt, load, loadScript }
