// WATCH over WebSocket: one message per event, timeout, close by either side, rejected handshakes.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { opcodes, WebSocketClient, wsAccept, wsHeaders } from '../../../../test/kit/network/web-socket.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'

const maps = '/api/v1/namespaces/default/configmaps'
const watch = `${maps}?watch=true`

describe('WATCH over WebSocket', () => {
  let server: ServerProcess
  before(async () => {
    server = await ServerProcess.start()
  })
  after(() => server.stop())

  const createMap = async (name: string, data: Record<string, string> = {}): Promise<string> => {
    const { json } = expectStatus(await server.client.post(maps, { metadata: { name }, data }), 201)
    return (json as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion
  }
  const currentVersion = async (): Promise<string> =>
    (expectStatus(await server.client.get(maps), 200).json as { readonly metadata: { readonly resourceVersion: string } }).metadata
      .resourceVersion
  const longRunning = async (): Promise<number> => {
    const { text } = await server.client.get('/metrics')
    return Number(/^apiserver_longrunning_requests\{[^}]*resource="configmaps"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0)
  }

  test('sends one text message per event, the same line as over HTTP, and counts as a watch in metrics', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await currentVersion()}`)
    assert.equal(socket.response.headers['sec-websocket-accept'], wsAccept)
    assert.equal(socket.response.headers['sec-websocket-protocol'], undefined)
    await until(longRunning, (count) => count === 1)
    // Two messages in one chunk, and one longer than a chunk.
    const versions = await Promise.all([createMap('a'), createMap('b'), createMap('long', { text: 'x'.repeat(300_000) })])
    await socket.until(({ frames }) => frames.length >= 3)
    const texts = socket.framesOf(opcodes.text).map(({ payload }) => payload.toString())
    assert.equal(texts.length, 3)
    const events = texts.map(
      (text) => JSON.parse(text) as { readonly type: string; readonly object: { readonly metadata: { readonly resourceVersion: string } } },
    )
    assert.deepEqual(events.map(({ object }) => object.metadata.resourceVersion).sort(), [...versions].sort())
    assert.ok(events.every(({ type }) => type === 'ADDED') && texts.every((text) => text.endsWith('}\n')))
    socket.close()
    await until(longRunning, (count) => count === 0)
  })

  test('responds to pings and to a close frame, and ignores messages', async () => {
    const socket = await WebSocketClient.connect(server.access, watch)
    socket.send(opcodes.text, Buffer.from('nobody listens'.repeat(100)))
    socket.send(opcodes.ping, Buffer.from('are you there'))
    await socket.until((client) => client.framesOf(opcodes.pong).length === 1)
    assert.equal(socket.framesOf(opcodes.pong)[0]?.payload.toString(), 'are you there')
    socket.send(opcodes.close, Buffer.of(3, 232))
    await socket.until(({ isClosed }) => isClosed)
    assert.deepEqual([...(socket.framesOf(opcodes.close)[0]?.payload ?? [])], [3, 232])
  })

  test('closes the connection of a client that sends thousands of pings', async () => {
    const socket = await WebSocketClient.connect(server.access, watch)
    socket.socket.cork()
    for (let i = 0; i < 5000; i++) socket.send(opcodes.ping, Buffer.from(String(i)))
    socket.socket.uncork()
    await socket.until(({ isClosed }) => isClosed)
  })

  test('responds to a ping within a long event', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await currentVersion()}`)
    socket.socket.pause()
    for (let i = 0; i < 12; i++) await createMap(`within-${i}`, { text: 'z'.repeat(900_000) })
    socket.send(opcodes.ping, Buffer.from('still there?'))
    socket.socket.resume()
    await socket.until((client) => client.framesOf(opcodes.text).length === 12 && client.framesOf(opcodes.pong).length === 1)
    socket.close()
  })

  test('ends after timeoutSeconds, and reports errors as over HTTP', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&timeoutSeconds=1`)
    await socket.until(({ isClosed }) => isClosed)
    assert.equal(socket.frames.at(-1)?.opcode, opcodes.close)
    const refused = await WebSocketClient.open(server.access, `${watch}&resourceVersion=tomorrow`)
    assert.equal('statusCode' in refused && refused.statusCode, 400)
  })

  test('sends Protobuf as binary messages without length prefixes', async () => {
    const accept = { Accept: 'application/vnd.cluster.protobuf;stream=watch' }
    const from = await currentVersion()
    await createMap('in-protobuf')
    const path = `${watch}&resourceVersion=${from}`
    const socket = await WebSocketClient.connect(server.access, path, { ...wsHeaders, ...accept })
    await socket.until(({ frames }) => frames.length >= 1)
    const [frame] = socket.frames
    socket.close()
    assert.equal(frame?.opcode, opcodes.binary)
    const streamed = await server.client.send({ path: `${path}&timeoutSeconds=1`, headers: accept })
    const { bytes } = expectStatus(streamed, 200)
    assert.deepEqual(frame?.payload, bytes.subarray(4, 4 + bytes.readUInt32BE(0)))
  })

  test('sends tables, with column definitions in the first event only', async () => {
    const from = await currentVersion()
    await createMap('row-1')
    await createMap('row-2')
    const accept = { Accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' }
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${from}`, { ...wsHeaders, ...accept })
    await socket.until(({ frames }) => frames.length >= 2)
    const columns = socket.frames.map(({ payload }) => JSON.parse(payload.toString()).object.columnDefinitions?.length ?? 0)
    socket.close()
    assert.ok(columns[0] > 0 && columns[1] === 0, String(columns))
  })

  test('selects the offered subprotocol, and never echoes a token subprotocol', async () => {
    const name = `base64url.bearer.authorization.cluster.io.${Buffer.from(server.access.token ?? '').toString('base64url')}`
    const socket = await WebSocketClient.connect({ url: server.access.url, ca: server.access.ca }, watch, {
      ...wsHeaders,
      'Sec-WebSocket-Protocol': `${name}, mine.example.com`,
    })
    assert.equal(socket.response.headers['sec-websocket-protocol'], 'mine.example.com')
    socket.close()
  })

  const rejections: readonly { readonly title: string; readonly change: Record<string, string>; readonly code: number }[] = [
    { title: 'it has no Origin header', change: { Origin: '' }, code: 403 },
    { title: 'its Origin is null', change: { Origin: 'null' }, code: 403 },
    { title: 'it has no Sec-WebSocket-Key', change: { 'Sec-WebSocket-Key': '' }, code: 400 },
    { title: 'its Sec-WebSocket-Version is not 13', change: { 'Sec-WebSocket-Version': '8' }, code: 400 },
    { title: 'its protocol name is invalid', change: { 'Sec-WebSocket-Protocol': 'a b' }, code: 400 },
    { title: 'it offers two protocols', change: { 'Sec-WebSocket-Protocol': 'a, b' }, code: 400 },
  ]
  for (const { title, change, code } of rejections)
    test(`is rejected if ${title}`, async () => {
      const headers = Object.fromEntries(Object.entries({ ...wsHeaders, ...change }).filter(([, value]) => value !== ''))
      const response = await WebSocketClient.open(server.access, watch, headers)
      assert.equal('statusCode' in response && response.statusCode, code)
    })

  test('closes with a reason if the client violates the protocol', async () => {
    // While no event is being sent: a close frame cannot interrupt an event.
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await currentVersion()}`)
    // An unmasked frame.
    socket.socket.write(Buffer.of(0x81, 1, 65))
    await socket.until(({ isClosed }) => isClosed)
    assert.deepEqual([...(socket.framesOf(opcodes.close)[0]?.payload ?? [])], [3, 234])
  })

  test('is closed if the client does not read, and buffers little', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await currentVersion()}`)
    socket.socket.pause()
    const text = 'y'.repeat(900_000)
    await createMap('heavy', { text })
    const change = (i: number) =>
      server.client.send({
        path: `${maps}/heavy`,
        method: 'PATCH',
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: { i: String(i) } }),
      })
    for (let i = 0; i < 20; i++) expectStatus(await change(i), 200)
    expectStatus(await server.client.get(`${maps}/heavy`), 200)
    socket.socket.resume()
    // Only whole events were sent; the end of the connection shows that some are missing.
    await socket.until(({ isClosed, frames }) => isClosed || frames.length >= 21)
    for (const { payload } of socket.framesOf(opcodes.text)) JSON.parse(payload.toString())
    socket.close()
  })
})
