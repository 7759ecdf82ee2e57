// `clusterctl console`: signs a page in once, and serves only that page.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { RunningServer } from 'cluster-apiserver'
import { Kubectl } from '../../../test/clients/kubectl.js'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { until } from '../../../test/kit/fixtures.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { newFolder } from '../../../test/kit/server-process.js'

const clientFor = (server: RunningServer): Kubectl => {
  const home = newFolder()
  const clientConfiguration = join(home, 'config')
  writeFileSync(clientConfiguration, server.clientConfiguration)
  return new Kubectl({ command: join(repoRoot, 'bin', 'clusterctl'), clientConfiguration, home, minor: 26 })
}

describe('clusterctl console', () => {
  let embedded: Embedded
  before(async () => {
    embedded = await startEmbedded('memory')
  })
  after(() => embedded.close())

  test('the code of the address works once; its token gives the page the permissions of the user', async () => {
    const command = clientFor(embedded.server).follow('console --no-browser')
    try {
      const [, origin = '', code = ''] =
        /(http:\/\/127\.0\.0\.1:\d+)\/console\/#code=([\w-]+)/.exec(await command.until(/#code=[\w-]+\n/)) ?? []
      const page = await fetch(`${origin}/console/`)
      assert.equal(page.status, 200)
      assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
      const exchange = (body: string, headers = {}): Promise<Response> =>
        fetch(`${origin}/console/exchange`, { method: 'POST', body, headers })
      assert.equal((await exchange('wrong')).status, 403)
      assert.equal((await exchange(code, { origin: 'https://evil.example' })).status, 403, 'a page of another site')
      const { host, port } = new URL(origin)
      const cut = connect(Number(port), '127.0.0.1')
      cut.write(`POST /console/exchange HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 43\r\n\r\nx`)
      await once(cut, 'connect')
      // The command has the head of the request before it serves a later one.
      assert.equal((await exchange('wrong')).status, 403)
      cut.destroy()
      const token = await (await exchange(code)).text()
      assert.equal((await exchange(code)).status, 403, 'a second time')
      const get = (headers = {}): Promise<Response> => fetch(`${origin}/api/v1/namespaces/default`, { headers })
      assert.equal((await get({ authorization: `Bearer ${token}` })).status, 200)
      assert.equal((await get()).status, 401)
      assert.equal((await get({ authorization: `Bearer ${token}`, origin: 'https://evil.example' })).status, 403)
      const asViewer = { authorization: `Bearer ${token}`, 'impersonate-user': 'viewer' }
      assert.equal((await get(asViewer)).status, 403, 'the user of the headers')
      assert.equal((await get({ ...asViewer, 'impersonate-group': 'system:masters' })).status, 200)
      assert.equal((await get({ authorization: `Bearer ${token}`, 'impersonate-group': 'system:masters' })).status, 400)
      const rebound = await new Promise((resolve, reject) =>
        request(`${origin}/console/`, { headers: { host: 'evil.example' } }, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end(),
      )
      assert.equal(rebound, 403, 'another name for 127.0.0.1')
    } finally {
      command.close()
    }
  })
})

test('the commands of docs/console.md run', async () => {
  const page = readFileSync(join(repoRoot, 'docs/console.md'), 'utf8')
  const lines = [...page.matchAll(/^```sh\nclusterctl (.*)\n```$/gm)].map(([, line = '']) => line)
  assert.deepEqual(lines, ['console', 'console --no-browser --port=8002', 'create token default --duration=1h'])
  const { server, close } = await startEmbedded('memory')
  const client = clientFor(server)
  const folder = newFolder()
  // A browser that notes the address which it is given.
  const browser = join(folder, 'browser')
  writeFileSync(browser, `#!/bin/sh\necho "$1" > ${folder}/address\n`)
  chmodSync(browser, 0o700)
  const opened = client.with({ BROWSER: browser }).follow('console')
  const printed = client.follow('console --no-browser --port=0')
  try {
    await printed.until(/http:\/\/127\.0\.0\.1:\d+\/console\/#code=/)
    await until(
      async () => existsSync(join(folder, 'address')) && readFileSync(join(folder, 'address'), 'utf8'),
      (text) => text !== false && text.endsWith('\n'),
    )
    assert.match(readFileSync(join(folder, 'address'), 'utf8'), /^http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{43}\n$/)
    assert.doesNotMatch(await opened.until(/The console is open in the browser/), /code=/)
    await until(
      () => client.run('create token default --duration=1h'),
      ({ code }) => code === 0,
    )
  } finally {
    opened.close()
    printed.close()
    await close()
  }
})

test('a proxy that impersonates a user does not let requests choose another one', async () => {
  const { server, close } = await startEmbedded('memory')
  const command = clientFor(server).follow('proxy --port=0 --as=viewer --as-group=system:masters')
  try {
    const address = /Starting to serve on (\S+)\n/.exec(await command.until(/Starting to serve on \S+\n/))?.[1] ?? ''
    const get = (headers = {}): Promise<Response> => fetch(`http://${address}/api/v1/namespaces/default`, { headers })
    assert.equal((await get()).status, 200)
    assert.equal((await get({ 'impersonate-user': 'admin' })).status, 403)
  } finally {
    command.close()
    await close()
  }
})

test('clusterctl console explains a server without a console', async () => {
  const { server, close } = await startEmbedded('memory', ['--console=false'])
  await clientFor(server).fails('console --no-browser', /the server does not serve the console; start it with --console/)
  await close()
})
