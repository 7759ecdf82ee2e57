// Starts servers at build time, and keeps the code that V8 has compiled for it until then: see bin/load-command.js.

'use strict'

const { mkdtempSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { get } = require('node:https')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const v8 = require('node:v8')
const { loadCommand, loadLater } = require('../bin/load-command.js')

// The server sets flags of V8, and a cache is good for the flags only that were set when it was written.
const { setFlagsFromString } = v8
v8.setFlagsFromString = () => undefined

const folder = mkdtempSync(join(tmpdir(), 'code-cache-'))
const { script, cachePath, exports: command } = loadCommand()
const client = loadCommand('clusterctl')
const listeners = new Map()

/** On a folder that is used already: what is done on a new one as well is what a start in memory does. */
async function serve() {
  const dataDir = join(folder, 'data')
  for (const options of [{}, { dataDir }]) {
    const server = await command.startServer(options)
    await use(server)
    await server.close()
  }
  return new Promise((resolve) => {
    const surroundings = {
      print: (text) => visit(text),
      complain: (text) => process.stderr.write(text),
      signals: { on: (signal, listener) => listeners.set(signal, listener) },
      exit: resolve,
    }
    command.main([`--data-dir=${dataDir}`, '--bind-address=127.0.0.1', '--secure-port=0'], surroundings)
  })
}

/** What programs do first with a server that they embed. */
async function use({ client }) {
  const maps = client.core.v1.configMaps('default')
  await maps.create({ metadata: { name: 'first' }, data: { key: 'value' } })
  await maps.get('first')
  await maps.list()
  await maps.delete('first')
}

function keep({ script, cachePath }) {
  writeFileSync(`${cachePath}.draft`, script.createCachedData())
  renameSync(`${cachePath}.draft`, cachePath)
}

/** What is compiled for the first requests belongs to it. */
function visit(greeting) {
  const [url] = /https:\/\/[^\s/]+/.exec(greeting) ?? []
  if (url === undefined) return
  get(`${url}/readyz`, { rejectUnauthorized: false }, (answer) => {
    answer.resume()
    answer.on('end', async () => {
      keep({ script, cachePath })
      const flags = ['--kubeconfig', join(folder, 'data', 'admin.conf'), '--cache-dir', folder]
      const io = { out() {}, err: console.error, progress() {}, isTerminal: false, style: { bold: (text) => text } }
      // The second time, what is served is known.
      for (let i = 0; i < 2; i++) await client.exports.main(['get', 'namespaces', ...flags], { io })
      keep(client)
      listeners.get('SIGTERM')()
    })
  })
}

/** What patterns are read with is loaded by the first of them: before the server has set its flags, or after that. */
function keepPatterns() {
  const use = () => {
    const patterns = loadLater('re2js')
    for (const text of usualPatterns) patterns.exports.RE2JS.compile(text).matches('example.com')
    keep(patterns)
  }
  use()
  for (const flag of command.platformFlags) setFlagsFromString(flag)
  use()
}

const usualPatterns = ['^[a-z]+$', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', '^(?:A|B\\d{1,3})$']

serve().then((code) => {
  keepPatterns()
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
})
