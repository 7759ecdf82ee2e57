// Jumps of the wall clock, forwards and back: timeouts and expiry are neither early nor lost.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, makeConfigMap, sleep, untilStatus } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'

/** Loaded into the server: SIGUSR2 moves its clock one day forward, the next one two days back. */
const movableClock = `const now = Date.now; let shift = 0, jump = 864e5
process.on('SIGUSR2', () => { shift += jump; jump *= -2 })
Date.now = () => now() + shift`

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({
    flags: ['--event-ttl=3s'],
    nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(movableClock)}`],
  })
})
after(() => server.stop())

const events = '/api/v1/namespaces/default/events'
const eventOf = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'x' },
  reason: 'Test',
  type: 'Normal',
})
const createdMs = async (name: string): Promise<number> =>
  Date.parse((await makeConfigMap(server.client, 'default', configMapOf(name))).metadata.creationTimestamp ?? '')

/** Total duration of all requests, from the metrics. */
async function secondsOfRequests(): Promise<number> {
  const { text } = await server.client.get('/metrics')
  return [...text.matchAll(/^apiserver_request_duration_seconds_sum\S* (\S+)$/gm)].reduce((sum, [, seconds]) => sum + Number(seconds), 0)
}

test('the clock jumps one day forward, then two days back', async () => {
  const first = await createdMs('first')
  const { metadata } = expectStatus(await server.client.get(configMaps('default')), 200).json
  const watch = await server.client.watch(`${configMaps('default')}?watch=1&resourceVersion=${metadata.resourceVersion}`)

  server.signalAll('SIGUSR2')
  await sleep(100)
  expectStatus(await server.client.post(events, eventOf('forwards')), 201)
  assert.ok((await createdMs('second')) - first > 80_000_000, 'objects are stamped with the time of day')
  server.signalAll('SIGUSR2')
  await sleep(100)
  expectStatus(await server.client.post(events, eventOf('backwards')), 201)
  assert.ok((await createdMs('third')) - first < -80_000_000)

  for (const name of ['forwards', 'backwards']) expectStatus(await server.client.get(`${events}/${name}`), 200)
  for (const name of ['forwards', 'backwards']) await untilStatus(() => server.client.get(`${events}/${name}`), 404)
  const resumed = await server.client.watch(`${configMaps('default')}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  for (const stream of [watch, resumed]) {
    const seen = await stream.atLeast(2)
    assert.deepEqual(
      seen.map(({ object }) => object.metadata.name),
      ['second', 'third'],
    )
    stream.close()
  }
  const seconds = await secondsOfRequests()
  assert.ok(seconds > 0 && seconds < 60, String(seconds))
})
