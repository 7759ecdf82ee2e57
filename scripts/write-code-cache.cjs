// Writes the code caches of the bundled scripts, after using them: V8 keeps the functions that have been compiled until then. See bin/load.js.

'use strict'

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { loadScript } = require('../bin/load.js')

const server = loadScript('server')
const client = loadScript('clusterctl')

/** A new folder, the same folder again, and a server in memory; each with first requests. */
async function exercise(folder) {
  for (const options of [{ dataDir: folder }, { dataDir: folder }, {}]) {
    const running = await server.exports.startServer(options)
    const configMaps = running.client.core.v1.configMaps('default')
    await configMaps.create({ metadata: { name: 'first' }, data: { key: 'value' } })
    await configMaps.get('first')
    await configMaps.list()
    await configMaps.delete('first')
    if (options.dataDir !== undefined) await listNamespaces(folder)
    await running.close()
  }
}

/** Twice: the second time, discovery is cached. */
async function listNamespaces(folder) {
  const io = { out() {}, err: console.error, progress() {}, isTerminal: false, style: { bold: (text) => text } }
  const argv = ['get', 'namespaces', '--kubeconfig', join(folder, 'admin.conf'), '--cache-dir', join(folder, 'cache')]
  for (let i = 0; i < 2; i++) await client.exports.main(argv, { io })
}

async function write() {
  const folder = mkdtempSync(join(tmpdir(), 'code-cache-'))
  try {
    await exercise(folder)
    for (const { script, cachePath } of [server, client]) writeFileSync(cachePath, script.createCachedData())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

write().then(() => process.exit())
