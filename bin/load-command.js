// Loads the command as one script with the code that V8 made of it at build time: to parse and compile it anew is most of what a start would
// cost. The code cache depends on the version of Node; one that does not fit is passed over, and the start takes a little longer.

'use strict'

const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist', 'bundle')
/** The first line of the text. */
const nameOf = (text) => text.slice('// '.length, text.indexOf('\n'))

const readOptional = (file, encoding) => {
  try {
    return readFileSync(file, encoding)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Undefined where nothing is built. `name`: which of the scripts. */
function loadCommand(name = 'command') {
  const path = join(folder, `${name}.cjs`)
  // All of it is ASCII, which is what makes this quick.
  const text = readOptional(path, 'latin1')
  if (text === undefined) return undefined
  const cachePath = join(folder, `${name}-${nameOf(text)}.cache`)
  const script = new Script(text, { filename: path, cachedData: readOptional(cachePath) })
  const command = { exports: {} }
  script.runInThisContext()(command.exports, createRequire(path), command, path, dirname(path))
  return { script, cachePath, exports: command.exports }
}

module.exports = { loadCommand }
