// logs, exec, port-forward and proxy against a fake kubelet.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, createServer as createTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Kubectl } from '../../../test/clients/kubectl.js'
import { runToEnd } from '../../../test/clients/obtain.js'
import { type KubeletCluster, startKubeletCluster } from '../../../test/kit/kubelet/kubelet-cluster.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { until } from '../../api/src/base/testing/until.fixture.js'
import { serveKubeletSocket, supportedVersions } from './fake-kubelet.js'

describe('clusterctl with a kubelet', { concurrency: 1 }, () => {
  let cluster: KubeletCluster
  let client: Kubectl
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'clusterctl-streams-'))
    cluster = await startKubeletCluster({ flags: [] })
    const clientConfiguration = join(cluster.server.dataDir, 'admin.conf')
    client = new Kubectl({
      command: join(repoRoot, 'bin', 'clusterctl'),
      clientConfiguration,
      home: folder,
      minor: 26,
      namespace: 'default',
    })
    cluster.kubelet.interceptUpgrade = serveKubeletSocket
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
    cluster.kubelet.log('default/one/main', 'first\nsecond\n')
    assert.equal(await client.ok('logs one'), 'first\nsecond\n')
    assert.equal(await client.ok('logs pod/one --tail=1 --timestamps'), '2026-01-01T00:00:00Z second\n')
    assert.equal(await client.ok('logs one --all-containers --prefix'), '[pod/one/main] first\n[pod/one/main] second\n')
    const following = client.follow('logs -f one')
    try {
      await following.until(/second/)
      cluster.kubelet.log('default/one/main', 'third\n')
      await following.until(/third/)
      cluster.kubelet.endLog('default/one/main')
      assert.equal(await following.ended, 0)
    } finally {
      following.close()
    }
    await client.fails('logs one -c other', /container other not found in pod one; containers: main/)
    await cluster.makePod('two')
    await client.fails('logs -f --max-log-requests=1 -l !none', /attempting to follow 2 log streams, but maximum/)
    await cluster.server.client.delete('/api/v1/namespaces/default/pods/two')
    await client.fails('logs one --pod-running-timeout=0', /--pod-running-timeout must be higher than zero/)
  })

  test('exec: stdout, stderr, stdin, exit codes', async () => {
    assert.equal(await client.ok('exec one -- echo', 'hello world'), 'hello world\n')
    const podFile = join(folder, 'pod.json')
    writeFileSync(podFile, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } }))
    assert.equal(await client.ok(`exec -f ${podFile} -- echo podFile`), 'podFile\n')
    const failed = await client.run('exec one -- sh -c', ['echo out; echo err >&2; exit 3'])
    assert.deepEqual([failed.code, failed.stdout], [3, 'out\n'], failed.stderr)
    assert.equal(failed.stderr, 'err\ncommand terminated with exit code 3\n')
    const readLines = 'read line; echo "it was $line"; read line; echo "$line"; cat > /dev/null'
    const withStdin = await client.run('exec -i one -- sh -c', [readLines], 'first\nsecond\nthird\n')
    assert.deepEqual([withStdin.code, withStdin.stdout], [0, 'it was first\nsecond\n'], withStdin.stderr)
    // With subprotocol v5 stdin is closed at its end, so files can be copied both ways.
    const file = join(folder, 'file')
    writeFileSync(file, randomBytes(300_000))
    const script = `"$0" exec -i one -- cat < ${file} | cmp - ${file} && "$0" exec one -- cat ${file} | cmp - ${file}`
    const { code, stdout, stderr } = await runToEnd('bash', ['-c', script, client.access.command], {
      env: { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: client.access.clientConfiguration },
      timeoutMs: 60_000,
    })
    assert.equal(code, 0, stdout + stderr)
    supportedVersions.pop()
    const waiting = client.follow('exec -i one -- cat')
    try {
      await until(() => /cannot close stdin of the command/.test(waiting.stderr))
    } finally {
      waiting.close()
      supportedVersions.push('v5.')
    }
    // Without -i stdin is ignored.
    assert.equal((await client.run('exec one -- cat', [], 'unheard\n')).stdout, '')
    await client.fails('exec none -- true', /pods "none" not found/)
    await client.fails('exec one', /after --/)
  })

  test('attach: stdin, output, exit code, wrong usage', async () => {
    const { code, stdout, stderr } = await client.run('attach -i one', [], 'ping\n')
    assert.deepEqual([code, stdout], [4, 'attached\necho ping\n'], stderr)
    assert.match(stderr, /^If you don't see a command prompt, try pressing enter\.\ncommand terminated with exit code 4\n$/)
    const quiet = await client.run('attach -iq pod/one', [], '')
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [4, 'attached\n', ''])
    await client.fails('attach one -t', /^error: Unable to use a TTY - container main did not allocate one\n/)
    await client.fails('attach', /at least 1 argument is required for attach/)
    await client.fails('attach one two', /at most 1 argument\) saw 2/)
    await client.fails('attach none', /pods "none" not found/)
    await cluster.makePod('ended')
    await cluster.server.client.patch('/api/v1/namespaces/default/pods/ended/status', 'application/merge-patch+json', {
      status: { phase: 'Succeeded' },
    })
    await client.fails('attach ended', /cannot attach a container in a completed pod; current phase is Succeeded/)
    await cluster.server.client.delete('/api/v1/namespaces/default/pods/ended')
  })

  test('cp: files and folders in both directions', async () => {
    const inside = mkdtempSync(join(folder, 'inside-'))
    const outside = mkdtempSync(join(folder, 'outside-'))
    const bytes = randomBytes(300_001)
    const deep = `${'long-name-'.repeat(12)}/${'other-name-'.repeat(12)}`
    mkdirSync(join(outside, 'shop', 'empty'), { recursive: true })
    mkdirSync(join(outside, 'shop', deep), { recursive: true })
    writeFileSync(join(outside, 'shop', 'bytes'), bytes)
    writeFileSync(join(outside, 'shop', deep, 'äpfel'), 'rot')
    symlinkSync('/etc/hostname', join(outside, 'shop', 'link'))
    const same = (a: string, b: string) => runToEnd('diff', ['-r', '--no-dereference', a, b])
    // The source goes into an existing folder, and becomes a missing one.
    await client.ok(`cp ${join(outside, 'shop')} one:${inside}`)
    assert.deepEqual(await same(join(outside, 'shop'), join(inside, 'shop')), { code: 0, stdout: '', stderr: '' })
    await client.ok(`cp ${join(outside, 'shop', 'bytes')} default/one:${inside}/renamed -c main --no-preserve`)
    assert.deepEqual(readFileSync(join(inside, 'renamed')), bytes)
    const back = join(outside, 'back')
    const { code, stderr } = await client.run(`cp one:${inside}/shop ${back}`)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /warning: skipping symlink: ".*\/back\/link" -> "\/etc\/hostname"/)
    rmSync(join(outside, 'shop', 'link'))
    assert.deepEqual(await same(join(outside, 'shop'), back), { code: 0, stdout: '', stderr: '' })
    await client.ok(`cp one:${inside}/renamed ${join(outside, 'new', 'file')} --retries=2`)
    assert.deepEqual(readFileSync(join(outside, 'new', 'file')), bytes)
    await client.fails(`cp one:${inside}/none ${back}`, /none.*\ncommand terminated with exit code 2/s)
    await client.fails('cp none one:/tmp', /none doesn't exist in local filesystem/)
    await client.fails(`cp ${back} none:/tmp/x`, /pods "none" not found/)
    await client.fails('cp one:/a one:/b', /one of src or dest must be a local file specification/)
    await client.fails('cp a b', /one of src or dest must be a remote file specification/)
    await client.fails('cp :a b', /filespec must match the canonical format/)
    await client.fails('cp one: b', /filepath can not be empty/)
    await client.fails('cp a', /source and destination are required/)
  })

  test('port-forward', async () => {
    const backend = createServer((incoming, response) => response.end(`you asked for ${incoming.url}`))
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    const { port } = backend.address() as AddressInfo
    const forwarding = client.follow(`port-forward pod/one :${port}`)
    try {
      const output = await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+/)
      const localPort = /127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      for (const path of ['/a', '/b', '/c'])
        assert.equal(await (await fetch(`http://127.0.0.1:${localPort}${path}`)).text(), `you asked for ${path}`)
    } finally {
      forwarding.close()
      backend.close()
      backend.closeAllConnections()
    }
  })

  test('port-forward to a service uses its target port and supports half-closed connections', async () => {
    const backend = createTcp({ allowHalfOpen: true }, (socket) => {
      let text = ''
      socket.on('data', (data) => {
        text += String(data)
        if (text.endsWith('?')) socket.end(`about ${text}`)
      })
    })
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    const { port } = backend.address() as AddressInfo
    const { client: api } = cluster.server
    await api.post('/api/v1/namespaces/default/services', {
      metadata: { name: 'web' },
      spec: { selector: { app: 'forwarded' }, ports: [{ name: 'main', port: 80, targetPort: port }] },
    })
    await api.patch('/api/v1/namespaces/default/pods/one', 'application/merge-patch+json', { metadata: { labels: { app: 'forwarded' } } })
    const forwarding = client.follow('port-forward service/web :main')
    try {
      const output = await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+ -> \d+/)
      assert.match(output, new RegExp(` -> ${port}$`, 'm'))
      const socket = connect({ port: Number(/127\.0\.0\.1:(\d+)/.exec(output)?.[1]), host: '127.0.0.1', allowHalfOpen: true })
      socket.end('what?')
      let response = ''
      for await (const data of socket) response += String(data)
      assert.equal(response, 'about what?')
    } finally {
      forwarding.close()
      backend.close()
    }
    await client.fails('port-forward service/web 81', /Service web does not have a service port 81/)
  })

  test('proxy serves local requests and rejects other hosts', async () => {
    const proxy = client.follow('proxy --port=0')
    try {
      const address = /Starting to serve on (\S+)/.exec(await proxy.until(/Starting to serve on \S+:\d+/))?.[1] ?? ''
      const { items } = (await (await fetch(`http://${address}/api/v1/namespaces`)).json()) as {
        readonly items: readonly { readonly metadata: { readonly name: string } }[]
      }
      assert.ok(items.some(({ metadata }) => metadata.name === 'default'))
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'proxied' } })
      const created = await fetch(`http://${address}/api/v1/namespaces/default/configmaps`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(created.status, 201)
      // Java's HttpClient sends `Upgrade: h2c` with its first request.
      const upgradeHeaders = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA' }
      const statusOf = (path: string, sent?: string): Promise<unknown> =>
        new Promise((resolve, reject) =>
          request(`http://${address}${path}`, {
            method: sent === undefined ? 'GET' : 'POST',
            headers: {
              ...upgradeHeaders,
              ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': sent.length }),
            },
          })
            .on('response', (response) => resolve(response.destroy().statusCode))
            .on('error', reject)
            .end(sent),
        )
      assert.equal(await statusOf('/api/v1/namespaces/default/configmaps', body.replace('proxied', 'wished')), 201)
      assert.equal(await statusOf('/api/v1/namespaces/none/configmaps?watch=1&timeoutSeconds=3600'), 200)
      // The headers of a watch arrive before its first event.
      const watchUrl = `http://${address}/api/v1/namespaces/none/configmaps?watch=1&timeoutSeconds=3600`
      const controller = new AbortController()
      assert.equal((await fetch(watchUrl, { signal: controller.signal })).status, 200)
      controller.abort()
      assert.equal((await fetch(`http://${address}/api/v1/namespaces/none`)).status, 404)
      assert.equal((await fetch(`http://${address}/api/v1/namespaces/default/pods/one/exec`)).status, 403)
      const status = await new Promise((resolve, reject) =>
        request(`http://${address}/api`, { headers: { host: 'evil.example' } }, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end(),
      )
      assert.equal(status, 403, 'DNS rebinding is rejected')
    } finally {
      proxy.close()
    }
  })

  test('proxy forwards exec and port-forward', async () => {
    const backend = createTcp((socket) => socket.on('data', (data) => socket.end(`heard ${data}`)).on('error', () => undefined))
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    const { port } = backend.address() as AddressInfo
    const proxy = client.follow('proxy --port=0 --reject-paths=/pods/closed/')
    try {
      const address = /Starting to serve on (\S+)/.exec(await proxy.until(/Starting to serve on \S+:\d+/))?.[1] ?? ''
      // WebSocket with clusterctl, SPDY with kubectl if /usr/bin/kubectl exists.
      const kubectl = existsSync('/usr/bin/kubectl') ? ['/usr/bin/kubectl'] : []
      const environment = {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        KUBECONFIG: '/dev/null',
        KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
      }
      const run = (command: string, args: readonly string[], stdin = '') =>
        runToEnd(command, [`--server=http://${address}`, ...args], { env: environment, stdin, timeoutMs: 60_000 })
      for (const command of [join(repoRoot, 'bin', 'clusterctl'), ...kubectl]) {
        const input = randomBytes(200_000).toString('base64')
        const { code, stdout, stderr } = await run(command, ['exec', '-i', 'one', '--', 'cat'], input)
        assert.deepEqual([code, stdout === input, stderr], [0, true, ''], command)
        const refused = await run(command, ['exec', 'closed', '--', 'cat'])
        assert.notEqual(refused.code, 0)
        const missing = await run(command, ['exec', 'none', '--', 'cat'])
        assert.match(missing.stderr, /pods "none" not found/, command)
      }
      const forwarding = client.follow(`--server=http://${address} port-forward pod/one :${port}`)
      try {
        const localPort = /127\.0\.0\.1:(\d+)/.exec(await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+/))?.[1] ?? ''
        const received = await new Promise<string>((resolve, reject) => {
          let text = ''
          const socket = connect(Number(localPort), '127.0.0.1', () => socket.write('hello'))
          socket.on('data', (data) => (text += data)).on('end', () => resolve(text))
          socket.on('error', reject)
        })
        assert.equal(received, 'heard hello')
      } finally {
        forwarding.close()
      }
      // Upgrades with a foreign Host or Origin are rejected.
      const statusFor = (headers: Readonly<Record<string, string>>): Promise<unknown> =>
        new Promise((resolve, reject) =>
          request(`http://${address}/api/v1/namespaces/default/pods/one/portforward?ports=${port}`, {
            headers: { connection: 'Upgrade', upgrade: 'websocket', ...headers },
          })
            .on('response', (response) => resolve(response.resume().statusCode))
            .on('upgrade', (_, socket) => socket.destroy(new Error('upgraded')))
            .on('error', reject)
            .end(),
        )
      assert.equal(await statusFor({ host: 'evil.example' }), 403)
      assert.equal(await statusFor({ origin: 'https://evil.example' }), 403)
    } finally {
      proxy.close()
      backend.close()
    }
  })

  test('proxy on a Unix socket, with static files and rejected methods', async () => {
    const socketPath = join(folder, 'proxy.sock')
    const pages = mkdtempSync(join(folder, 'pages-'))
    writeFileSync(join(pages, 'index.html'), '<b>shop</b>')
    writeFileSync(join(folder, 'secret'), 'outside')
    const args = [`--unix-socket=${socketPath}`, `--www=${pages}`, '--www-prefix=/shop/', '--api-prefix=/k/', '--reject-methods=POST,PUT']
    const proxy = client.follow('proxy', ...args)
    const get = (path: string, method = 'GET') =>
      new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        request({ socketPath, path, method, headers: { host: 'localhost' } }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          response.on('end', () => resolve([response.statusCode, text]))
        })
          .on('error', reject)
          .end()
      })
    try {
      await proxy.until(new RegExp(`^Starting to serve on ${socketPath}$`, 'm'))
      assert.deepEqual(await get('/k/readyz'), [200, 'ok'])
      assert.equal((await get('/k/api/v1/namespaces', 'POST'))[0], 403)
      assert.equal((await get('/readyz'))[0], 404)
      assert.deepEqual(await get('/shop/'), [200, '<b>shop</b>'])
      for (const outside of ['/shop/../secret', '/shop/%2e%2e/secret', '/shop/none']) assert.equal((await get(outside))[0], 404, outside)
    } finally {
      proxy.close()
    }
  })
})
