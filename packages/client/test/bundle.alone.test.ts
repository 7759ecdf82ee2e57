// Browser bundle of the client: size, no imports of Node.js, requests over fetch.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type RunningServer, startServer } from 'cluster-apiserver'
import { build } from 'esbuild'
import { tokenOf } from '../../../test/kit/embedded.js'
import { repoRoot } from '../../../test/kit/paths.js'

const limitBytes = 60_000

/** Bundles for browsers; imports of Node.js modules fail the build. */
async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(repoRoot, 'test') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

const gzipped = (text: string): number => gzipSync(text, { level: 9 }).length

describe('browser bundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-bundle-'))
  let server: RunningServer
  before(async () => {
    server = await startServer()
  })
  after(async () => {
    await server.close({ immediately: true })
    rmSync(folder, { recursive: true, force: true })
  })

  test(`has at most ${limitBytes / 1000} kB, and less after tree shaking`, async (t) => {
    const whole = gzipped(await bundle("export * from 'cluster-apiserver/client'"))
    const dynamic = gzipped(await bundle("export { Client, FetchTransport } from 'cluster-apiserver/client'"))
    const errors = gzipped(await bundle("export { isNotFound } from 'cluster-apiserver/client'"))
    t.diagnostic(`whole ${whole} bytes, without configuration and kinds ${dynamic}, one function ${errors}`)
    assert.ok(whole <= limitBytes, `${whole} bytes`)
    assert.ok(dynamic < whole * 0.75, `${dynamic} of ${whole} bytes`)
    assert.ok(errors < 1500, `${errors} bytes`)
  })

  test('require() with the condition browser works without fetch and WebSocket, as in Jest with jsdom', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--conditions=browser',
      '-e',
      `for (const name of ['fetch', 'TextDecoder', 'TextEncoder', 'WebSocket', 'ReadableStream']) delete globalThis[name]
       const client = require(require.resolve('cluster-apiserver/client', { paths: [${JSON.stringify(repoRoot)}] }))
       console.log(typeof client.Client, typeof client.FetchTransport, typeof client.HttpTransport)`,
    ])
    assert.equal(stdout, 'function function undefined\n')
  })

  test('get, list, watch and write over fetch', async () => {
    const program = `import { FetchTransport, makeTypedClient, isNotFound } from 'cluster-apiserver/client'
const [server, token] = [process.env.SERVER, process.env.TOKEN]
const client = makeTypedClient({ transport: new FetchTransport({ server }), credentials: { current: () => ({ authorization: 'Bearer ' + token }) } })
const maps = client.core.v1.configMaps('default')
const seen = []
const since = await maps.list()
await maps.create({ metadata: { name: 'seen' }, data: { text: 'ä€😀' } })
for await (const { type, object } of maps.watch({ since })) { seen.push(type, object.data.text); break }
await maps.patch('seen', { data: { text: null } })
seen.push(Object.keys((await maps.get('seen')).data ?? {}).length, (await maps.table()).kind)
await maps.delete('seen')
await maps.get('seen').catch((error) => seen.push(isNotFound(error)))
await maps.list({ signal: AbortSignal.abort(new Error('enough')) }).catch((error) => seen.push(error.message))
const unreachable = makeTypedClient({ transport: new FetchTransport({ server: 'http://127.0.0.1:1' }) })
await unreachable.version().catch((error) => seen.push(error.kind))
client.close()
console.log(JSON.stringify(seen))
`
    const file = join(folder, 'page.mjs')
    writeFileSync(file, await bundle(program))
    writeFileSync(join(folder, 'ca.crt'), server.caPem)
    const env = { ...process.env, SERVER: server.url, TOKEN: tokenOf(server), NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') }
    const output = await new Promise<string>((resolve, reject) =>
      execFile(process.execPath, [file], { env, timeout: 20_000 }, (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(stderr, { cause: error })),
      ),
    )
    assert.deepEqual(JSON.parse(output), ['ADDED', 'ä€😀', 0, 'Table', true, 'enough', 'connection'])
  })
})
