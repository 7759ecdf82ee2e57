// SIGSTOP and SIGCONT: watches, connections and pending requests continue, and no client is closed because of the gap.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, makeConfigMap, sleep } from '../../../../test/kit/fixtures.js'
import { Http2Client } from '../../../../test/kit/network/http2-client.js'
import { RawSocket } from '../../../../test/kit/network/raw-socket.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'

/** Longer than the server's idle timeout and the interval of its slow-client check. */
const standstillMs = 4000
let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ flags: ['--event-ttl=1h'] })
})
after(() => server.stop())

test('SIGSTOP and SIGCONT', async () => {
  const http2 = new Http2Client(server.access)
  assert.equal((await http2.send('GET', '/readyz')).status, 200)
  const watch = await server.client.watch(`${configMaps('default')}?watch=1&resourceVersion=`)
  await makeConfigMap(server.client, 'default', configMapOf('before'))
  const halfSent = await RawSocket.open(server.access)
  const body = JSON.stringify(configMapOf('half-sent'))
  const lines = `Host: x\r\nAuthorization: Bearer ${server.access.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  halfSent.write(`POST ${configMaps('default')} HTTP/1.1\r\n${lines}\r\n\r\n${body.slice(0, 10)}`)
  const silent = new Http2Client(server.access)
  await new Promise((resolve) => silent.session.once('connect', resolve))

  server.signal('SIGSTOP')
  halfSent.write(body.slice(10))
  const waiting = [
    server.client.post(configMaps('default'), configMapOf('meanwhile')),
    http2.send('GET', '/readyz'),
    silent.send('GET', '/readyz'),
  ]
  await sleep(standstillMs)
  server.signal('SIGCONT')

  assert.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [201, 200, 200],
  )
  await halfSent.until((text) => text.includes('"uid"'), 60_000)
  assert.deepEqual(halfSent.statuses, [201])
  expectStatus(await server.client.post(configMaps('default'), configMapOf('after')), 201)
  const events = await watch.atLeast(4)
  assert.deepEqual(events.map(({ object }) => object.metadata.name).toSorted(), ['after', 'before', 'half-sent', 'meanwhile'])
  for (const stop of [watch, halfSent, http2, silent]) stop.close()
})
