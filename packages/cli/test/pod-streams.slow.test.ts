// clusterctl with what runs on nodes: logs, commands, ports; and the proxy for programs of this machine.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, createServer as createTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../../src/base/until.fixture.js'
import { Kubectl } from '../clients/kubectl.js'
import { runToEnd } from '../clients/obtaining.js'
import { type AgentCluster, startAgentCluster } from '../kit/agent-cluster.js'
import { repoRoot } from '../kit/paths.js'
import { knownVersions, serveSocket } from './web-socket-agent.js'

describe('clusterctl goes to nodes', { concurrency: 1 }, () => {
  let cluster: AgentCluster
  let client: Kubectl
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'clusterctl-streams-'))
    cluster = await startAgentCluster({ flags: [] })
    const clientConfiguration = join(cluster.server.dataDir, 'admin.conf')
    client = new Kubectl({
      command: join(repoRoot, 'bin', 'clusterctl'),
      clientConfiguration,
      home: folder,
      minor: 26,
      namespace: 'default',
    })
    cluster.agent.interceptUpgrade = serveSocket
    await cluster.makePod('one')
    await cluster.server.client.patch('/api/v1/namespaces/default/pods/one/status', 'application/merge-patch+json', {
      status: { phase: 'Running' },
    })
  })
  after(async () => {
    await cluster.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('logs, with options and following', async () => {
    cluster.agent.log('default/one/main', 'first\nsecond\n')
    assert.equal(await client.ok('logs one'), 'first\nsecond\n')
    assert.equal(await client.ok('logs pod/one --tail=1 --timestamps'), '2026-01-01T00:00:00Z second\n')
    assert.equal(await client.ok('logs one --all-containers --prefix'), '[pod/one/main] first\n[pod/one/main] second\n')
    const following = client.follow('logs -f one')
    try {
      await following.until(/second/)
      cluster.agent.log('default/one/main', 'third\n')
      await following.until(/third/)
      cluster.agent.endLog('default/one/main')
      assert.equal(await following.ended, 0)
    } finally {
      following.close()
    }
    await client.fails('logs one -c other', /container other not found in pod one; there are main/)
    await cluster.makePod('two')
    await client.fails('logs -f --max-log-requests=1 -l !none', /attempting to follow 2 log streams, but maximum/)
    await cluster.server.client.delete('/api/v1/namespaces/default/pods/two')
    await client.fails('logs one --pod-running-timeout=0', /--pod-running-timeout must be higher than zero/)
  })

  test('exec: output, errors, input, exit codes', async () => {
    assert.equal(await client.ok('exec one -- echo', 'hello world'), 'hello world\n')
    const filed = join(folder, 'pod.json')
    writeFileSync(filed, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } }))
    assert.equal(await client.ok(`exec -f ${filed} -- echo filed`), 'filed\n')
    const failed = await client.run('exec one -- sh -c', ['echo out; echo err >&2; exit 3'])
    assert.deepEqual([failed.code, failed.stdout], [3, 'out\n'], failed.stderr)
    assert.equal(failed.stderr, 'err\ncommand terminated with exit code 3\n')
    const fed = await client.run('exec -i one -- sh -c', ['read line; echo "it was $line"; head -n 1'], 'first\nsecond\nthird\n')
    assert.deepEqual([fed.code, fed.stdout], [0, 'it was first\nsecond\n'], fed.stderr)
    // The end of the input is told where the other side knows how, and so whole files go both ways as they are.
    const file = join(folder, 'file')
    writeFileSync(file, randomBytes(300_000))
    const both = `"$0" exec -i one -- cat < ${file} | cmp - ${file} && "$0" exec one -- cat ${file} | cmp - ${file}`
    const { code, stdout, stderr } = await runToEnd('bash', ['-c', both, client.access.command], {
      env: { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: client.access.clientConfiguration },
      patienceMs: 60_000,
    })
    assert.equal(code, 0, stdout + stderr)
    knownVersions.pop()
    const waiting = client.follow('exec -i one -- cat')
    try {
      await until(() => /cannot be told that the input has ended/.test(waiting.stderr))
    } finally {
      waiting.close()
      knownVersions.push('v5.')
    }
    // Without -i nobody reads what comes in.
    assert.equal((await client.run('exec one -- cat', [], 'unheard\n')).stdout, '')
    await client.fails('exec none -- true', /pods "none" not found/)
    await client.fails('exec one', /behind --/)
  })

  test('port-forward', async () => {
    const served = createServer((asked, response) => response.end(`you asked for ${asked.url}`))
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
    const { port } = served.address() as AddressInfo
    const forwarding = client.follow(`port-forward pod/one :${port}`)
    try {
      const said = await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+/)
      const local = /127\.0\.0\.1:(\d+)/.exec(said)?.[1]
      for (const path of ['/a', '/b', '/c'])
        assert.equal(await (await fetch(`http://127.0.0.1:${local}${path}`)).text(), `you asked for ${path}`)
    } finally {
      forwarding.close()
      served.close()
      served.closeAllConnections()
    }
  })

  test('port-forward to a service leads to the port that it means, and whoever says no more is still answered', async () => {
    const served = createTcp({ allowHalfOpen: true }, (socket) => {
      let text = ''
      socket.on('data', (data) => {
        text += String(data)
        if (text.endsWith('?')) socket.end(`about ${text}`)
      })
    })
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
    const { port } = served.address() as AddressInfo
    const { client: api } = cluster.server
    await api.post('/api/v1/namespaces/default/services', {
      metadata: { name: 'web' },
      spec: { selector: { app: 'forwarded' }, ports: [{ name: 'main', port: 80, targetPort: port }] },
    })
    await api.patch('/api/v1/namespaces/default/pods/one', 'application/merge-patch+json', { metadata: { labels: { app: 'forwarded' } } })
    const forwarding = client.follow('port-forward service/web :main')
    try {
      const said = await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+ -> \d+/)
      assert.match(said, new RegExp(` -> ${port}$`, 'm'))
      const socket = connect({ port: Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]), host: '127.0.0.1', allowHalfOpen: true })
      socket.end('what?')
      let answer = ''
      for await (const data of socket) answer += String(data)
      assert.equal(answer, 'about what?')
    } finally {
      forwarding.close()
      served.close()
    }
    await client.fails('port-forward service/web 81', /Service web does not have a service port 81/)
  })

  test('proxy, for this machine alone', async () => {
    const proxy = client.follow('proxy --port=0')
    try {
      const address = /Starting to serve on (\S+)/.exec(await proxy.until(/Starting to serve on \S+:\d+/))?.[1] ?? ''
      const { items } = (await (await fetch(`http://${address}/api/v1/namespaces`)).json()) as {
        readonly items: readonly { readonly metadata: { readonly name: string } }[]
      }
      assert.ok(items.some(({ metadata }) => metadata.name === 'default'))
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'proxied' } })
      const made = await fetch(`http://${address}/api/v1/namespaces/default/configmaps`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(made.status, 201)
      // Java's own client asks for HTTP/2 with its first request, and is content with what it gets.
      const wishing = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA' }
      const statusOf = (path: string, sent?: string): Promise<unknown> =>
        new Promise((resolve, reject) =>
          request(`http://${address}${path}`, {
            method: sent === undefined ? 'GET' : 'POST',
            headers: { ...wishing, ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': sent.length }) },
          })
            .on('response', (answer) => resolve(answer.destroy().statusCode))
            .on('error', reject)
            .end(sent),
        )
      assert.equal(await statusOf('/api/v1/namespaces/default/configmaps', body.replace('proxied', 'wished')), 201)
      assert.equal(await statusOf('/api/v1/namespaces/none/configmaps?watch=1&timeoutSeconds=3600'), 200)
      // The head of a watch is there before its first event.
      const quiet = `http://${address}/api/v1/namespaces/none/configmaps?watch=1&timeoutSeconds=3600`
      const leaving = new AbortController()
      assert.equal((await fetch(quiet, { signal: leaving.signal })).status, 200)
      leaving.abort()
      assert.equal((await fetch(`http://${address}/api/v1/namespaces/none`)).status, 404)
      assert.equal((await fetch(`http://${address}/api/v1/namespaces/default/pods/one/exec`)).status, 403)
      const status = await new Promise((resolve, reject) =>
        request(`http://${address}/api`, { headers: { host: 'evil.example' } }, (answer) => resolve(answer.resume().statusCode))
          .on('error', reject)
          .end(),
      )
      assert.equal(status, 403, 'a page of somebody else cannot make a browser ask')
    } finally {
      proxy.close()
    }
  })

  test('proxy, with commands and ports of pods through it', async () => {
    const served = createTcp((socket) => socket.on('data', (data) => socket.end(`heard ${data}`)).on('error', () => undefined))
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
    const { port } = served.address() as AddressInfo
    const proxy = client.follow('proxy --port=0 --reject-paths=/pods/closed/')
    try {
      const address = /Starting to serve on (\S+)/.exec(await proxy.until(/Starting to serve on \S+:\d+/))?.[1] ?? ''
      // By WebSocket, and by SPDY where kubectl is at hand.
      const kubectl = existsSync('/usr/bin/kubectl') ? ['/usr/bin/kubectl'] : []
      const environment = {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        KUBECONFIG: '/dev/null',
        KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
      }
      const run = (command: string, words: readonly string[], stdin = '') =>
        runToEnd(command, [`--server=http://${address}`, ...words], { env: environment, stdin, patienceMs: 60_000 })
      for (const command of [join(repoRoot, 'bin', 'clusterctl'), ...kubectl]) {
        const long = randomBytes(200_000).toString('base64')
        const { code, stdout, stderr } = await run(command, ['exec', '-i', 'one', '--', 'cat'], long)
        assert.deepEqual([code, stdout === long, stderr], [0, true, ''], command)
        const refused = await run(command, ['exec', 'closed', '--', 'cat'])
        assert.notEqual(refused.code, 0)
        const missing = await run(command, ['exec', 'none', '--', 'cat'])
        assert.match(missing.stderr, /pods "none" not found/, command)
      }
      const forwarding = client.follow(`--server=http://${address} port-forward pod/one :${port}`)
      try {
        const local = /127\.0\.0\.1:(\d+)/.exec(await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+/))?.[1] ?? ''
        const heard = await new Promise<string>((resolve, reject) => {
          let text = ''
          const socket = connect(Number(local), '127.0.0.1', () => socket.write('hello'))
          socket.on('data', (data) => (text += data)).on('end', () => resolve(text))
          socket.on('error', reject)
        })
        assert.equal(heard, 'heard hello')
      } finally {
        forwarding.close()
      }
      // A page of somebody else cannot open a connection either, under a name of its own or to this machine.
      const statusFor = (headers: Readonly<Record<string, string>>): Promise<unknown> =>
        new Promise((resolve, reject) =>
          request(`http://${address}/api/v1/namespaces/default/pods/one/portforward?ports=${port}`, {
            headers: { connection: 'Upgrade', upgrade: 'websocket', ...headers },
          })
            .on('response', (answer) => resolve(answer.resume().statusCode))
            .on('upgrade', (_, socket) => socket.destroy(new Error('it was opened')))
            .on('error', reject)
            .end(),
        )
      assert.equal(await statusFor({ host: 'evil.example' }), 403)
      assert.equal(await statusFor({ origin: 'https://evil.example' }), 403)
    } finally {
      proxy.close()
      served.close()
    }
  })

  test('proxy on a socket, with pages beside the API and without some methods', async () => {
    const socketPath = join(folder, 'proxy.sock')
    const pages = mkdtempSync(join(folder, 'pages-'))
    writeFileSync(join(pages, 'index.html'), '<b>shop</b>')
    writeFileSync(join(folder, 'secret'), 'not for pages')
    const words = [`--unix-socket=${socketPath}`, `--www=${pages}`, '--www-prefix=/shop/', '--api-prefix=/k/', '--reject-methods=POST,PUT']
    const proxy = client.follow('proxy', ...words)
    const ask = (path: string, method = 'GET') =>
      new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        request({ socketPath, path, method, headers: { host: 'localhost' } }, (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          answer.on('end', () => resolve([answer.statusCode, text]))
        })
          .on('error', reject)
          .end()
      })
    try {
      await proxy.until(new RegExp(`^Starting to serve on ${socketPath}$`, 'm'))
      assert.deepEqual(await ask('/k/readyz'), [200, 'ok'])
      assert.equal((await ask('/k/api/v1/namespaces', 'POST'))[0], 403)
      assert.equal((await ask('/readyz'))[0], 404)
      assert.deepEqual(await ask('/shop/'), [200, '<b>shop</b>'])
      for (const outside of ['/shop/../secret', '/shop/%2e%2e/secret', '/shop/none']) assert.equal((await ask(outside))[0], 404, outside)
    } finally {
      proxy.close()
    }
  })
})
