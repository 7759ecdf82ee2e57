// Kept connections: how many there are, who waits for one, and what becomes of them when either side leaves.

import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { until } from '../base/until.fixture.js'
import { type ConnectionLimits, KeptConnections } from './kept-connections.js'
import { type Question, StaleConnectionError, type Wording } from './question.js'

const ok = (body: string, more = ''): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`

const wording: Wording = { http1: ({ body }) => body, http2: () => ({}) }

interface Stand {
  readonly kept: KeptConnections
  /** In the order in which they came. */
  readonly sockets: Socket[]
  ask(text: string, more?: Partial<Question>): Promise<string>
}

async function standOf(
  t: TestContext,
  answer: (socket: Socket, text: string) => void,
  limits: Partial<ConnectionLimits> = {},
): Promise<Stand> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => answer(socket, bytes.toString()))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const kept = new KeptConnections({ most: 4, mostFree: 4, freeMs: 60_000, ...limits }, wording, () => ({
    socket: connect(port, '127.0.0.1'),
    readyOn: 'connect',
  }))
  t.after(() => {
    kept.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    kept,
    sockets,
    ask: (text, more = {}) =>
      kept
        .ask({
          request: { path: '', authorization: undefined, body: text },
          timeoutMs: 60_000,
          allowedMs: 60_000,
          mostBytes: 1000,
          ...more,
        })
        .then(({ body }) => body.toString()),
  }
}

test('questions one after the other share a connection, those at a time have one each, and others wait', async (t) => {
  const held: (() => void)[] = []
  const { sockets, ask } = await standOf(
    t,
    (socket, text) => (text.startsWith('hold') ? held.push(() => socket.write(ok(text))) : socket.write(ok(text))),
    { most: 2 },
  )
  for (const text of ['a', 'b', 'c']) assert.equal(await ask(text), text)
  assert.equal(sockets.length, 1)
  const answers = ['hold1', 'hold2', 'third', 'fourth'].map((text) => ask(text))
  await until(() => held.length === 2)
  assert.equal(sockets.length, 2)
  for (const release of held) release()
  assert.deepEqual(await Promise.all(answers), ['hold1', 'hold2', 'third', 'fourth'])
  assert.equal(sockets.length, 2)
})

test('who must have a new connection gets one, also after having waited', async (t) => {
  const held: (() => void)[] = []
  const answer = (socket: Socket, text: string): unknown =>
    text === 'hold' ? held.push(() => socket.write(ok(text))) : socket.write(ok(text))
  const { sockets, ask } = await standOf(t, answer, { most: 1 })
  const first = ask('hold')
  await until(() => held.length === 1)
  const fresh = ask('fresh', { isFresh: true })
  for (const release of held) release()
  assert.deepEqual(await Promise.all([first, fresh]), ['hold', 'fresh'])
  assert.equal(sockets.length, 2)
})

test('who gives up while waiting takes no turn, and who gives up amid a question ends its connection', async (t) => {
  const heard: string[] = []
  const answer = (socket: Socket, text: string): void => {
    heard.push(text)
    if (text !== 'silent') socket.write(ok(text))
  }
  const { sockets, ask } = await standOf(t, answer, { most: 1 })
  let leave: (reason: unknown) => void = () => undefined
  const onAbort: Question['onAbort'] = (listener) => {
    leave = listener
    return () => undefined
  }
  const silent = ask('silent', { onAbort })
  const amid = leave
  const waiting = ask('waiting', { onAbort })
  const behind = ask('behind')
  leave(new Error('gone while waiting'))
  await assert.rejects(waiting, /gone while waiting/)
  await until(() => heard.includes('silent'))
  amid(new Error('gone amid'))
  await assert.rejects(silent, /gone amid/)
  assert.equal(await behind, 'behind')
  await until(() => sockets[0]?.destroyed === true)
  assert.deepEqual([sockets.length, heard], [2, ['silent', 'behind']])
})

test('who has gone before asks nothing', async (t) => {
  const { sockets, ask } = await standOf(t, (socket, text) => socket.write(ok(text)))
  const onAbort: Question['onAbort'] = (listener) => {
    listener(new Error('long gone'))
    return () => undefined
  }
  await assert.rejects(ask('x', { onAbort }), /long gone/)
  assert.equal(sockets.length, 0)
})

test('a question has its time, also while it waits', async (t) => {
  const { ask } = await standOf(t, () => undefined, { most: 1 })
  const answers = await Promise.allSettled([ask('a', { timeoutMs: 30, allowedMs: 77 }), ask('b', { timeoutMs: 30, allowedMs: 77 })])
  for (const answer of answers) assert.match(String((answer as PromiseRejectedResult).reason), /no answer within 77 ms/)
})

test('a kept connection that was closed is told from one that never answered', async (t) => {
  const { sockets, ask } = await standOf(t, (socket, text) => (text === 'leave' ? socket.destroy() : socket.write(ok(text))))
  await assert.rejects(ask('leave'), { code: 'ECONNRESET' })
  assert.equal(await ask('a'), 'a')
  await assert.rejects(ask('leave'), (thrown) => thrown instanceof StaleConnectionError)
  // One that is closed while nobody asks is not used.
  assert.equal(await ask('b'), 'b')
  const count = sockets.length
  sockets.at(-1)?.end()
  await until(() => sockets.at(-1)?.destroyed === true)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await ask('c').catch(() => ask('c')), 'c')
  assert.equal(sockets.length, count + 1)
})

test('a connection is not used again where the other side closes it, speaks out of turn, or answers too early', async (t) => {
  const { sockets, ask } = await standOf(t, (socket, text) => {
    if (text.startsWith('close')) socket.write(ok('x', 'connection: close\r\n'))
    else if (text.startsWith('brief')) socket.write(ok('x', 'keep-alive: timeout=1\r\n'))
    else if (text.startsWith('twice')) socket.write(`${ok('x')}${ok('y')}`)
    else if (text.startsWith('early')) socket.pause().write(ok('x'))
    else socket.write(ok('x'))
  })
  for (const text of ['close', 'brief', 'twice', `early${'x'.repeat(64 << 20)}`, 'usual']) assert.equal(await ask(text), 'x')
  assert.equal(sockets.length, 5)
  await ask('usual')
  assert.equal(sockets.length, 5)
})

test('no more connections are kept than may be, and none for longer', async (t) => {
  const { sockets, ask } = await standOf(t, (socket, text) => socket.write(ok(text)), { mostFree: 1, freeMs: 1 })
  await Promise.all(['a', 'b', 'c'].map((text) => ask(text)))
  await until(() => sockets.filter(({ destroyed }) => !destroyed).length <= 1)
  await new Promise((resolve) => setTimeout(resolve, 10))
  await ask('d')
  assert.equal(sockets.length, 4)
})

test('who waits when it is closed is told', async (t) => {
  const { kept, ask } = await standOf(t, () => undefined, { most: 1 })
  const answers = [ask('a'), ask('b')]
  kept.close()
  for (const answer of answers) await assert.rejects(answer, { code: 'ECONNRESET' })
})

test('after the end whoever waits hears of it, nothing is asked again, and nothing is opened', async (t) => {
  let asks = 0
  const { kept, sockets, ask } = await standOf(
    t,
    (socket, text) => {
      asks++
      if (text === 'first') socket.write(ok('answer'))
    },
    { most: 2 },
  )
  // One connection that was used before, on which a question could be taken for lost; one that is new; and others who wait for their turn.
  assert.equal(await ask('first'), 'answer')
  const waiting = ['a', 'b', 'c', 'd'].map((text) => ask(text))
  await until(() => asks === 3)
  kept.close()
  for (const each of waiting) {
    await assert.rejects(each, (why) => !(why instanceof StaleConnectionError) && (why as NodeJS.ErrnoException).code === 'ECONNRESET')
  }
  await assert.rejects(ask('later'), { code: 'ECONNRESET' })
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual([sockets.length, asks], [2, 3])
})

test('a crowd opens its connections in turns', async (t) => {
  const stand = await standOf(t, (socket, text) => socket.write(ok(text)), { most: 40, mostFree: 40 })
  const answers = Array.from({ length: 40 }, (_, i) => stand.ask(`q${i}`))
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(stand.sockets.length <= 8, `${stand.sockets.length} connections`)
  assert.deepEqual(
    await Promise.all(answers),
    answers.map((_, i) => `q${i}`),
  )
})

test('who waits and gives up at the same time as others is not given a connection in between', async (t) => {
  const stand = await standOf(t, () => undefined, { most: 4 })
  const asked = Array.from({ length: 200 }, () => stand.ask('x', { timeoutMs: 100, allowedMs: 100 }))
  for (const outcome of await Promise.allSettled(asked)) assert.equal(outcome.status, 'rejected')
  await new Promise((resolve) => setTimeout(resolve, 50))
  // It was one for each of them.
  assert.ok(stand.sockets.length <= 40, `${stand.sockets.length} connections`)
})
