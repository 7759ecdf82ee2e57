// Watches over WebSocket: one message for each event, the end by time and by either side, and what is refused.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { opcodes, WebSocketClient, wsAccept, wsHeaders } from '../kit/web-socket.js'

const maps = '/api/v1/namespaces/default/configmaps'
const watch = `${maps}?watch=true`

describe('a watch over WebSocket', () => {
  let server: ServerProcess
  before(async () => {
    server = await ServerProcess.start()
  })
  after(() => server.stop())

  const make = async (name: string, data: Record<string, string> = {}): Promise<string> => {
    const { json } = expectStatus(await server.client.post(maps, { metadata: { name }, data }), 201)
    return (json as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion
  }
  const now = async (): Promise<string> =>
    (expectStatus(await server.client.get(maps), 200).json as { readonly metadata: { readonly resourceVersion: string } }).metadata
      .resourceVersion
  const longRunning = async (): Promise<number> => {
    const { text } = await server.client.get('/metrics')
    return Number(/^apiserver_longrunning_requests\{[^}]*resource="configmaps"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0)
  }

  test('has a text for each event, the same line that others read, and is counted with the others', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await now()}`)
    assert.equal(socket.answer.headers['sec-websocket-accept'], wsAccept)
    assert.equal(socket.answer.headers['sec-websocket-protocol'], undefined)
    await until(longRunning, (count) => count === 1)
    // Two that come together, and one that is longer than what is written at once.
    const versions = await Promise.all([make('a'), make('b'), make('long', { text: 'x'.repeat(300_000) })])
    await socket.until(({ frames }) => frames.length >= 3)
    const texts = socket.of(opcodes.text).map(({ payload }) => payload.toString())
    assert.equal(texts.length, 3)
    const events = texts.map(
      (text) => JSON.parse(text) as { readonly type: string; readonly object: { readonly metadata: { readonly resourceVersion: string } } },
    )
    assert.deepEqual(events.map(({ object }) => object.metadata.resourceVersion).sort(), [...versions].sort())
    assert.ok(events.every(({ type }) => type === 'ADDED') && texts.every((text) => text.endsWith('}\n')))
    socket.close()
    await until(longRunning, (count) => count === 0)
  })

  test('answers pings, forgets what it is told, and says goodbye to who does', async () => {
    const socket = await WebSocketClient.connect(server.access, watch)
    socket.send(opcodes.text, Buffer.from('nobody listens'.repeat(100)))
    socket.send(opcodes.ping, Buffer.from('are you there'))
    await socket.until((client) => client.of(opcodes.pong).length === 1)
    assert.equal(socket.of(opcodes.pong)[0]?.payload.toString(), 'are you there')
    socket.send(opcodes.close, Buffer.of(3, 232))
    await socket.until(({ isClosed }) => isClosed)
    assert.deepEqual([...(socket.of(opcodes.close)[0]?.payload ?? [])], [3, 232])
  })

  test('answers the last of thousands of pings, and not each of them', async () => {
    const socket = await WebSocketClient.connect(server.access, watch)
    socket.socket.cork()
    for (let i = 0; i < 5000; i++) socket.send(opcodes.ping, Buffer.from(String(i)))
    socket.socket.uncork()
    await socket.until((client) => client.of(opcodes.pong).at(-1)?.payload.toString() === '4999')
    assert.ok(socket.of(opcodes.pong).length < 1000, `${socket.of(opcodes.pong).length} answers`)
    socket.close()
  })

  test('answers a ping that comes within a long event when that has ended', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await now()}`)
    socket.socket.pause()
    for (let i = 0; i < 12; i++) await make(`within-${i}`, { text: 'z'.repeat(900_000) })
    socket.send(opcodes.ping, Buffer.from('still there?'))
    socket.socket.resume()
    await socket.until((client) => client.of(opcodes.text).length === 12 && client.of(opcodes.pong).length === 1)
    socket.close()
  })

  test('ends when its time is up, and tells of what cannot be watched as others do', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&timeoutSeconds=1`)
    await socket.until(({ isClosed }) => isClosed)
    assert.equal(socket.frames.at(-1)?.opcode, opcodes.close)
    const refused = await WebSocketClient.open(server.access, `${watch}&resourceVersion=tomorrow`)
    assert.equal('statusCode' in refused && refused.statusCode, 400)
  })

  test('in Protobuf has binary messages without the lengths that stand in a stream', async () => {
    const accept = { Accept: 'application/vnd.cluster.protobuf;stream=watch' }
    const from = await now()
    await make('in-protobuf')
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

  test('as a table has rows, with the columns in the first', async () => {
    const from = await now()
    await make('row-1')
    await make('row-2')
    const accept = { Accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' }
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${from}`, { ...wsHeaders, ...accept })
    await socket.until(({ frames }) => frames.length >= 2)
    const columns = socket.frames.map(({ payload }) => JSON.parse(payload.toString()).object.columnDefinitions?.length ?? 0)
    socket.close()
    assert.ok(columns[0] > 0 && columns[1] === 0, String(columns))
  })

  test('agrees to the one protocol that is offered, and does not tell anybody the token in another', async () => {
    const name = `base64url.bearer.authorization.cluster.io.${Buffer.from(server.access.token ?? '').toString('base64url')}`
    const socket = await WebSocketClient.connect({ url: server.access.url, ca: server.access.ca }, watch, {
      ...wsHeaders,
      'Sec-WebSocket-Protocol': `${name}, mine.example.com`,
    })
    assert.equal(socket.answer.headers['sec-websocket-protocol'], 'mine.example.com')
    socket.close()
  })

  const refusals: readonly { readonly what: string; readonly change: Record<string, string>; readonly code: number }[] = [
    { what: 'nobody says where it comes from', change: { Origin: '' }, code: 403 },
    { what: 'it comes from nowhere', change: { Origin: 'null' }, code: 403 },
    { what: 'it has no key', change: { 'Sec-WebSocket-Key': '' }, code: 400 },
    { what: 'it is of another version', change: { 'Sec-WebSocket-Version': '8' }, code: 400 },
    { what: 'it offers what is no name of a protocol', change: { 'Sec-WebSocket-Protocol': 'a b' }, code: 400 },
    { what: 'it offers two protocols', change: { 'Sec-WebSocket-Protocol': 'a, b' }, code: 400 },
  ]
  for (const { what, change, code } of refusals)
    test(`is refused where ${what}`, async () => {
      const headers = Object.fromEntries(Object.entries({ ...wsHeaders, ...change }).filter(([, value]) => value !== ''))
      const answer = await WebSocketClient.open(server.access, watch, headers)
      assert.equal('statusCode' in answer && answer.statusCode, code)
    })

  test('whose client breaks the protocol ends with a reason', async () => {
    // Nothing is being sent: within an event nothing else could be said.
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await now()}`)
    // A frame without a mask.
    socket.socket.write(Buffer.of(0x81, 1, 65))
    await socket.until(({ isClosed }) => isClosed)
    assert.deepEqual([...(socket.of(opcodes.close)[0]?.payload ?? [])], [3, 234])
  })

  test('whose client reads nothing holds little, and is let go', async () => {
    const socket = await WebSocketClient.connect(server.access, `${watch}&resourceVersion=${await now()}`)
    socket.socket.pause()
    const text = 'y'.repeat(900_000)
    await make('heavy', { text })
    const change = (i: number) =>
      server.client.send({
        path: `${maps}/heavy`,
        method: 'PATCH',
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: { i: String(i) } }),
      })
    for (let i = 0; i < 60; i++) expectStatus(await change(i), 200)
    expectStatus(await server.client.get(`${maps}/heavy`), 200)
    socket.socket.resume()
    // Whatever was sent is whole events, and what was not is told by the end of the connection.
    await socket.until(({ isClosed, frames }) => isClosed || frames.length >= 61)
    for (const { payload } of socket.of(opcodes.text)) JSON.parse(payload.toString())
    socket.close()
  })
})
