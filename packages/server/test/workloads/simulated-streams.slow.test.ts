// Exec, attach, port-forward and proxy of pods on simulated nodes: scripts of rules, honest defaults, errors of a kubelet.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type EmbeddedServer, type ServerOptions, startServer } from 'cluster-apiserver'
import { until } from '../../../../test/kit/fixtures.js'
import { readRest, TextStream, upgrade } from '../../../../test/kit/network/open-connection.js'
import { SpdyConnection, type SpdyStream } from '../../../../test/kit/network/spdy.js'
import { WebSocketClient, wsHeaders } from '../../../../test/kit/network/web-socket.js'
import { repoRoot } from '../../../../test/kit/paths.js'

const behaviour = 'simulation.cluster.io/behaviour'
const scripts = {
  log: ['first', 'second'],
  exec: [
    { command: ['cat', '/etc/hosts'], stdout: '127.0.0.1 localhost\n' },
    { command: 'sh -c *', stdout: 'out\n', stderr: 'err\n', exitCode: 3 },
    { command: 'cat', echo: true },
    { command: 'sleep *', exitAfter: '1h' },
  ],
  ports: [
    {
      port: 8080,
      http: [
        { path: '/healthz', body: 'ok' },
        { path: '/api/*', status: 503, contentType: 'application/json', body: '{}' },
      ],
    },
    { port: 6379, send: 'hello\n', echo: true },
  ],
}

async function start(t: TestContext, options: ServerOptions = { nodes: 1 }): Promise<EmbeddedServer> {
  const server = await startServer(options)
  t.after(() => server.close({ immediately: true }))
  return server
}

const podsOf = ({ client }: EmbeddedServer) => client.core.v1.pods('default')

async function runPod(server: EmbeddedServer, name: string, rules: object = scripts, spec: object = {}): Promise<void> {
  await podsOf(server).create({
    metadata: { name, labels: { app: name }, annotations: { [behaviour]: JSON.stringify(rules) } },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }], ...spec },
  })
  await until(
    () => podsOf(server).get(name),
    ({ status }) => (status?.containerStatuses ?? []).some(({ state }) => state?.running ?? state?.terminated),
  )
}

const accessOf = ({ url, token, caPem }: EmbeddedServer) => ({ url, ca: caPem, token })
const spdy = { method: 'POST', headers: { 'X-Stream-Protocol-Version': 'v4.channel.k8s.io', 'Content-Length': '0' } }
const path = (name: string) => `/api/v1/namespaces/default/pods/${name}`

test('exec in a simulated container runs scripts, and names the missing rule for other commands', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  const pods = podsOf(server)
  const run = async (...command: readonly string[]) => {
    const { stdout, stderr, code } = await pods.run('a', command)
    return { stdout, stderr, code }
  }
  assert.deepEqual(await run('cat', '/etc/hosts'), { stdout: '127.0.0.1 localhost\n', stderr: '', code: 0 })
  assert.deepEqual(await run('sh', '-c', 'exit 3'), { stdout: 'out\n', stderr: 'err\n', code: 3 })
  const unknown = await run('ls', '/')
  assert.equal(unknown.code, 127)
  assert.match(unknown.stderr, /container "app" is simulated and runs no commands: add \{"command": \["ls","\/"\]/)
  let echoed = ''
  const cat = await pods.exec('a', ['cat'], {
    stdin: true,
    onStdout: (data) => {
      echoed += new TextDecoder().decode(data)
    },
  })
  const large = 'x'.repeat(300_000)
  await cat.write(large)
  await cat.endInput()
  assert.equal((await cat.exit).code, 0)
  assert.equal(echoed.length, large.length)
})

test('a simulated command exits at its time of the clock, and is killed with its container', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  await runPod(server, 'b', scripts, { terminationGracePeriodSeconds: 0 })
  const sleeping = await podsOf(server).exec('a', ['sleep', '1'], {})
  const killed = await podsOf(server).exec('b', ['sleep', '1'], {})
  await podsOf(server).delete('b')
  assert.equal((await killed.exit).code, 137)
  await server.clock.advance('61m')
  assert.equal((await sleeping.exit).code, 0)
})

test('attach to a simulated container shows its log until it exits', async (t) => {
  const server = await start(t)
  await runPod(server, 'a', { ...scripts, exitAfter: '1h' }, { restartPolicy: 'Never' })
  let text = ''
  const attached = await podsOf(server).attach('a', {
    stdin: true,
    onStdout: (data) => {
      text += new TextDecoder().decode(data)
    },
  })
  await attached.write('input has no effect')
  await until(
    async () => text,
    (shown) => shown === 'first\nsecond\n',
  )
  await server.clock.advance('61m')
  assert.equal((await attached.exit).code, 0)
  assert.match(text, /exited with code 0/)
})

test('exec over SPDY: streams and the exit status', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  const opened = await upgrade(
    accessOf(server),
    `${path('a')}/exec?command=sh&command=-c&command=x&stdout=true&stderr=true&stdin=true`,
    spdy,
  )
  assert.match(opened.head, /^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*X-Stream-Protocol-Version: v4\.channel\.k8s\.io/)
  const connection = new SpdyConnection(opened.socket, { isServer: false })
  const received: Record<string, string> = {}
  for (const type of ['error', 'stdin', 'stdout', 'stderr'])
    connection.open({ streamtype: type }).on('data', (chunk: Buffer) => {
      received[type] = (received[type] ?? '') + String(chunk)
    })
  await until(
    async () => received['error'],
    (text) => text !== undefined,
  )
  assert.deepEqual([received['stdout'], received['stderr']], ['out\n', 'err\n'])
  assert.equal(JSON.parse(received['error'] ?? '').details.causes[0].message, '3')
  opened.socket.destroy()
})

test('exec and attach: errors of a kubelet, and permissions of the impersonated user', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  await runPod(server, 'done', { exitCode: 0 }, { restartPolicy: 'Never' })
  const access = accessOf(server)
  const refused = async (request: string, options: object = spdy): Promise<readonly [number, string]> => {
    const opened = await upgrade(access, request, options)
    return [opened.code, await readRest(opened)]
  }
  const [code, text] = await refused(`${path('done')}/exec?command=ls&stdout=true`)
  assert.deepEqual([code, text.endsWith('container not found ("app")')], [500, true])
  assert.match((await refused(`${path('done')}/attach?stdout=true`))[1], /container app not found in pod done_default$/)
  assert.match((await refused(`${path('done')}/portforward?ports=80`))[1], /pod not found \("done_default"\)$/)
  assert.match((await refused(`${path('a')}/exec?command=ls&stdout=true&container=other`))[1], /container other is not valid for pod a/)
  assert.match(
    (await refused(`${path('a')}/exec?command=ls&stdin=false&stdout=false`))[1],
    /you must specify at least 1 of stdin, stdout, stderr/,
  )
  const foreign = { ...spdy, headers: { ...spdy.headers, 'X-Stream-Protocol-Version': 'v9.example' } }
  assert.equal((await refused(`${path('a')}/exec?command=ls&stdout=true`, foreign))[0], 403)
  const impersonated = { ...spdy, headers: { ...spdy.headers, 'Impersonate-User': 'nobody' } }
  assert.match((await refused(`${path('a')}/exec?command=ls&stdout=true`, impersonated))[1], /cannot create resource \\"pods\/exec\\"/)
  await server.nodes.fail('node-1')
  assert.match((await refused(`${path('a')}/exec?command=ls&stdout=true`))[1], /error dialing backend: dial tcp .*: i\/o timeout/)
})

test('port-forward to simulated pods: HTTP and TCP scripts, closed ports are refused', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  const forward = await podsOf(server).portForward('a', [8080, 6379, 81])
  const [web, tcp, closed] = forward.ports
  assert.ok(web && tcp && closed)
  const readUntil = async (port: typeof web, end: string): Promise<string> => {
    let text = ''
    for await (const data of port.data()) {
      text += new TextDecoder().decode(data)
      if (text.endsWith(end)) break
    }
    return text
  }
  await web.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(await readUntil(web, '\r\n\r\nok'), /^HTTP\/1\.1 200 OK/)
  await tcp.write('ping')
  assert.equal(await readUntil(tcp, 'ping'), 'hello\nping')
  await assert.rejects(readUntil(closed, 'never'), /connection refused: the pod is simulated, and no rule .* has port 81 in "ports"/)
  forward.close()

  const opened = await upgrade(accessOf(server), `${path('a')}/portforward`, {
    ...spdy,
    headers: { ...spdy.headers, 'X-Stream-Protocol-Version': 'portforward.k8s.io' },
  })
  const connection = new SpdyConnection(opened.socket, { isServer: false })
  const pair = (port: string, requestid: string): readonly SpdyStream[] =>
    ['error', 'data'].map((streamtype) => connection.open({ streamtype, port, requestid }))
  const received: Record<string, string> = {}
  const keep = (name: string, stream: SpdyStream | undefined) =>
    stream?.on('data', (chunk: Buffer) => {
      received[name] = (received[name] ?? '') + String(chunk)
    })
  const [, data] = pair('8080', '0')
  keep('data', data)
  const [error] = pair('81', '1')
  keep('error', error)
  data?.write('GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await until(
    async () => received,
    (all) => all['data']?.endsWith('{}') === true && all['error'] !== undefined,
  )
  assert.match(received['data'] ?? '', /^HTTP\/1\.1 503 /)
  assert.match(received['error'] ?? '', /connection refused/)
  opened.socket.destroy()
})

test('proxy to simulated pods and services: scripted responses, or 503', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  const { core } = server.client
  await core.v1.services('default').create({
    metadata: { name: 'web' },
    spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 8080 }] },
  })
  const get = async (target: string) => {
    const stream = new TextStream(accessOf(server), `/api/v1/namespaces/default/${target}`)
    await stream.ended
    return [stream.status, stream.text] as const
  }
  const [code, text] = await get('pods/a:8080/proxy/healthz')
  assert.deepEqual([code, /ok$/.test(text)], [200, true], text)
  const [refused, status] = await get('pods/a:81/proxy/healthz')
  assert.equal(refused, 503)
  assert.match(status, /error trying to reach service: dial tcp 10\.244\.\d+\.\d+:81: connect: connection refused/)
  await until(
    () => get('services/web/proxy/healthz'),
    ([found]) => found === 200,
  )
})

test('rules with scripts that are not valid are an event', async (t) => {
  const server = await start(t)
  await runPod(server, 'a', { exec: [{ command: 'ls', exitCode: 300 }] })
  const events = (await server.client.core.v1.events('default').list()).items
  assert.match(events.find(({ reason }) => reason === 'InvalidBehaviour')?.message ?? '', /exec\[0\]\.exitCode: must be at most 255/)
})

test('SPDY frames that are not valid or too long close the connection, and nothing else', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  const control = (type: number, length: number): Buffer =>
    Buffer.from([0x80, 3, 0, type, 0, length >> 16, (length >> 8) & 0xff, length & 0xff])
  const notCompressed = Buffer.concat([control(1, 20), Buffer.alloc(20, 7)])
  for (const frames of [
    notCompressed,
    control(1, 0xffffff),
    Buffer.concat([control(6, 4), Buffer.alloc(4), control(9, 0), notCompressed]),
  ]) {
    const { socket, code } = await upgrade(accessOf(server), `${path('a')}/exec?command=cat&stdin=true&stdout=true`, spdy)
    assert.equal(code, 101)
    const closed = once(socket, 'close')
    socket.resume().write(frames)
    await closed
  }
  assert.equal((await podsOf(server).run('a', ['cat', '/etc/hosts'])).code, 0)
})

test('exec over WebSocket with version 4 and in base64: the exit status is on channel 3', async (t) => {
  const server = await start(t)
  await runPod(server, 'a')
  const exec = `${path('a')}/exec?command=sh&command=-c&command=x&stdout=true&stderr=true`
  for (const protocol of ['v4.channel.k8s.io', 'v4.base64.channel.cluster.io']) {
    const isBase64 = protocol.includes('base64')
    const socket = await WebSocketClient.open(accessOf(server), exec, { ...wsHeaders, 'Sec-WebSocket-Protocol': protocol })
    assert.ok(socket instanceof WebSocketClient)
    assert.equal(socket.response.headers['sec-websocket-protocol'], protocol)
    const textOf = (channel: number): string =>
      socket.frames
        .filter(({ payload, opcode }) => opcode <= 2 && (isBase64 ? Number(String(payload.subarray(0, 1))) : payload[0]) === channel)
        .map(({ payload }) => (isBase64 ? Buffer.from(String(payload.subarray(1)), 'base64') : payload.subarray(1)).toString())
        .join('')
    await until(
      async () => textOf(3),
      (text) => text !== '',
    )
    assert.deepEqual([textOf(1), textOf(2)], ['out\n', 'err\n'])
    assert.equal(JSON.parse(textOf(3)).details.causes[0].message, '3')
    socket.socket.destroy()
  }
})

test('the rules in the documentation', async (t) => {
  const page = readFileSync(join(repoRoot, 'docs', 'testkit', 'simulated-nodes.md'), 'utf8')
  const example = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text).find((text) => text.includes('exec:'))
  const folder = mkdtempSync(join(tmpdir(), 'simulated-streams-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'rules.yaml')
  writeFileSync(file, example ?? '')
  const server = await start(t, { nodes: 1, flags: [`--simulation-rules=${file}`] })
  await runPod(server, 'a', {}, { containers: [{ name: 'app', image: 'shop:1' }] })
  const pods = podsOf(server)
  assert.equal((await pods.run('a', ['cat', '/etc/hosts'])).stdout, '127.0.0.1 localhost\n')
  const failing = pods.run('a', ['sh', '-c', 'psql'])
  let exit: Awaited<typeof failing> | undefined
  void failing.then((found) => {
    exit = found
  })
  await until(
    async () => {
      await server.clock.advance('2s')
      return exit
    },
    (found) => found !== undefined,
  )
  assert.deepEqual([exit?.code, exit?.stderr], [3, 'no such table\n'])
  const stream = new TextStream(accessOf(server), '/api/v1/namespaces/default/pods/a:8080/proxy/api/x')
  await stream.ended
  assert.deepEqual([stream.status, stream.text], [503, '{}'])
})
