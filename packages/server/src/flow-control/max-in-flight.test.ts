// Maximum numbers of requests in flight: waiting, refusals and exemptions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LimitedRequest, MaxInFlight } from './max-in-flight.js'
import { OverloadedError } from './memory-pressure.js'

interface TestRequest extends LimitedRequest {
  disconnect(): void
}

function requestOf(verb: string, ...groups: string[]): TestRequest {
  const callbacks: (() => void)[] = []
  return {
    info: { verb, path: '/api/v1/pods', isResource: true },
    user: { name: 'x', uid: '', groups, extra: {} },
    isLimited: false,
    counted: undefined,
    releaseBody: () => undefined,
    onClose: (call: () => void) => callbacks.push(call),
    disconnect: () => callbacks.forEach((call) => void call()),
  } as unknown as TestRequest
}

const inflightOf = (limits: Partial<ConstructorParameters<typeof MaxInFlight>[0]> = {}): MaxInFlight =>
  new MaxInFlight({ maxReadOnly: 2, maxMutating: 1, pressure: { isFullFor: () => false }, ...limits })

test('a request beyond the limit waits until another ends', async () => {
  const inflight = inflightOf()
  const first = requestOf('create')
  assert.equal(await inflight.filter(first), false)
  assert.equal(await inflight.filter(requestOf('list')), false, 'read-only requests have their own limit')
  const second = requestOf('create')
  const waiting = inflight.filter(second)
  assert.deepEqual([inflight.mutating, inflight.waiting], [1, 1])
  inflight.leave(first)
  assert.deepEqual([inflight.mutating, inflight.waiting], [1, 0], 'the seat is given to the waiting request at once')
  assert.equal(await waiting, false)
  inflight.leave(second)
  inflight.leave(second)
  assert.equal(inflight.mutating, 0)
})

test('waiting requests are served in order of arrival', async () => {
  const inflight = inflightOf()
  const requests = [requestOf('create'), requestOf('create'), requestOf('create')]
  const order: number[] = []
  const served = requests.map((request, i) => Promise.resolve(inflight.filter(request)).then(() => order.push(i)))
  for (const request of requests) {
    await new Promise(setImmediate)
    inflight.leave(request)
  }
  await Promise.all(served)
  assert.deepEqual(order, [0, 1, 2])
})

test('a request is refused if too many wait, or if it waited too long', async () => {
  const inflight = inflightOf({ maxWaiting: 1, maxWaitMs: 20 })
  inflight.filter(requestOf('create'))
  const waiting = inflight.filter(requestOf('create'))
  await assert.rejects(inflight.filter(requestOf('create')), OverloadedError)
  const alive = setTimeout(() => undefined, 1000)
  await assert.rejects(Promise.resolve(waiting), OverloadedError)
  clearTimeout(alive)
  assert.deepEqual([inflight.mutating, inflight.waiting], [1, 0])
})

test('a disconnected client stops waiting', async () => {
  const inflight = inflightOf()
  inflight.filter(requestOf('create'))
  const second = requestOf('create')
  const waiting = Promise.resolve(inflight.filter(second))
  second.disconnect()
  await assert.rejects(waiting)
  assert.equal(inflight.waiting, 0)
})

test('system:masters neither waits nor counts towards the limit of others', async () => {
  const inflight = inflightOf()
  const many = Array.from({ length: 1000 }, () => requestOf('create', 'system:masters'))
  for (const request of many) assert.equal(await inflight.filter(request), false)
  assert.equal(inflight.mutating, 1000)
  assert.equal(await inflight.filter(requestOf('create')), false)
  for (const request of many) inflight.leave(request)
  assert.equal(inflight.mutating, 1)
})

test('requests are refused when the memory limit is reached, also of system:masters', async () => {
  const inflight = inflightOf({ pressure: { isFullFor: () => true } })
  await assert.rejects(inflight.filter(requestOf('get', 'system:masters')), OverloadedError)
})
