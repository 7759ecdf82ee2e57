// Loads the command as one script with the code that V8 made of it at build time: to parse and compile it anew is most of what a start would
// cost. The code cache depends on the version of Node; one that does not fit is passed over, and the start takes a little longer.

'use strict'

const { closeSync, fstatSync, openSync, readSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist', 'bundle')
/** By how much a code cache may be longer than its text. */
const spareBytes = 256 << 10
/** The first line of the text. */
const nameOf = (text) => text.slice('// '.length, text.indexOf('\n'))

/** Memory for both files, one after the other: what is new to the process is handed out page by page, which takes longer than to read. */
let memory = Buffer.alloc(0)

/** The bytes of a file, until the next is read; undefined where there is none. */
function readOptional(path) {
  let file
  try {
    file = openSync(path)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { size } = fstatSync(file)
    if (memory.length < size) memory = Buffer.allocUnsafeSlow(size + spareBytes)
    let read = 0
    // One reading need not bring all of it.
    for (let more = 1; more > 0 && read < size; read += more) more = readSync(file, memory, read, size - read, read)
    return memory.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

/** Undefined where nothing is built. `name`: which of the scripts. `flags`: which of its caches, where it has several. */
function loadCommand(name = 'command', flags = '') {
  const path = join(folder, `${name}.cjs`)
  // All of it is ASCII, which is what makes this quick.
  const text = readOptional(path)?.toString('latin1')
  if (text === undefined) return undefined
  const cachePath = join(folder, `${name}-${nameOf(text)}${flags}.cache`)
  const script = new Script(text, { filename: path, cachedData: readOptional(cachePath) })
  memory = Buffer.alloc(0)
  const command = { exports: {} }
  script.runInThisContext()(command.exports, createRequire(path), command, path, dirname(path))
  return { script, cachePath, exports: command.exports }
}

/**
 * A script that is loaded at any time. A code cache is good for the flags of V8 only that were set when it was written, and a server sets some when it has
 * been ready for a while: so there are two of them, and their names say for what they are good.
 */
const loadLater = (name) => loadCommand(name, `-${require('node:v8').cachedDataVersionTag()}`)

module.exports = { loadCommand, loadLater }
