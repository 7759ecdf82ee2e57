// The static files of the console (--console): where they are served, with which headers, and that they need no credentials.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ApiClient } from '../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { repoRoot } from '../../../test/kit/paths.js'

describe('console files', () => {
  let embedded: Embedded
  let client: ApiClient
  before(async () => {
    embedded = await startEmbedded('memory', ['--anonymous-auth=false'])
    client = new ApiClient({ url: embedded.server.url, ca: embedded.server.caPem })
  })
  after(async () => {
    client.close()
    await embedded.close()
  })

  const assets = async (): Promise<readonly string[]> =>
    [...(await client.get('/console/')).text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name)

  test('the page and its files are served without credentials, and nothing else is', async () => {
    const page = await client.get('/console/')
    assert.equal(page.status, 200)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    const names = await assets()
    assert.equal(names.length, 3)
    for (const name of names) assert.equal((await client.get(`/console/${name}`)).status, 200, name)
    for (const path of [
      '/console/none.js',
      '/console/..%2fbundle%2fserver.js',
      '/console/../bundle/server.js',
      '/console//',
      '/console/app',
    ])
      assert.equal((await client.get(path)).status, 404, path)
    assert.equal((await client.get('/api')).status, 401)
    assert.equal((await client.get('/consoles')).status, 401)
    const moved = await client.get('/console')
    assert.deepEqual([moved.status, moved.headers.location], [301, '/console/'])
  })

  test('other methods are refused', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await client.send({ method, path: '/console/' })
      assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], method)
    }
    const head = await client.send({ method: 'HEAD', path: '/console/' })
    assert.deepEqual([head.status, head.bytes.length], [200, 0])
  })

  test('the policy allows only own files, and no page may embed or read them', async () => {
    for (const path of ['/console/', ...(await assets()).map((name) => `/console/${name}`)]) {
      const { headers } = await client.get(path)
      const policy = String(headers['content-security-policy'])
      assert.doesNotMatch(policy, /unsafe-|\*|https?:|data:|blob:/)
      assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['set-cookie'], undefined)
      assert.equal(headers['access-control-allow-origin'], undefined)
    }
    assert.doesNotMatch((await client.get('/console/')).text, /<script(?![^>]*src=)|style=|\son\w+=/)
  })

  test('files are compressed, and cached by their name or tag', async () => {
    const script = (await assets()).find((name) => name.endsWith('.js'))
    const plain = await client.get(`/console/${script}`)
    const compressed = await client.get(`/console/${script}`, { 'accept-encoding': 'gzip' })
    assert.equal(compressed.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(compressed.bytes), plain.bytes)
    assert.match(String(plain.headers['cache-control']), /immutable/)
    const page = await client.get('/console/')
    assert.equal(page.headers['cache-control'], 'no-cache')
    const again = await client.get('/console/', { 'if-none-match': String(page.headers.etag) })
    assert.deepEqual([again.status, again.bytes.length], [304, 0])
  })

  test('all files together are small, those that are loaded later included', async (context) => {
    const names = readdirSync(join(repoRoot, 'dist', 'console')).filter((name) => !name.endsWith('.gz'))
    let bytes = 0
    for (const name of names) bytes += (await client.get(`/console/${name}`, { 'accept-encoding': 'gzip' })).bytes.length
    context.diagnostic(`${names.length} files, ${bytes} bytes with gzip`)
    assert.ok(names.length > (await assets()).length)
    assert.ok(bytes < 350_000, `${bytes} bytes`)
  })
})

test('--console=false serves no console; without the flag only loopback addresses do', async () => {
  for (const [flags, status] of [
    [['--console=false'], 403],
    [['--bind-address=0.0.0.0'], 403],
    [['--bind-address=0.0.0.0', '--console'], 200],
  ] as const) {
    const { server, close } = await startEmbedded('memory', flags)
    const client = new ApiClient({ url: `https://127.0.0.1:${new URL(server.url).port}`, ca: server.caPem })
    assert.equal((await client.get('/console/')).status, status, flags.join(' '))
    client.close()
    await close()
  }
})
