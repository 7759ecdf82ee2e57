// Faults of watches on command: streams end, events are delayed or repeated; events keep their order, and none is missing.

import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { type EmbeddedServer, type FaultRule, startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectStatus, until } from '../../../../test/kit/fixtures.js'
import { Http2Client } from '../../../../test/kit/network/http2-client.js'
import { opcodes, WebSocketClient } from '../../../../test/kit/network/web-socket.js'
import { secureContextFor } from '../../../../test/kit/secure-context.js'

describe('faults of watches', () => {
  let server: EmbeddedServer
  let client: ApiClient
  let namespaces = 0
  before(async () => {
    server = await startServer()
    client = new ApiClient({ url: server.url, ca: server.caPem, token: server.token })
  })
  afterEach(() => server.faults.clear())
  after(async () => {
    client.close()
    await server.close({ immediately: true })
  })

  /** A namespace with the ConfigMaps m1, m2, … and the path of a watch that begins with them. */
  const withMaps = async (count: number): Promise<{ readonly namespace: string; readonly path: string }> => {
    const namespace = `watched-${++namespaces}`
    expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: namespace } }), 201)
    for (let i = 1; i <= count; i++) expectStatus(await client.post(configMaps(namespace), configMapOf(`m${i}`)), 201)
    return { namespace, path: `${configMaps(namespace)}?watch=1&fieldSelector=metadata.name!=cluster-root-ca.crt` }
  }
  const namesIn = (events: readonly { readonly object: { readonly metadata: { readonly name: string } } }[]): string =>
    events.map(({ object }) => object.metadata.name).join(' ')

  test('a watch ends after n events, and the next goes on', async () => {
    const { namespace, path } = await withMaps(2)
    const fault = server.faults.add({ watch: { end: 'close', afterEvents: 3 }, times: 1 })
    const watch = await client.watch(path)
    await watch.atLeast(2)
    assert.equal(fault.fired, 0)
    expectStatus(await client.post(configMaps(namespace), configMapOf('m3')), 201)
    await watch.ended
    assert.equal(watch.summary(), 'ADDED m1, ADDED m2, ADDED m3')
    assert.deepEqual([fault.matched, fault.fired], [1, 1])
    expectStatus(await client.post(configMaps(namespace), configMapOf('m4')), 201)
    const next = await client.watch(`${path}&resourceVersion=${watch.events[2]?.object.metadata.resourceVersion}`)
    assert.equal(namesIn(await next.atLeast(1)), 'm4')
    next.close()
  })

  test('a watch ends with 410, before any event or after some', async () => {
    const { path } = await withMaps(2)
    for (const afterEvents of [0, 1]) {
      const fault = server.faults.add({ watch: { end: 'expired', afterEvents } })
      const watch = await client.watch(path)
      await watch.ended
      assert.equal(watch.events.length, afterEvents + 1)
      const { type, object } = watch.events[afterEvents] ?? assert.fail()
      assert.deepEqual([type, object.kind, object.code, object.reason], ['ERROR', 'Status', 410, 'Expired'])
      fault.remove()
    }
  })

  for (const [end, isWhole] of [
    ['close', true],
    ['cut', false],
  ] as const)
    test(`the bytes of a watch that ends with ${end}`, async () => {
      const { path } = await withMaps(2)
      server.faults.add({ watch: { end, afterEvents: 2 } })
      const socket = connect({ host: '127.0.0.1', port: server.port, ...secureContextFor(server.caPem) })
      const chunks: Buffer[] = []
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.on('error', () => undefined)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`)
      const text = (): string => Buffer.concat(chunks).toString()
      if (isWhole)
        await until(
          async () => text(),
          (received) => received.endsWith('0\r\n\r\n'),
        )
      else await new Promise((resolve) => socket.once('close', resolve))
      socket.destroy()
      assert.equal(text().match(/"type":"ADDED"/g)?.length, 2)
      assert.equal(text().endsWith('\r\n0\r\n\r\n'), isWhole)
      server.faults.check()
    })

  test('a watch over HTTP/2 is reset after its events', async () => {
    const { path } = await withMaps(3)
    server.faults.add({ watch: { end: 'cut', afterEvents: 2 } })
    const http2 = new Http2Client({ url: server.url, ca: server.caPem, token: server.token })
    try {
      const stream = http2.open('GET', path)
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      const thrown = await new Promise((resolve) => stream.once('error', resolve))
      assert.equal((thrown as NodeJS.ErrnoException).code, 'ERR_HTTP2_STREAM_ERROR')
      assert.equal(text.match(/"type":"ADDED"/g)?.length, 2)
      assert.equal((await http2.send('GET', '/version')).status, 200)
    } finally {
      http2.close()
    }
  })

  test('a watch over WebSocket ends after n events', async () => {
    const { path } = await withMaps(3)
    for (const end of ['close', 'cut', 'expired'] as const) {
      const fault = server.faults.add({ watch: { end, afterEvents: 2 } })
      const socket = await WebSocketClient.connect({ url: server.url, ca: server.caPem, token: server.token }, path)
      await socket.until(({ isClosed, framesOf: _ }) => isClosed || socket.framesOf(opcodes.close).length > 0)
      assert.equal(socket.framesOf(opcodes.text).length, end === 'expired' ? 3 : 2)
      assert.equal(fault.fired, 1)
      socket.close()
      fault.remove()
    }
  })

  test('repeated events follow one another', async () => {
    const { namespace, path } = await withMaps(2)
    server.faults.add({ watch: { repeat: true } })
    const watch = await client.watch(path)
    await watch.atLeast(4)
    expectStatus(await client.post(configMaps(namespace), configMapOf('m3')), 201)
    assert.equal(namesIn(await watch.atLeast(6)), 'm1 m1 m2 m2 m3 m3')
    watch.close()
    server.faults.check()
  })

  test('delayed events keep their order; other watches are not delayed', async () => {
    const { namespace, path } = await withMaps(0)
    const names = Array.from({ length: 20 }, (_, i) => `d${i + 1}`)
    server.faults.add({ watch: { delay: '1h' }, nth: 1 })
    server.faults.add({ watch: { delay: '50ms' }, nth: 1 })
    const [stuck, delayed, direct] = [await client.watch(path), await client.watch(path), await client.watch(path)]
    for (const name of names) expectStatus(await client.post(configMaps(namespace), configMapOf(name)), 201)
    assert.equal(namesIn(await direct.atLeast(20)), names.join(' '))
    assert.equal(namesIn(await delayed.atLeast(20)), names.join(' '))
    assert.equal(stuck.events.length, 0)
    for (const watch of [stuck, delayed, direct]) watch.close()
    assert.throws(() => server.faults.check(), /1 of 2 never fired/)
  })

  test('many large delayed and repeated events pass a slow connection', async () => {
    const { namespace, path } = await withMaps(0)
    const data = { text: 'x'.repeat(200_000) }
    for (let i = 1; i <= 20; i++) expectStatus(await client.post(configMaps(namespace), configMapOf(`l${i}`, { data })), 201)
    server.faults.add({ watch: { delay: 5, repeat: true, end: 'expired', afterEvents: 20 } })
    const watch = await client.watch(path)
    await watch.ended
    const names = Array.from({ length: 20 }, (_, i) => `l${i + 1}`).toSorted()
    assert.equal(namesIn(watch.events.slice(0, -1)), names.flatMap((name) => [name, name]).join(' '))
    assert.equal(watch.events.at(-1)?.type, 'ERROR')
  })

  test('more events than the queue of a delayed watch', async () => {
    const { namespace, path } = await withMaps(0)
    for (let i = 0; i < 600; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, j) => client.post(configMaps(namespace), configMapOf(`q${i + j}`))))
    server.faults.add({ watch: { delay: 50, repeat: true } })
    const watch = await client.watch(path)
    const events = await watch.atLeast(1200)
    assert.equal(new Set(events.map(({ object }) => object.metadata.name)).size, 600)
    expectStatus(await client.post(configMaps(namespace), configMapOf('last')), 201)
    assert.equal((await watch.atLeast(1202)).at(-1)?.object.metadata.name, 'last')
    watch.close()
  })

  test('an informer has every object in spite of faults', async () => {
    const { namespace } = await withMaps(5)
    const rules: readonly FaultRule[] = [
      { watch: { end: 'expired', afterEvents: 1 }, resource: 'configmaps', probability: 0.3, seed: 3 },
      { watch: { end: 'cut', afterEvents: 2 }, resource: 'configmaps', probability: 0.5, seed: 4 },
      { watch: { repeat: true, end: 'close', afterEvents: 3 }, resource: 'configmaps' },
    ]
    for (const rule of rules) server.faults.add(rule)
    const informer = server.client.core.v1.configMaps(namespace).inform()
    for (let i = 6; i <= 40; i++) expectStatus(await client.post(configMaps(namespace), configMapOf(`m${i}`)), 201)
    for (let i = 1; i <= 40; i += 2) expectStatus(await client.delete(configMaps(namespace, `m${i}`)), 200)
    const listed = expectStatus(await client.get(configMaps(namespace)), 200).json.items.map(({ metadata }) => metadata.name)
    await until(
      async () =>
        [...informer.list()]
          .map(({ metadata }) => metadata?.name)
          .toSorted()
          .join(' '),
      (names) => names === listed.toSorted().join(' '),
    )
    informer.close()
  })

  test('a watch that the client closes before the fault does not count', async () => {
    const { path } = await withMaps(1)
    const fault = server.faults.add({ watch: { end: 'close', afterEvents: 2 }, times: 1 })
    const watch = await client.watch(path)
    await watch.atLeast(1)
    watch.close()
    await watch.ended
    assert.throws(() => server.faults.check(), /matched once/)
    // The server notices the disconnect a moment later.
    const { path: next } = await withMaps(2)
    await until(
      async () => {
        const second = await client.watch(next)
        await second.atLeast(2)
        second.close()
        return fault.fired
      },
      (fired) => fired === 1,
    )
  })

  test('latency and errors apply to watch requests, too', async () => {
    const { path } = await withMaps(1)
    server.faults.add({ verb: 'watch', resource: 'configmaps', error: { code: 410 }, times: 1 })
    expectStatus(await client.get(path), 410)
    const watch = await client.watch(path)
    await watch.atLeast(1)
    watch.close()
  })
})
