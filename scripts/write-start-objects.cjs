// Keeps the objects of a fresh server as bytes, in both vocabularies: see src/controllers/bootstrap/prepared.ts.

'use strict'

const { renameSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { loadCommand } = require('../bin/load-command.js')

const { exports: command, cachePath } = loadCommand()

async function write() {
  for (const name of ['cluster', 'kubernetes']) {
    const path = join(dirname(cachePath), `start-objects-${name}.bin`)
    writeFileSync(`${path}.draft`, await command.prepareObjects(name))
    renameSync(`${path}.draft`, path)
  }
}

write().then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
